//! The days, weeks and seasons of the leaderboards. All are of one configured time zone, by the
//! rules built into this program, so that all nodes of one version agree.
//!
//! A week begins on Monday. A season has a whole number of months, counted from January; three make
//! the quarters of the calendar.

use std::fmt;
use std::str::FromStr;

pub use bahay_api::player::leaderboards::Span;
use jiff::ToSpan as _;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use thiserror::Error;

use crate::clock::{self, Timestamp};
use crate::zone::{ParseZoneError, Zone};

/// The time zone of days and the length of a season.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    pub zone: Zone,
    pub season: Season,
}

/// A number of months that divides a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Season {
    months: i8,
}

/// The number of months does not divide a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a season has 1, 2, 3, 4, 6 or 12 months")]
pub struct ParseSeasonError;

impl Default for Calendar {
    /// Returns the days of Manila, and quarters.
    fn default() -> Self {
        let zone = "Asia/Manila".parse().unwrap_or_else(|ParseZoneError| Zone::utc());
        Self { zone, season: Season::QUARTER }
    }
}

impl Calendar {
    /// Returns the time zone.
    pub fn time_zone(&self) -> &TimeZone {
        self.zone.time_zone()
    }

    /// Returns the first day of the span that contains this instant.
    pub fn start(&self, span: Span, at: Timestamp) -> Date {
        self.start_of_day(span, clock::to_jiff(at).to_zoned(self.time_zone().clone()).date())
    }

    /// Returns the beginning of the span that contains this instant.
    pub fn start_instant(&self, span: Span, at: Timestamp) -> jiff::Timestamp {
        let began = self.start(span, at).to_zoned(self.time_zone().clone());
        began.map_or(jiff::Timestamp::UNIX_EPOCH, |began| began.timestamp())
    }

    /// Returns the first day of the span that contains this day.
    pub fn start_of_day(&self, span: Span, day: Date) -> Date {
        match span {
            Span::Day => day,
            Span::Week => {
                let since_monday = i64::from(day.weekday().to_monday_zero_offset());
                // Only the first days of the calendar's first year have no Monday before them.
                day.checked_sub(since_monday.days()).unwrap_or(Date::MIN)
            }
            Span::Season => {
                let months = self.season.months;
                // Rounded down, because the first season of a year begins in January.
                let first = (day.month() - 1) / months * months + 1;
                Date::new(day.year(), first, 1).unwrap_or(day)
            }
            Span::Ever => date(1970, 1, 1),
        }
    }
}

/// The value of the column `calendar`. A different text means that standings must be recomputed.
impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.zone.name(), self.season.months)
    }
}

impl Season {
    pub const QUARTER: Self = Self { months: 3 };
}

impl FromStr for Season {
    type Err = ParseSeasonError;

    fn from_str(text: &str) -> Result<Self, ParseSeasonError> {
        let months = text.parse().map_err(|_| ParseSeasonError)?;
        match months {
            1 | 2 | 3 | 4 | 6 | 12 => Ok(Self { months }),
            _ => Err(ParseSeasonError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Calendar, ParseSeasonError, ParseZoneError, Season, Span, Zone};
    use crate::clock;
    use jiff::civil::date;

    #[test]
    fn spans_begin_where_the_zone_says() {
        let calendar = Calendar::default();
        let at = clock::from_jiff("2026-02-28T16:30:00Z".parse().unwrap());
        assert_eq!(calendar.start(Span::Day, at), date(2026, 3, 1));
        // This day is a Sunday.
        assert_eq!(calendar.start(Span::Week, at), date(2026, 2, 23));
        assert_eq!(calendar.start(Span::Season, at), date(2026, 1, 1));
        assert_eq!(calendar.start(Span::Ever, at), date(1970, 1, 1));
        assert_eq!(calendar.start_of_day(Span::Season, date(2026, 12, 31)), date(2026, 10, 1));
        assert_eq!(calendar.to_string(), "Asia/Manila 3");
    }

    #[test]
    fn settings_are_checked() {
        assert_eq!("Asia/Atlantis".parse::<Zone>(), Err(ParseZoneError));
        for text in ["", "0", "5", "-3", "quarter"] {
            assert_eq!(text.parse::<Season>(), Err(ParseSeasonError), "{text}");
        }
        assert_eq!("3".parse::<Season>(), Ok(Season::QUARTER));
        let year = Calendar { season: "12".parse().unwrap(), ..Calendar::default() };
        assert_eq!(year.start_of_day(Span::Season, date(2026, 12, 31)), date(2026, 1, 1));
    }
}
