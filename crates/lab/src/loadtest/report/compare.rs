//! The comparison of two runs: the compared figures, and those that got worse.

use std::fmt;

use super::Report;
use super::format::hundredths;
use crate::loadtest::counters::Figure;

impl Report {
    /// Returns the compared figures by name, each with the direction in which it improves.
    fn figures(&self) -> Vec<(&'static str, u64, Better)> {
        let Some(step) = self.result_step() else {
            return Vec::new();
        };
        let us = |figure, permille| step.counted.permille_us(figure, permille);
        let a_connection = self.idle_costs().map_or(0, |idle| idle.connections.each_rss_bytes);
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
    pub(in crate::loadtest) fn compare_with(&self, old: &Self, worse_percent: u32) -> Comparison {
        let tolerated = 100 + u64::from(worse_percent);
        let mut comparison = Comparison::default();
        for ((name, old, better), (_, new, _)) in old.figures().into_iter().zip(self.figures()) {
            // A figure that one of the runs did not measure is not compared.
            if old == 0 || new == 0 {
                continue;
            }
            let times = hundredths(new * 100 / old);
            let line = format!("{name}: {new} after {old}, ×{times}");
            let is_worse = match better {
                Better::Less => new * 100 > old * tolerated,
                Better::More => new * tolerated < old * 100,
            };
            if is_worse {
                comparison.worse.push(line.clone());
            }
            comparison.lines.push(line);
        }
        comparison
    }
}

/// The direction in which a figure improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    Less,
    More,
}

/// The comparison of two runs, as lines of text.
#[derive(Clone, Debug, Default)]
pub(in crate::loadtest) struct Comparison {
    lines: Vec<String>,
    /// The figures that got worse by more than the tolerance.
    pub(in crate::loadtest) worse: Vec<String>,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compared with before:")?;
        self.lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}
