//! A mean with its 95 % confidence interval, in integer arithmetic. Only sums are kept, so that
//! merging samples gives the same result in any order.

use alloc::format;
use alloc::string::String;

/// The two-sided 95 % quantile of the normal distribution, in hundredths of a standard error.
const HUNDREDTHS_OF_ERRORS: i128 = 196;

/// A sample of independent integer observations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    count: i128,
    sum: i128,
    squares: i128,
}

/// A mean and the half-width of its confidence interval, both in the requested unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub mean: i64,
    pub half_width: i64,
}

impl Sample {
    pub fn record(&mut self, observed: i64) {
        let observed = i128::from(observed);
        self.count += 1;
        self.sum += observed;
        self.squares += observed * observed;
    }

    pub const fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    pub const fn sum(&self) -> i128 {
        self.sum
    }

    /// Returns the mean divided by `divisor`, in units of 1 / `parts`. The mean is rounded to the
    /// nearest unit, the half-width up.
    ///
    /// Returns `None` for fewer than two observations or a divisor of zero.
    pub fn estimate(&self, parts: u32, divisor: u32) -> Option<Estimate> {
        if self.count < 2 || divisor == 0 {
            return None;
        }
        let parts = i128::from(parts);
        let divisor = i128::from(divisor);
        let whole = self.count * divisor;
        let mean = (2 * self.sum * parts + whole).div_euclid(2 * whole);
        // The variance of the mean is (n Σx² − (Σx)²) / (n² (n − 1)).
        let spread = self.count * self.squares - self.sum * self.sum;
        let scale = HUNDREDTHS_OF_ERRORS * parts;
        let below = self.count * self.count * (self.count - 1) * divisor * divisor;
        let hundredths = (spread * scale * scale / below).isqrt();
        let half_width = (hundredths + 99) / 100;
        let mean = i64::try_from(mean).ok()?;
        let half_width = i64::try_from(half_width).ok()?;
        Some(Estimate { mean, half_width })
    }
}

/// Formats a number of hundredths with two decimals.
pub fn format_hundredths(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let number = number.unsigned_abs();
    format!("{sign}{}.{:02}", number / 100, number % 100)
}

#[cfg(test)]
mod tests {
    use super::{Estimate, Sample};

    fn sample(observed: &[i64]) -> Sample {
        let mut sample = Sample::default();
        observed.iter().for_each(|one| sample.record(*one));
        sample
    }

    /// 2, 4, 4, 4, 5, 5, 7, 9: the mean is 5, the variance 32 / 7, the standard error 0.75593, and
    /// 1.96 of it 1.48162.
    #[test]
    fn a_small_sample_has_the_expected_interval() {
        let known = sample(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(known.estimate(10_000, 1), Some(Estimate { mean: 50_000, half_width: 14_817 }));
        assert_eq!(known.estimate(10_000, 2), Some(Estimate { mean: 25_000, half_width: 7_409 }));
        assert_eq!(known.estimate(1, 1), Some(Estimate { mean: 5, half_width: 2 }));
    }

    /// A proportion of 0.3 in 1,000 has a standard error of √(0.3 × 0.7 / 999), and 1.96 of it is
    /// 0.028417.
    #[test]
    fn a_proportion_has_the_textbook_interval() {
        let mut share = Sample::default();
        (0..1_000).for_each(|number| share.record(i64::from(number % 10 < 3)));
        assert_eq!(share.estimate(10_000, 1), Some(Estimate { mean: 3_000, half_width: 285 }));
    }

    #[test]
    fn merging_samples_is_commutative() {
        let mut one = sample(&[1, -2, 3]);
        let mut other = sample(&[40, 5]);
        let first = one;
        let second = other;
        one.merge(&second);
        other.merge(&first);
        assert_eq!(one, other);
        assert_eq!(one, sample(&[1, -2, 3, 40, 5]));
        assert_eq!(sample(&[-7, -7]).estimate(1, 1), Some(Estimate { mean: -7, half_width: 0 }));
        assert_eq!(sample(&[7]).estimate(1, 1), None);
    }

    /// Samples of ten million deals of a hundred thousand hundredths each do not overflow.
    #[test]
    fn large_samples_do_not_overflow() {
        let mut large = Sample { count: 10_000_000, sum: 0, squares: 0 };
        large.squares = large.count * 100_000 * 100_000;
        let estimate = large.estimate(100, 8).map(|estimate| estimate.mean);
        assert_eq!(estimate, Some(0));
    }
}
