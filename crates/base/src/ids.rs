//! The ids of players, tables, games, sessions, rooms and lines.
//!
//! Every id except those of rooms and lines is a UUID of version 7, created by
//! [`crate::entropy::uuid`]: `PlayerId(entropy::uuid())`. They sort by age, which keeps new rows
//! adjacent in PostgreSQL and lists in order. They are not secrets: knowing an id grants nothing.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Serialize, Serializer};
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

/// The value of `room` for tables of tournaments. No room has this id.
pub const TOURNAMENT_ROOM: &str = "tournament";

/// The longest room id, in bytes.
pub const ROOM_ID_BYTES_MAX: usize = 32;

/// Defines names, which are shown and serialized as their text.
macro_rules! names {
    ($($(#[$meta:meta])* $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        crate::deserialize_by_parsing!($name);
    )+};
}

names! {
    /// The id of a room in paths, settings and account keys: a lower-case letter, then letters,
    /// digits and hyphens, at most 32. Operators choose it, so that `newbie` is legible everywhere.
    RoomId;
    /// The name of a game or of a part of one: a rule set, an ending, a counter. It is a lower-case
    /// letter, then letters, digits and underscores, at most 32, as in `tongits`.
    GameName;
}

/// The error of a text that is no room id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a room id is a lower-case letter and then up to 31 letters, digits and hyphens")]
pub struct ParseRoomIdError;

impl FromStr for RoomId {
    type Err = ParseRoomIdError;

    fn from_str(text: &str) -> Result<Self, ParseRoomIdError> {
        let is_id = text.len() <= ROOM_ID_BYTES_MAX && is_name(text, b'-');
        if is_id { Ok(Self(text.into())) } else { Err(ParseRoomIdError) }
    }
}

/// The error of a text that is no such name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a name here is a lower-case letter and then letters, digits and underscores, 32 at most")]
pub struct ParseGameNameError;

impl FromStr for GameName {
    type Err = ParseGameNameError;

    fn from_str(text: &str) -> Result<Self, ParseGameNameError> {
        let is_game_name = text.len() <= 32 && is_name(text, b'_');
        if is_game_name { Ok(Self(text.into())) } else { Err(ParseGameNameError) }
    }
}

/// Returns true for a lower-case letter, followed by lower-case letters, digits and separators.
fn is_name(text: &str, separator: u8) -> bool {
    let is_part =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == separator;
    text.as_bytes().first().is_some_and(u8::is_ascii_lowercase) && text.bytes().all(is_part)
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
