//! Bounded times and days. Every request, form and cursor that names a time or day passes it
//! through this module, so that no unbounded time reaches PostgreSQL or a calendar.
//!
//! PostgreSQL rejects times before 4713 BC, RFC 3339 has years of four digits, and the last and
//! first days of a calendar have no next or previous day. [`YEARS`] stays clear of all three.

use std::ops::RangeInclusive;
use std::str::FromStr;

use jiff::civil::Date;
use serde::{Serialize, Serializer};
use thiserror::Error;

use super::{Timestamp, from_jiff, to_jiff};

/// The years (UTC) of accepted times and days.
pub const YEARS: RangeInclusive<i16> = 1970..=9998;

/// An instant within [`YEARS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoundedTimestamp(Timestamp);

/// A day within [`YEARS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoundedDate(Date);

/// The error of a text that is no instant, or one out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a time is as in 2026-03-01T12:00:00Z, in the years 1970 to 9998")]
pub struct TimestampError;

/// The error of a text that is no day, or one out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a day is as in 2026-03-01, in the years 1970 to 9998")]
pub struct DateError;

impl BoundedTimestamp {
    /// Midnight of 1970-01-01, UTC.
    pub const MIN: Self = Self(Timestamp::from_ms(0));
    /// The last millisecond of the year 9998, UTC.
    pub const MAX: Self = Self(Timestamp::from_ms(253_370_764_799_999));

    /// Returns the instant if it is within the bounds.
    pub fn new(at: Timestamp) -> Result<Self, TimestampError> {
        let at = Self(at);
        if (Self::MIN..=Self::MAX).contains(&at) { Ok(at) } else { Err(TimestampError) }
    }
}

impl From<BoundedTimestamp> for Timestamp {
    fn from(at: BoundedTimestamp) -> Self {
        at.0
    }
}

/// Parses RFC 3339.
impl FromStr for BoundedTimestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let at: jiff::Timestamp = text.parse().map_err(|_| TimestampError)?;
        Self::new(from_jiff(at))
    }
}

impl Serialize for BoundedTimestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&to_jiff(self.0))
    }
}

impl BoundedDate {
    /// Returns the day if it is within the bounds.
    pub fn new(day: Date) -> Result<Self, DateError> {
        if YEARS.contains(&day.year()) { Ok(Self(day)) } else { Err(DateError) }
    }
}

impl From<BoundedDate> for Date {
    fn from(day: BoundedDate) -> Self {
        day.0
    }
}

impl FromStr for BoundedDate {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        Self::new(text.parse().map_err(|_| DateError)?)
    }
}

crate::deserialize_by_parsing!(BoundedTimestamp, BoundedDate);

#[cfg(test)]
mod tests {
    use super::{BoundedDate, BoundedTimestamp, DateError, Timestamp, TimestampError};

    #[test]
    fn times_are_bounded_on_both_sides() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-03-01T20:00:00+08:00", 1_772_366_400_000),
            ("9998-12-31T23:59:59.999Z", 253_370_764_799_999),
        ] {
            let at: BoundedTimestamp = text.parse().unwrap();
            assert_eq!(Timestamp::from(at).ms(), ms, "{text}");
        }
        assert_eq!(Timestamp::from(BoundedTimestamp::MAX).ms(), 253_370_764_799_999);
        for text in [
            "",
            "noon",
            "2026-03-01",
            "1969-12-31T23:59:59.999Z",
            "1970-01-01T00:00:00+00:01",
            "9999-01-01T00:00:00Z",
            "9999-12-30T21:59:59Z",
            "9999-12-31T23:59:59Z",
            "0000-01-01T00:00:00Z",
            "-004713-01-01T00:00:00Z",
            "-009999-01-02T01:59:59Z",
            "+010000-01-01T00:00:00Z",
        ] {
            assert_eq!(text.parse::<BoundedTimestamp>(), Err(TimestampError), "{text}");
        }
        for ms in [i64::MIN, -1, 253_370_764_800_000, i64::MAX] {
            assert_eq!(BoundedTimestamp::new(Timestamp::from_ms(ms)), Err(TimestampError), "{ms}");
        }
    }

    #[test]
    fn days_are_bounded_on_both_sides() {
        for text in ["1970-01-01", "2026-03-01", "9998-12-31"] {
            assert!(text.parse::<BoundedDate>().is_ok(), "{text}");
        }
        for text in [
            "",
            "2026-02-30",
            "1969-12-31",
            "9999-01-01",
            "-004714-01-01",
            "-009999-01-01",
            "0000-01-01",
        ] {
            assert_eq!(text.parse::<BoundedDate>(), Err(DateError), "{text}");
        }
    }
}
