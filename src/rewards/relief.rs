//! The number of reliefs per day, and the day that a relief counts for.

use jiff::civil::Date;

use super::store::RewardsRow;

/// Returns the day that a relief counts for: today, or the day of the last relief if a change of
/// the time zone has put it into the future.
pub(super) fn relief_day(row: &RewardsRow, today: Date) -> Date {
    row.relief_date.map_or(today, |last| last.max(today))
}

/// Returns the number of reliefs granted on a day returned by [`relief_day`].
pub(super) fn given_on(row: &RewardsRow, day: Date) -> u8 {
    if row.relief_date == Some(day) { row.relief_count } else { 0 }
}

/// Returns the number of reliefs left.
pub(super) fn remaining(row: &RewardsRow, today: Date, per_day: u8) -> u8 {
    per_day.saturating_sub(given_on(row, relief_day(row, today)))
}

#[cfg(test)]
mod tests {
    use super::{RewardsRow, relief_day, remaining};
    use jiff::civil::date;

    #[test]
    fn reliefs_of_a_day_are_bounded_across_time_zones() {
        let [monday, tuesday, wednesday] = [2, 3, 4].map(|day| date(2026, 3, day));
        assert_eq!(remaining(&RewardsRow::default(), monday, 3), 3);
        let row =
            RewardsRow { relief_date: Some(tuesday), relief_count: 2, ..RewardsRow::default() };
        assert_eq!(remaining(&row, tuesday, 3), 1);
        assert_eq!((relief_day(&row, monday), remaining(&row, monday, 3)), (tuesday, 1));
        assert_eq!(remaining(&row, wednesday, 3), 3);
        assert_eq!(remaining(&row, tuesday, 1), 0);
    }
}
