//! Amounts of coins: hundredths of a coin in an `i64`, with checked arithmetic.
//!
//! Coins never pass through floating-point numbers. Arithmetic that could overflow returns `None`,
//! because an amount that does not fit is a bug or an attack, never a balance.

use core::fmt;
use core::iter::Sum;

use serde::{Deserialize, Serialize};

/// An amount in hundredths of a coin, serialized as that integer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coins(i64);

/// The number of hundredths in a coin.
const HUNDREDTHS: i64 = 100;

/// The number of basis points in a whole.
const BASIS_POINTS: i64 = 10_000;

impl Coins {
    pub const ZERO: Self = Self(0);

    pub const fn from_hundredths(hundredths: i64) -> Self {
        Self(hundredths)
    }

    /// Creates an amount from whole coins; `None` on overflow.
    pub const fn from_whole(coins: i64) -> Option<Self> {
        match coins.checked_mul(HUNDREDTHS) {
            Some(hundredths) => Some(Self(hundredths)),
            None => None,
        }
    }

    pub const fn hundredths(self) -> i64 {
        self.0
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    pub fn checked_mul(self, factor: u32) -> Option<Self> {
        self.0.checked_mul(i64::from(factor)).map(Self)
    }

    /// Divides the amount into `parts` equal parts; `None` if a part is not a whole number of
    /// hundredths.
    pub fn checked_part(self, parts: u32) -> Option<Self> {
        let parts = i64::from(parts);
        (self.0.checked_rem(parts)? == 0).then(|| Self(self.0 / parts))
    }

    /// Returns the share of `basis_points` ten-thousandths, rounded down to a hundredth (rule 6.8).
    /// Amounts are expected not to be negative.
    pub fn share_rounded_down(self, basis_points: u32) -> Option<Self> {
        let product = i128::from(self.0) * i128::from(basis_points);
        i64::try_from(product.div_euclid(i128::from(BASIS_POINTS))).ok().map(Self)
    }

    /// Returns the sum; `None` on overflow.
    pub fn checked_sum(amounts: impl IntoIterator<Item = Self>) -> Option<Self> {
        amounts.into_iter().try_fold(Self::ZERO, Self::checked_add)
    }
}

/// Sums amounts that are known to fit, as in tests and reports.
///
/// # Panics
/// If the sum does not fit an `i64`.
impl Sum for Coins {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        Self::checked_sum(amounts).expect("a sum of amounts that fits 64 bits")
    }
}

/// Formats the amount in coins with two decimals: `-3.00`, `11.70`.
impl fmt::Display for Coins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 {
            "-"
        } else if f.sign_plus() {
            "+"
        } else {
            ""
        };
        let size = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02}", size / 100, size % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::Coins;
    use alloc::format;

    #[test]
    fn five_percent_is_exact_and_rounds_down() {
        let gross = Coins::from_whole(6).unwrap();
        assert_eq!(gross.share_rounded_down(500), Some(Coins::from_hundredths(30)));
        assert_eq!(
            Coins::from_hundredths(19).share_rounded_down(500),
            Some(Coins::from_hundredths(0))
        );
        let most = Coins::from_hundredths(i64::MAX);
        assert_eq!(most.share_rounded_down(10_000), Some(most));
    }

    #[test]
    fn prints_with_two_decimals_and_on_request_a_sign() {
        assert_eq!(format!("{}", Coins::from_hundredths(-305)), "-3.05");
        assert_eq!(format!("{:+}", Coins::from_hundredths(1170)), "+11.70");
        assert_eq!(format!("{}", Coins::from_hundredths(i64::MIN)), "-92233720368547758.08");
    }

    #[test]
    fn overflow_is_none() {
        let most = Coins::from_hundredths(i64::MAX);
        assert_eq!(most.checked_add(Coins::from_hundredths(1)), None);
        assert_eq!(most.checked_mul(2), None);
        assert_eq!(Coins::from_whole(i64::MAX), None);
    }

    #[test]
    fn a_part_is_a_whole_number_of_hundredths_or_none() {
        let amount = Coins::from_hundredths(150);
        assert_eq!(amount.checked_part(2), Some(Coins::from_hundredths(75)));
        assert_eq!(amount.checked_part(1), Some(amount));
        assert_eq!(amount.checked_part(4), None);
        assert_eq!(amount.checked_part(0), None);
    }
}
