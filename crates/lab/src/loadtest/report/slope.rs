//! Growth of a figure per hour: the least-squares line through its seconds, with a 95 % confidence
//! interval.
//!
//! Neighbouring seconds are correlated, so they are averaged in at most [`BLOCKS_MAX`] blocks, and
//! the line is fitted to the means. Changes slower than the length of a block (such as a pool that
//! grows in steps) are part of the slope.

#![expect(clippy::float_arithmetic, reason = "a deviation is a square root, and no coin")]

use std::fmt;

use super::{SecondSample, Step};

/// The most blocks of a fit.
const BLOCKS_MAX: usize = 60;

/// The fewest blocks of a fit.
const BLOCKS_MIN: usize = 5;

const MS_OF_AN_HOUR: f64 = 3_600_000.0;

/// The quantiles of Student's t for 95 %, by degrees of freedom (blocks minus two). The last one is
/// used for all larger numbers, which is slightly too wide.
const DEVIATIONS: [f64; 10] = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];

/// The growth of a figure per hour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::loadtest) struct Slope {
    per_hour: f64,
    /// The half-width of the confidence interval.
    error: f64,
}

impl Slope {
    /// Returns true if the slope is not significantly different from zero.
    fn is_lost_in_noise(self) -> bool {
        self.per_hour.abs() <= self.error
    }

    /// Converts to a larger unit, which is `unit` of the present one.
    pub(in crate::loadtest) fn in_units_of(self, unit: u32) -> Self {
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
    /// Fits the growth of a value over the seconds; `None` if there are too few blocks.
    pub(in crate::loadtest) fn slope(&self, value: impl Fn(&SecondSample) -> u64) -> Option<Slope> {
        let blocks = self.seconds.chunks(self.seconds.len().div_ceil(BLOCKS_MAX).max(1));
        let mean = |block: &[SecondSample], of: &dyn Fn(&SecondSample) -> u64| {
            block.iter().map(|second| of(second) as f64).sum::<f64>() / block.len() as f64
        };
        let points: Vec<_> = blocks
            .map(|block| (mean(block, &|second| second.at_ms), mean(block, &value)))
            .collect();
        fit_line(&points)
    }
}

/// Fits a line by least squares to points of milliseconds and values.
fn fit_line(points: &[(f64, f64)]) -> Option<Slope> {
    if points.len() < BLOCKS_MIN {
        return None;
    }
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let x = mean(&|point| point.0);
    let y = mean(&|point| point.1);
    let spread = |of: &dyn Fn(f64, f64) -> f64| {
        points.iter().map(|point| of(point.0 - x, point.1 - y)).sum::<f64>()
    };
    let xx = spread(&|x, _| x * x);
    let xy = spread(&|x, y| x * y);
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
    use crate::loadtest::players::player_rng::PlayerRng;
    use crate::loadtest::report::{SecondSample, Step};

    /// An hour of seconds with this many bytes at each.
    fn hour(bytes: impl FnMut(u64) -> u64) -> Step {
        let values = (0..3_600).zip((0..3_600).map(bytes));
        let seconds = values.map(|(at, server_rss_bytes)| SecondSample {
            at_ms: at * 1_000,
            server_rss_bytes,
            ..SecondSample::default()
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

    /// The interval is to hold in 95 of 100 cases; fewer than 170 of 200 seeds would be very
    /// unlikely by chance.
    #[test]
    fn the_true_slope_is_within_the_error_nearly_always() {
        for growth in [0, 50] {
            let holds = (0..200).filter(|seed| {
                let mut rng = PlayerRng::new(*seed, 0);
                let noisy = hour(|at| 1_000_000 + at * growth + rng.draw_below(400_000));
                let slope = noisy.slope(|second| second.server_rss_bytes).unwrap();
                (slope.per_hour - (growth * 3_600) as f64).abs() <= slope.error
            });
            let holds = holds.count();
            assert!((170..200).contains(&holds), "growth {growth}: {holds} of 200 seeds");
        }
    }

    #[test]
    fn growth_is_distinguished_from_noise() {
        let mut rng = PlayerRng::new(7, 0);
        let noisy = hour(|at| 1_000_000 + at * 200 + rng.draw_below(100_000));
        let slope = noisy.slope(|second| second.server_rss_bytes).unwrap();
        assert!(!slope.is_lost_in_noise(), "{slope}");
        let mut rng = PlayerRng::new(7, 0);
        let only_noise = hour(|_| 1_000_000 + rng.draw_below(100_000));
        let slope = only_noise.slope(|second| second.server_rss_bytes).unwrap();
        assert!(slope.error > 0.0 && slope.error < 30_000.0, "{slope}");
    }

    #[test]
    fn a_few_seconds_have_no_slope() {
        let mut step = hour(|at| at);
        step.seconds.truncate(4);
        assert_eq!(step.slope(|second| second.server_rss_bytes), None);
    }
}
