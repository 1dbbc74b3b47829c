//! How a figure changes by the hour.

use super::report::{Second, Step};

impl Step {
    /// How a value of the seconds grows by the hour, as a straight line fits best.
    pub(super) fn slope_per_hour(&self, value: impl Fn(&Second) -> u64) -> i128 {
        let points: Vec<(i128, i128)> = self
            .seconds
            .iter()
            .map(|second| (i128::from(second.at_ms), i128::from(value(second))))
            .collect();
        let number = points.len() as i128;
        let sum = |of: &dyn Fn(&(i128, i128)) -> i128| points.iter().map(of).sum::<i128>();
        let (x, y) = (sum(&|point| point.0), sum(&|point| point.1));
        let (xx, xy) = (sum(&|point| point.0 * point.0), sum(&|point| point.0 * point.1));
        let below = number * xx - x * x;
        if below == 0 { 0 } else { (number * xy - x * y) * 3_600_000 / below }
    }
}

#[cfg(test)]
mod tests {
    use crate::loadtest::report::{Second, Step};

    #[test]
    fn a_slope_is_that_of_a_straight_line() {
        let seconds = (0..10).map(|at| Second {
            at_ms: at * 1_000,
            server_rss_bytes: at * 7,
            ..Second::default()
        });
        let step = Step { seconds: seconds.collect(), ..Step::default() };
        assert_eq!(step.slope_per_hour(|second| second.server_rss_bytes), 7 * 3_600);
        assert_eq!(step.slope_per_hour(|_| 5), 0);
    }
}
