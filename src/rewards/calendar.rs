//! The days of a player's calendar: those of a time zone, by the rules built into this program, so
//! that all nodes of one version agree whatever their machines know.

use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use thiserror::Error;

use crate::clock::{self, Timestamp};

/// The calendar of a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar(TimeZone);

/// The time zone is unknown, or newer than this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("unknown time zone: use an IANA name such as Asia/Manila")]
pub struct ParseTimeZoneError;

impl Calendar {
    pub const fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Returns the current day.
    pub(super) fn day(&self, now: Timestamp) -> Date {
        clock::to_jiff(now).to_zoned(self.0.clone()).date()
    }

    /// Returns the first instant of a day, which is not midnight if a change of the clocks skips
    /// it.
    pub(super) fn start_of(&self, day: Date) -> Timestamp {
        let start = day.to_zoned(self.0.clone());
        // Only the last day of the year 9999 can fail.
        let end = || clock::from_jiff(jiff::Timestamp::MAX);
        start.map_or_else(|_| end(), |start| clock::from_jiff(start.timestamp()))
    }
}

impl FromStr for Calendar {
    type Err = ParseTimeZoneError;

    fn from_str(text: &str) -> Result<Self, ParseTimeZoneError> {
        TimeZone::get(text).map(Self).map_err(|_| ParseTimeZoneError)
    }
}

/// Returns the following day; the last day is its own successor.
pub(super) fn next_day(day: Date) -> Date {
    day.tomorrow().unwrap_or(Date::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Calendar, ParseTimeZoneError, next_day};
    use crate::clock::Timestamp;
    use jiff::civil::date;

    fn instant(text: &str) -> Timestamp {
        crate::clock::from_jiff(text.parse().unwrap())
    }

    /// The machine that runs the test may have no time zone database.
    #[test]
    fn days_begin_at_the_players_midnight() {
        let manila: Calendar = "Asia/Manila".parse().unwrap();
        assert_eq!(manila.day(instant("2026-03-01T15:59:59Z")), date(2026, 3, 1));
        assert_eq!(manila.day(instant("2026-03-01T16:00:00Z")), date(2026, 3, 2));
        assert_eq!(manila.start_of(date(2026, 3, 2)), instant("2026-03-01T16:00:00Z"));
        assert_eq!(Calendar::utc().day(instant("2026-03-01T16:00:00Z")), date(2026, 3, 1));
    }

    #[test]
    fn days_are_as_long_as_the_clocks_make_them() {
        // Midnight is skipped on this day.
        let cairo: Calendar = "Africa/Cairo".parse().unwrap();
        assert_eq!(cairo.start_of(date(2026, 4, 24)), instant("2026-04-23T22:00:00Z"));
        assert_eq!(cairo.day(instant("2026-04-23T21:59:59Z")), date(2026, 4, 23));
        // This day was skipped entirely.
        let apia: Calendar = "Pacific/Apia".parse().unwrap();
        assert_eq!(next_day(apia.day(instant("2011-12-30T09:59:59Z"))), date(2011, 12, 30));
        assert_eq!(apia.day(instant("2011-12-30T10:00:00Z")), date(2011, 12, 31));
    }

    #[test]
    fn an_unknown_time_zone_is_rejected() {
        for text in ["", "Asia/Atlantis", "+08:00", "../../etc/passwd"] {
            assert_eq!(text.parse::<Calendar>(), Err(ParseTimeZoneError), "{text}");
        }
        assert_eq!("UTC".parse::<Calendar>(), Ok(Calendar::utc()));
    }
}
