//! Time zones by their IANA names, by the rules built into the program.

use std::str::FromStr;

use jiff::tz::TimeZone;
use thiserror::Error;

/// A time zone with its IANA name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

/// The time zone is unknown, or newer than this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("unknown time zone: use an IANA name such as Asia/Manila")]
pub struct ParseZoneError;

impl Zone {
    /// Returns the zone UTC.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    /// Returns the IANA name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn time_zone(&self) -> &TimeZone {
        &self.zone
    }
}

impl FromStr for Zone {
    type Err = ParseZoneError;

    fn from_str(text: &str) -> Result<Self, ParseZoneError> {
        let zone = TimeZone::get(text).map_err(|_| ParseZoneError)?;
        Ok(Self { name: text.to_owned(), zone })
    }
}
