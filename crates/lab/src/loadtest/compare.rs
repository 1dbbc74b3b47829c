//! The comparison of two runs: the compared figures, and those that got worse.

use std::fmt;

use super::counters::Figure;
use super::report::Report;

impl Report {
    /// Returns the compared figures by name, each with the direction in which it improves.
    fn figures(&self) -> Vec<(&'static str, u64, Better)> {
        let Some(step) = self.result_step() else {
            return Vec::new();
        };
        let us = |figure, permille| step.counted.permille_us(figure, permille);
        let a_connection = self.idle_costs().map_or(0, |idle| idle.connection_rss_bytes());
        vec![
            ("tables", step.tables.into(), Better::More),
            ("moves a second", step.moves_per_second(), Better::More),
            ("p50 to every seat, us", us(Figure::ActionToEvent, 500), Better::Less),
            ("p99 to every seat, us", us(Figure::ActionToEvent, 990), Better::Less),
            ("p99 of resuming, us", us(Figure::Resume, 990), Better::Less),
            ("p99 of settling, us", us(Figure::Settlement, 990), Better::Less),
            ("server cpu a move, us/10", step.cpu_per_move_tenths_us(), Better::Less),
            ("bytes a move", step.bytes_per_move(), Better::Less),
            ("memory a connection, bytes", a_connection, Better::Less),
            ("memory a table, bytes", step.rss_per_table(self.empty_rss_bytes), Better::Less),
        ]
    }

    /// Compares every figure with that of another run. A figure is worse if it differs by more than
    /// `worse_percent`.
    pub(super) fn compare_with(&self, old: &Self, worse_percent: u32) -> Comparison {
        let pairs = old.figures().into_iter().zip(self.figures());
        // A figure that one of the runs did not measure is not compared.
        let pairs = pairs.filter(|((_, old, _), (_, new, _))| *old > 0 && *new > 0);
        let lines: Vec<_> = pairs
            .map(|((name, old, _), (_, new, better))| FigureChange { name, old, new, better })
            .collect();
        let worse = lines.iter().filter(|line| line.is_worse(worse_percent));
        let worse = worse.map(ToString::to_string).collect();
        Comparison { lines, worse }
    }
}

/// The direction in which a figure improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    Less,
    More,
}

/// One figure of two runs.
#[derive(Clone, Debug)]
pub(super) struct FigureChange {
    name: &'static str,
    old: u64,
    new: u64,
    better: Better,
}

impl FigureChange {
    fn is_worse(&self, percent: u32) -> bool {
        let percent = u64::from(percent);
        match self.better {
            Better::Less => self.new * 100 > self.old * (100 + percent),
            Better::More => self.new * (100 + percent) < self.old * 100,
        }
    }
}

impl fmt::Display for FigureChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = self.new * 100 / self.old.max(1);
        let whole = hundredths / 100;
        let part = hundredths % 100;
        write!(f, "{}: {} after {}, ×{whole}.{part:02}", self.name, self.new, self.old)
    }
}

/// The comparison of two runs.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    lines: Vec<FigureChange>,
    /// The figures that got worse by more than the tolerance, as lines of text.
    pub(super) worse: Vec<String>,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compared with before:")?;
        self.lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}
