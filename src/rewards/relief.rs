//! How often relief was given on a day, and on which day it counts.

use jiff::civil::Date;

use super::store::Had;

/// The day that a relief counts for: today, or the day of the last one when the player has moved
/// to where that is still to come.
pub(super) fn day(had: &Had, today: Date) -> Date {
    had.relief_date.map_or(today, |last| last.max(today))
}

/// How many were given on a day that [`day`] has named.
pub(super) fn count(had: &Had, day: Date) -> u8 {
    if had.relief_date == Some(day) { had.relief_count } else { 0 }
}

/// How many are left.
pub(super) fn left(had: &Had, today: Date, per_day: u8) -> u8 {
    per_day.saturating_sub(count(had, day(had, today)))
}

#[cfg(test)]
mod tests {
    use super::{Had, day, left};
    use jiff::civil::date;

    #[test]
    fn a_day_gives_what_it_has_wherever_the_player_goes() {
        let [monday, tuesday, wednesday] = [2, 3, 4].map(|day| date(2026, 3, day));
        assert_eq!(left(&Had::default(), monday, 3), 3);
        let had = Had { relief_date: Some(tuesday), relief_count: 2, ..Had::default() };
        assert_eq!(left(&had, tuesday, 3), 1);
        assert_eq!((day(&had, monday), left(&had, monday, 3)), (tuesday, 1));
        assert_eq!(left(&had, wednesday, 3), 3);
        assert_eq!(left(&had, tuesday, 1), 0);
    }
}
