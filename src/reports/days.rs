//! Periods of whole days of the house's zone.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan as _};

use super::booked::Interval;
use crate::clock::{self, Timestamp};

/// The first and last day of a period; the last day is part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodDays {
    pub first: Date,
    pub last: Date,
}

impl PeriodDays {
    /// Returns the day that contains an instant, or one `days_before` days earlier.
    pub(super) fn of_day(at: Timestamp, zone: &TimeZone, days_before: i64) -> Self {
        let day = add_days(day_of(at, zone), -days_before);
        Self { first: day, last: day }
    }

    /// Returns the time from the first midnight to the one after the last day.
    pub(super) fn interval(self, zone: &TimeZone) -> Interval {
        let midnight = |day: Date| {
            // Only the first and last days of the calendar have none.
            let begins = day.to_zoned(zone.clone());
            begins.map_or(Timestamp::from_ms(0), |begins| clock::from_jiff(begins.timestamp()))
        };
        Interval { from: midnight(self.first), to: midnight(add_days(self.last, 1)) }
    }

    /// Returns the first days of the period, at most a number of them.
    #[must_use]
    pub fn keep_first(self, count: i64) -> Self {
        Self { last: self.last.min(add_days(self.first, count - 1)), ..self }
    }

    /// Returns the number of days.
    pub fn count(self) -> i64 {
        let between = self.last.duration_since(self.first);
        between.as_secs() / SignedDuration::from_hours(24).as_secs() + 1
    }
}

/// Returns the day that contains an instant.
pub(super) fn day_of(at: Timestamp, zone: &TimeZone) -> Date {
    clock::to_jiff(at).to_zoned(zone.clone()).date()
}

/// Returns the day a number of days later, or the same day beyond the calendar.
pub(super) fn add_days(day: Date, days: i64) -> Date {
    day.checked_add(days.days()).unwrap_or(day)
}

#[cfg(test)]
mod tests {
    use super::PeriodDays;
    use crate::clock::Timestamp;
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    #[test]
    fn the_first_days_of_a_period_are_kept() {
        let days = PeriodDays { first: date(2026, 2, 27), last: date(2026, 3, 2) };
        assert_eq!(days.count(), 4);
        let kept = days.keep_first(2);
        assert_eq!((kept.first, kept.last, kept.count()), (days.first, date(2026, 2, 28), 2));
        assert_eq!(days.keep_first(9), days);
        // A period that ends before it begins is empty.
        let empty = PeriodDays { first: days.last, last: days.first };
        assert_eq!(empty.keep_first(9), empty);
    }

    #[test]
    fn an_interval_ends_with_the_last_day() {
        let days = PeriodDays { first: date(2026, 3, 1), last: date(2026, 3, 2) };
        let interval = days.interval(&TimeZone::UTC);
        assert_eq!(interval.from, Timestamp::from_ms(1_772_323_200_000));
        assert_eq!(interval.to.ms() - interval.from.ms(), 2 * 86_400_000);
    }
}
