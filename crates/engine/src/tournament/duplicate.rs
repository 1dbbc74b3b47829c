//! The comparison of tables that have played the same deals (rule 5.3).

use alloc::vec;
use alloc::vec::Vec;

use crate::coins::Coins;

/// The score of a player who has beaten every other table at a deal, in ten-thousandths.
pub const SCORE_MAX: i64 = 10_000;

/// The score of a deal without a comparison.
pub const SCORE_EVEN: i64 = SCORE_MAX / 2;

/// Scores one deal. `tables` has the points by seat of each table that has played the deal; the
/// result has the same form.
///
/// A player gets two for every other table at which the player of the same seat had fewer points,
/// and one for equal points, as a share of the possible number, in ten-thousandths rounded down.
/// Without another table the score is [`SCORE_EVEN`].
pub fn score_deal(tables: &[&[Coins]]) -> Vec<Vec<i64>> {
    let seats = tables.iter().map(|points| points.len()).max().unwrap_or(0);
    let mut scores: Vec<Vec<i64>> =
        tables.iter().map(|points| vec![SCORE_EVEN; points.len()]).collect();
    for seat in 0..seats {
        let points = |table: &usize| tables[*table].get(seat).copied();
        let mut order: Vec<usize> =
            (0..tables.len()).filter(|table| points(table).is_some()).collect();
        let others = order.len().saturating_sub(1);
        if others == 0 {
            continue;
        }
        order.sort_by_key(&points);
        let mut below = 0;
        for equal in order.chunk_by(|a, b| points(a) == points(b)) {
            let count = 2 * below + equal.len() - 1;
            let score = count as u128 * SCORE_MAX.unsigned_abs() as u128 / (2 * others) as u128;
            let score = i64::try_from(score).unwrap_or(SCORE_MAX);
            for table in equal {
                scores[*table][seat] = score;
            }
            below += equal.len();
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::score_deal;
    use crate::coins::Coins;

    /// Rule 5.3.
    #[test]
    fn a_seat_is_compared_with_the_same_seat_of_other_tables() {
        let coins = Coins::from_hundredths;
        let tables =
            [[300, -100, -200], [-50, 100, -50], [300, -200, -100]].map(|row| row.map(coins));
        let rows: [&[Coins]; 3] = [&tables[0], &tables[1], &tables[2]];
        let scores = score_deal(&rows);
        assert_eq!(scores[0], [7_500, 5_000, 0]);
        assert_eq!(scores[1], [0, 10_000, 10_000]);
        assert_eq!(scores[2], [7_500, 0, 5_000]);
        assert_eq!(score_deal(&rows[..1])[0], [5_000; 3]);
        assert!(score_deal(&[]).is_empty());
    }
}
