//! The arithmetic of prizes: shares by largest remainder, and ties (rules 6.4 and 6.5).

use alloc::vec;
use alloc::vec::Vec;

use crate::coins::Coins;

/// Divides an amount by weights into whole hundredths, which sum to the amount. Each part is first
/// rounded down; the hundredths that are left go to the parts with the largest remainders, of equal
/// ones to the earlier. Returns zeros if no weight is above zero.
pub(super) fn split_by_weights(amount: Coins, weights: &[u64]) -> Vec<Coins> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if sum == 0 {
        return vec![Coins::ZERO; weights.len()];
    }
    let whole = u128::try_from(amount.hundredths()).unwrap_or(0);
    let products = weights.iter().map(|weight| whole * u128::from(*weight));
    let (mut parts, remainders): (Vec<u128>, Vec<u128>) =
        products.map(|product| (product / sum, product % sum)).unzip();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|place| core::cmp::Reverse(remainders[*place]));
    let given: u128 = parts.iter().sum();
    let left = usize::try_from(whole - given).unwrap_or(0);
    for place in order.into_iter().take(left) {
        parts[place] += 1;
    }
    let coins = |part| Coins::from_hundredths(i64::try_from(part).unwrap_or(i64::MAX));
    parts.into_iter().map(coins).collect()
}

/// Divides an amount into equal parts that differ by at most a hundredth, the greater ones first.
pub(super) fn split_equally(amount: Coins, parts: usize) -> Vec<Coins> {
    split_by_weights(amount, &vec![1; parts])
}

/// Returns the prizes of ranked players. `sizes` are the numbers of players of equal rank, from the
/// best; each group shares the prizes of its places equally.
pub(super) fn share_ties(prizes: &[Coins], sizes: &[usize]) -> Vec<Coins> {
    let mut shared = Vec::new();
    for size in sizes {
        let places = shared.len()..shared.len() + size;
        let sum = places.map(|place| prizes.get(place).copied().unwrap_or_default()).sum();
        shared.extend(split_equally(sum, *size));
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::{share_ties, split_by_weights, split_equally};
    use crate::coins::Coins;
    use alloc::vec::Vec;

    fn hundredths(coins: &[Coins]) -> Vec<i64> {
        coins.iter().map(|coins| coins.hundredths()).collect()
    }

    /// Rule 6.4.
    #[test]
    fn the_largest_remainders_get_the_last_hundredths() {
        let split = |amount, weights: &[u64]| {
            hundredths(&split_by_weights(Coins::from_hundredths(amount), weights))
        };
        assert_eq!(split(100, &[1, 1, 1]), [34, 33, 33]);
        assert_eq!(split(10_001, &[50, 30, 20]), [5_001, 3_000, 2_000]);
        assert_eq!(split(101, &[10, 20, 30]), [17, 34, 50]);
        assert_eq!(split(5, &[0, 0]), [0, 0]);
        assert_eq!(split(i64::MAX, &[1_000_000, 1]).iter().sum::<i64>(), i64::MAX);
    }

    /// Rule 6.5.
    #[test]
    fn tied_players_share_the_prizes_of_their_places() {
        let prizes = [500, 300, 200].map(Coins::from_hundredths);
        assert_eq!(hundredths(&share_ties(&prizes, &[1, 2, 1])), [500, 250, 250, 0]);
        assert_eq!(hundredths(&share_ties(&prizes, &[4])), [250; 4]);
        assert_eq!(hundredths(&share_ties(&prizes, &[2, 1, 1])), [400, 400, 200, 0]);
        assert_eq!(hundredths(&split_equally(Coins::from_hundredths(5), 2)), [3, 2]);
    }
}
