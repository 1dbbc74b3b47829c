//! How often relief was given on a day, and on which day it counts.

use jiff::civil::Date;

use super::store::RewardsRow;

/// The day that a relief counts for: today, or the day of the last one when the player has moved
/// to where that is still to come.
pub(super) fn relief_day(row: &RewardsRow, today: Date) -> Date {
    row.relief_date.map_or(today, |last| last.max(today))
}

/// How many were given on a day that [`day`] has named.
pub(super) fn given_on(row: &RewardsRow, day: Date) -> u8 {
    if row.relief_date == Some(day) { row.relief_count } else { 0 }
}

/// How many are left.
pub(super) fn remaining(row: &RewardsRow, today: Date, per_day: u8) -> u8 {
    per_day.saturating_sub(given_on(row, relief_day(row, today)))
}

#[cfg(test)]
mod tests {
    use super::{RewardsRow, relief_day, remaining};
    use jiff::civil::date;

    #[test]
    fn a_day_gives_what_it_has_wherever_the_player_goes() {
        let [monday, tuesday, wednesday] = [2, 3, 4].map(|day| date(2026, 3, day));
        assert_eq!(remaining(&RewardsRow::default(), monday, 3), 3);
        let row = RewardsRow { relief_date: Some(tuesday), relief_count: 2, ..RewardsRow::default() };
        assert_eq!(remaining(&row, tuesday, 3), 1);
        assert_eq!((relief_day(&row, monday), remaining(&row, monday, 3)), (tuesday, 1));
        assert_eq!(remaining(&row, wednesday, 3), 3);
        assert_eq!(remaining(&row, tuesday, 1), 0);
    }
}
