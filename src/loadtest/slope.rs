//! How a figure changes by the hour: the straight line that fits its seconds best, and how far the
//! true one may be from it, 95 times of 100.
//!
//! Neighbouring seconds are much alike, so that each of them says less than a value of its own would;
//! they are taken together in at most [`BLOCKS_MAX`] blocks, whose means the line is drawn through.
//! What changes more slowly than a block is long (a pool that grows in steps) is in the slope.

#![expect(clippy::float_arithmetic, reason = "a deviation is a square root, and no coin")]

use std::fmt;

use super::report::{Second, Step};

/// Means that a line is drawn through.
const BLOCKS_MAX: usize = 60;

/// With fewer there is no telling.
const BLOCKS_MIN: usize = 5;

const MS_OF_AN_HOUR: f64 = 3_600_000.0;

/// How many deviations hold 95 of 100 values, by the blocks beyond two (Student's t). From the last
/// on it is taken to be the same, which is a little too much.
const DEVIATIONS: [f64; 10] = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];

/// By how much something grows in an hour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slope {
    per_hour: f64,
    /// By how much that may be wrong.
    error: f64,
}

impl Slope {
    /// Whether it may as well be none.
    fn is_lost_in_noise(self) -> bool {
        self.per_hour.abs() <= self.error
    }

    /// The same in a unit of which so many make one.
    pub(super) fn in_units_of(self, unit: u32) -> Self {
        let unit = f64::from(unit);
        Self { per_hour: self.per_hour / unit, error: self.error / unit }
    }
}

impl fmt::Display for Slope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+.0} ± {:.0}", self.per_hour, self.error)?;
        f.write_str(if self.is_lost_in_noise() { " (may be none)" } else { "" })
    }
}

impl Step {
    /// How a value of the seconds grows by the hour; `None` when there are too few.
    pub(super) fn slope(&self, value: impl Fn(&Second) -> u64) -> Option<Slope> {
        let blocks = self.seconds.chunks(self.seconds.len().div_ceil(BLOCKS_MAX).max(1));
        let mean = |block: &[Second], of: &dyn Fn(&Second) -> u64| {
            block.iter().map(|second| of(second) as f64).sum::<f64>() / block.len() as f64
        };
        let points: Vec<_> = blocks
            .map(|block| (mean(block, &|second| second.at_ms), mean(block, &value)))
            .collect();
        line(&points)
    }
}

/// By least squares, through points of milliseconds and values.
fn line(points: &[(f64, f64)]) -> Option<Slope> {
    if points.len() < BLOCKS_MIN {
        return None;
    }
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let spread = |of: &dyn Fn(f64, f64) -> f64| {
        points.iter().map(|point| of(point.0 - x, point.1 - y)).sum::<f64>()
    };
    let (xx, xy) = (spread(&|x, _| x * x), spread(&|x, y| x * y));
    if xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let left = spread(&|x, y| (y - slope * x).powi(2));
    let free = points.len() - 2;
    let deviation = (left / free as f64 / xx).sqrt();
    let deviations = DEVIATIONS[free.min(DEVIATIONS.len()) - 1];
    Some(Slope { per_hour: slope * MS_OF_AN_HOUR, error: deviation * deviations * MS_OF_AN_HOUR })
}

#[cfg(test)]
mod tests {
    use crate::loadtest::dice::Dice;
    use crate::loadtest::report::{Second, Step};

    /// An hour of seconds with this many bytes at each.
    fn hour(bytes: impl FnMut(u64) -> u64) -> Step {
        let seconds = (0..3_600).zip((0..3_600).map(bytes)).map(|(at, server_rss_bytes)| Second {
            at_ms: at * 1_000,
            server_rss_bytes,
            ..Second::default()
        });
        Step { seconds: seconds.collect(), ..Step::default() }
    }

    #[test]
    fn a_straight_line_has_its_slope_and_no_error() {
        let slope = hour(|at| 1_000_000 + at * 7).slope(|second| second.server_rss_bytes);
        assert_eq!(slope.unwrap().to_string(), "+25200 ± 0");
        let falls = hour(|at| 1_000_000 - at * 7).slope(|second| second.server_rss_bytes);
        assert_eq!(falls.unwrap().to_string(), "-25200 ± 0");
        let flat = hour(|_| 5).slope(|second| second.server_rss_bytes);
        assert_eq!(flat.unwrap().to_string(), "+0 ± 0 (may be none)");
        let in_kib = hour(|at| at * 1_024).slope(|second| second.server_rss_bytes).unwrap();
        assert_eq!(in_kib.in_units_of(1_024).to_string(), "+3600 ± 0");
    }

    /// The bound is to hold 95 times of 100; of 200 seeds 170 are far below what chance does.
    #[test]
    fn the_true_slope_is_within_the_error_nearly_always() {
        for growth in [0, 50] {
            let holds = (0..200).filter(|seed| {
                let mut dice = Dice::new(*seed, 0);
                let noisy = hour(|at| 1_000_000 + at * growth + dice.below(400_000));
                let slope = noisy.slope(|second| second.server_rss_bytes).unwrap();
                (slope.per_hour - (growth * 3_600) as f64).abs() <= slope.error
            });
            let holds = holds.count();
            assert!((170..200).contains(&holds), "growth {growth}: {holds} of 200 seeds");
        }
    }

    #[test]
    fn growth_is_told_from_noise() {
        let mut dice = Dice::new(7, 0);
        let noisy = hour(|at| 1_000_000 + at * 200 + dice.below(100_000));
        let slope = noisy.slope(|second| second.server_rss_bytes).unwrap();
        assert!(!slope.is_lost_in_noise(), "{slope}");
        let mut dice = Dice::new(7, 0);
        let only_noise = hour(|_| 1_000_000 + dice.below(100_000));
        let slope = only_noise.slope(|second| second.server_rss_bytes).unwrap();
        assert!(slope.error > 0.0 && slope.error < 30_000.0, "{slope}");
    }

    #[test]
    fn a_few_seconds_say_nothing() {
        let mut step = hour(|at| at);
        step.seconds.truncate(4);
        assert_eq!(step.slope(|second| second.server_rss_bytes), None);
    }
}
