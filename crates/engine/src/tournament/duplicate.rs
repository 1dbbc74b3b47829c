//! The comparison of the tables of a duplicate, which have played the same deals (rule 5.3).

use alloc::vec;
use alloc::vec::Vec;

use crate::coins::Coins;

/// The score of a player who has beaten every other table at a deal, in ten-thousandths.
const SCORE_MAX: u64 = 10_000;

/// The score of a deal without a comparison.
pub(super) const SCORE_EVEN: u32 = 5_000;

/// Scores one deal. `tables` has the points by seat of each table that has played the deal; the
/// result has the same form.
///
/// A player gets two for every other table at which the player of the same seat had fewer points,
/// and one for equal points, as a share of the possible number, in ten-thousandths rounded down.
/// Without another table the score is [`SCORE_EVEN`].
pub(super) fn score_deal(tables: &[&[Coins]]) -> Vec<Vec<u32>> {
    let seats = tables.iter().map(|points| points.len()).max().unwrap_or(0);
    let mut scores: Vec<Vec<u32>> =
        tables.iter().map(|points| vec![SCORE_EVEN; points.len()]).collect();
    let of_seat =
        |seat| score_seat(tables, seat).into_iter().map(move |(table, score)| (table, seat, score));
    for (table, seat, score) in (0..seats).flat_map(of_seat) {
        scores[table][seat] = score;
    }
    scores
}

/// Returns the score of a player at one deal, in ten-thousandths rounded down: two for each other
/// player of the same seat with fewer points and one for each with equal points, as a share of the
/// possible sum (rules 5.3 and 5.4).
pub fn deal_score(fewer: u32, equal: u32, more: u32) -> u32 {
    let others = u64::from(fewer) + u64::from(equal) + u64::from(more);
    let sum = 2 * u64::from(fewer) + u64::from(equal);
    let share = (sum * SCORE_MAX).checked_div(2 * others);
    share.and_then(|share| u32::try_from(share).ok()).unwrap_or(SCORE_EVEN)
}

/// Returns the tables that have a seat, with the scores of its players.
fn score_seat(tables: &[&[Coins]], seat: usize) -> Vec<(usize, u32)> {
    let points = |table: &usize| tables[*table].get(seat).copied();
    let mut order: Vec<usize> = (0..tables.len()).filter(|table| points(table).is_some()).collect();
    order.sort_by_key(&points);
    let count = |players: usize| u32::try_from(players).unwrap_or(u32::MAX);
    let mut scores = Vec::with_capacity(order.len());
    let mut fewer = 0;
    for equal in order.chunk_by(|a, b| points(a) == points(b)) {
        let more = order.len() - fewer - equal.len();
        let score = deal_score(count(fewer), count(equal.len() - 1), count(more));
        scores.extend(equal.iter().map(|table| (*table, score)));
        fewer += equal.len();
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
