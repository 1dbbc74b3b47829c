//! Two runs side by side: which figures count, and which of them got worse.

use std::fmt;

use super::report::Report;
use super::tally::Figure;

impl Report {
    /// The figures that tell whether one run is better than another; less is better in all of them
    /// but those of which more is.
    fn figures(&self) -> Vec<(&'static str, u64, Better)> {
        let Some(step) = self.answer() else {
            return Vec::new();
        };
        let counted = &step.counted;
        vec![
            ("tables", step.tables.into(), Better::More),
            ("moves a second", step.moves_per_second(), Better::More),
            (
                "p50 to every seat, us",
                counted.permille_us(Figure::ActionToEvent, 500),
                Better::Less,
            ),
            (
                "p99 to every seat, us",
                counted.permille_us(Figure::ActionToEvent, 990),
                Better::Less,
            ),
            ("p99 of resuming, us", counted.permille_us(Figure::Resume, 990), Better::Less),
            ("p99 of settling, us", counted.permille_us(Figure::Settlement, 990), Better::Less),
            ("server cpu a move, us/10", step.cpu_per_move_tenths_us(), Better::Less),
            ("bytes a move", step.bytes_per_move(), Better::Less),
            (
                "memory a connection, bytes",
                self.idle().map_or(0, |idle| idle.connection_rss_bytes()),
                Better::Less,
            ),
            ("memory a table, bytes", step.rss_per_table(self.empty_rss_bytes), Better::Less),
        ]
    }

    /// Holds every figure against that of another run.
    pub(super) fn compared(&self, old: &Self, worse_percent: u32) -> Compared {
        let pairs = old.figures().into_iter().zip(self.figures());
        // What was not measured in one of them says nothing.
        let pairs = pairs.filter(|((_, old, _), (_, new, _))| *old > 0 && *new > 0);
        let lines: Vec<_> = pairs
            .map(|((name, old, _), (_, new, better))| Line { name, old, new, better })
            .collect();
        let worse = lines.iter().filter(|line| line.is_worse(worse_percent));
        let worse = worse.map(ToString::to_string).collect();
        Compared { lines, worse }
    }
}

/// What is wished for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    Less,
    More,
}

/// One figure of two runs.
#[derive(Clone, Debug)]
pub(super) struct Line {
    name: &'static str,
    old: u64,
    new: u64,
    better: Better,
}

impl Line {
    fn is_worse(&self, percent: u32) -> bool {
        let percent = u64::from(percent);
        match self.better {
            Better::Less => self.new * 100 > self.old * (100 + percent),
            Better::More => self.new * (100 + percent) < self.old * 100,
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = self.new * 100 / self.old.max(1);
        let (whole, part) = (hundredths / 100, hundredths % 100);
        write!(f, "{}: {} after {}, ×{whole}.{part:02}", self.name, self.new, self.old)
    }
}

/// Two runs side by side.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    lines: Vec<Line>,
    /// What got worse by more than is allowed.
    pub(super) worse: Vec<String>,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compared with before:")?;
        self.lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}
