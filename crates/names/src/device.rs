//! Device ids and time zones as clients send them.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// The bounds of a device id, in bytes. The lower bound is the length of 122 random bits in a
/// compact form; a shorter id could be guessed.
const DEVICE_ID_BYTES: std::ops::RangeInclusive<usize> = 16..=128;

/// The longest name of a time zone, in bytes. The longest known name has 32.
const TIME_ZONE_BYTES_MAX: usize = 64;

/// The longest name of a time zone that is accepted from a device, in characters.
const DEVICE_TIME_ZONE_LENGTH_MAX: usize = 256;

/// A random name that a client draws for its installation and keeps. It is a credential like a
/// password, so only its hash is stored, and `Debug` omits it.
#[derive(Clone, PartialEq, Eq)]
pub struct DeviceId(String);

/// The error of a text that is no device id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a device id has 16 to 128 visible ASCII characters; draw a random one and keep it")]
pub struct ParseDeviceIdError;

impl DeviceId {
    /// Returns the hash under which the device is stored. A fast hash suffices, since a device id
    /// is random.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }
}

impl FromStr for DeviceId {
    type Err = ParseDeviceIdError;

    fn from_str(text: &str) -> Result<Self, ParseDeviceIdError> {
        let is_sound = DEVICE_ID_BYTES.contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_sound { Ok(Self(text.to_owned())) } else { Err(ParseDeviceIdError) }
    }
}

impl fmt::Debug for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeviceId(…)")
    }
}

/// The IANA name of a time zone, checked for its form only. The set of existing zones changes with
/// the time zone database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZone(String);

/// The error of a text that has not the form of a time zone's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a time zone is written by its IANA name, as in Asia/Manila")]
pub struct ParseTimeZoneError;

impl TimeZone {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the time zone database of this program has the zone. `Etc/Unknown` counts as
    /// unknown.
    pub fn is_known(&self) -> bool {
        jiff::tz::TimeZone::get(&self.0).is_ok_and(|zone| !zone.is_unknown())
    }
}

impl FromStr for TimeZone {
    type Err = ParseTimeZoneError;

    fn from_str(text: &str) -> Result<Self, ParseTimeZoneError> {
        let starts_well = text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-/".contains(&byte);
        if starts_well && text.len() <= TIME_ZONE_BYTES_MAX && text.bytes().all(is_allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseTimeZoneError)
        }
    }
}

/// The time zone of a client's device, if the server knows it. Devices also report names such as
/// `GMT+08:00` and `Etc/Unknown`, and zones that are older or newer than the server's database; all
/// of these are treated as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceTimeZone(pub Option<TimeZone>);

impl<'de> Deserialize<'de> for DeviceTimeZone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let named = Option::<String>::deserialize(deserializer)?;
        if named.as_ref().is_some_and(|name| name.chars().count() > DEVICE_TIME_ZONE_LENGTH_MAX) {
            let reason = "a device's name of a time zone has at most 256 characters";
            return Err(D::Error::custom(reason));
        }
        let zone = named.and_then(|name| name.parse().ok());
        Ok(Self(zone.filter(TimeZone::is_known)))
    }
}

#[cfg(test)]
mod tests {
    use super::{DeviceId, DeviceTimeZone, ParseDeviceIdError, ParseTimeZoneError, TimeZone};

    #[test]
    fn a_device_id_is_long_enough_to_be_a_secret_and_never_printed() {
        let device: DeviceId = "0123456789abcdef".parse().unwrap();
        assert_eq!(format!("{device:?}"), "DeviceId(…)");
        let long = "x".repeat(129);
        for text in ["", "0123456789abcde", "0123456789 abcdef", "0123456789abcdeé", &long] {
            assert_eq!(text.parse::<DeviceId>(), Err(ParseDeviceIdError), "{text}");
        }
    }

    #[test]
    fn an_unknown_zone_of_a_device_is_ignored() {
        let read = |text: &str| serde_json::from_str::<DeviceTimeZone>(text).unwrap().0;
        assert_eq!(read("\"Asia/Manila\""), Some(TimeZone("Asia/Manila".to_owned())));
        for text in ["\"GMT+08:00\"", "\"Etc/Unknown\"", "\"Asia/Atlantis\"", "\"\"", "null"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(serde_json::from_str::<DeviceTimeZone>("8").is_err());
    }

    #[test]
    fn a_time_zone_is_checked_by_its_form() {
        for text in ["UTC", "Asia/Manila", "America/Argentina/Buenos_Aires", "Etc/GMT+8"] {
            let zone: TimeZone = text.parse().unwrap();
            assert_eq!(zone.as_str(), text);
            assert!(zone.is_known(), "{text}");
        }
        assert!(!"Asia/Atlantis".parse::<TimeZone>().unwrap().is_known());
        for text in ["", "+08:00", "Asia/Manila;", "Asia/Mañila", &"A".repeat(65)] {
            assert_eq!(text.parse::<TimeZone>(), Err(ParseTimeZoneError), "{text}");
        }
    }
}
