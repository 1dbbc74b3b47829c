//! The ids of players, tables, games, sessions, rooms and lines.
//!
//! Every id except those of rooms and lines is a UUID of version 7, created by
//! [`crate::entropy::uuid`]: `PlayerId(entropy::uuid())`. They sort by age, which keeps new rows
//! adjacent in PostgreSQL and lists in order. They are not secrets: knowing an id grants nothing.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;
use uuid::Uuid;

pub use bahay_engine::table::{ConnectionId, GameId, PlayerId, TableId};
pub use bahay_shell::Tag;

bahay_engine::uuid_ids! {
    /// The id of a sign-in on one device, shared by its family of refresh tokens.
    SessionId;
    /// The id of an operator.
    OperatorId;
    /// The id of an operator's sign-in in one browser.
    OperatorSessionId;
    /// The id of a correction of the books, which one operator requests and another decides on.
    CorrectionId;
}

impl CorrectionId {
    /// The id of no correction.
    pub const NIL: Self = Self(Uuid::nil());
}

/// The value of `room` for private tables. No room has this id.
pub const PRIVATE_ROOM: &str = "private";

/// The value of `room` for practice tables, which are not stored.
pub const PRACTICE_ROOM: &str = "practice";

/// The id of a room in paths, settings and account keys: a lower-case letter, then letters, digits
/// and hyphens, at most 32. Operators choose it, so that `newbie` is legible everywhere.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomId(Arc<str>);

/// The longest room id, in bytes.
pub const ROOM_ID_BYTES_MAX: usize = 32;

/// The error of a text that is no room id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a room id is a lower-case letter and then up to 31 letters, digits and hyphens")]
pub struct ParseRoomIdError;

impl RoomId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RoomId {
    type Err = ParseRoomIdError;

    fn from_str(text: &str) -> Result<Self, ParseRoomIdError> {
        let is_allowed =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let starts_well = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        if !starts_well || text.len() > ROOM_ID_BYTES_MAX || !text.bytes().all(is_allowed) {
            return Err(ParseRoomIdError);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for RoomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RoomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for RoomId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RoomId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The name of a game or of a part of one: a rule set, an ending, a counter. It is a lower-case
/// letter, then letters, digits and underscores, at most 32, as in `tongits`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameName(Arc<str>);

/// The error of a text that is no such name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name here is a lower-case letter and then letters, digits and underscores, 32 at most")]
pub struct ParseGameNameError;

impl GameName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for GameName {
    type Err = ParseGameNameError;

    fn from_str(text: &str) -> Result<Self, ParseGameNameError> {
        let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let is_name = text.len() <= 32
            && text.starts_with(|letter: char| letter.is_ascii_lowercase())
            && text.bytes().all(is_part);
        if is_name { Ok(Self(text.into())) } else { Err(ParseGameNameError) }
    }
}

impl fmt::Display for GameName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for GameName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for GameName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for GameName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{ParseRoomIdError, RoomId};

    #[test]
    fn a_room_id_is_a_slug() {
        for good in ["newbie", "a", "high-roller-2"] {
            assert_eq!(good.parse::<RoomId>().unwrap().as_str(), good);
        }
        let long = "r".repeat(33);
        for bad in ["", "Newbie", "2nd", "-a", "a_b", "a/b", "añ", long.as_str()] {
            assert_eq!(bad.parse::<RoomId>(), Err(ParseRoomIdError), "{bad}");
        }
    }
}
