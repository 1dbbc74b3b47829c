//! Avatars of players. The server knows their names; clients hold the pictures.

use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;

/// The names of all avatars. Names are only added, since players use them.
pub const AVATARS: [&str; 24] = [
    "carabao",
    "tarsier",
    "eagle",
    "maya",
    "tamaraw",
    "butanding",
    "pawikan",
    "kalaw",
    "jeepney",
    "tricycle",
    "bangka",
    "parol",
    "salakot",
    "sampaguita",
    "narra",
    "niyog",
    "mangga",
    "halo-halo",
    "bayong",
    "banig",
    "kulintang",
    "sarimanok",
    "bituin",
    "araw",
];

/// The name of an avatar in [`AVATARS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Avatar(&'static str);

/// The error of a text that names no avatar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("there is no such avatar; GET /v1/avatars lists them")]
pub struct ParseAvatarError;

impl Avatar {
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// The avatar of a new player, which is also the default of the column.
impl Default for Avatar {
    fn default() -> Self {
        Self(AVATARS[0])
    }
}

impl FromStr for Avatar {
    type Err = ParseAvatarError;

    fn from_str(text: &str) -> Result<Self, ParseAvatarError> {
        AVATARS.into_iter().find(|name| *name == text).map(Self).ok_or(ParseAvatarError)
    }
}

#[cfg(test)]
mod tests {
    use super::{AVATARS, Avatar, ParseAvatarError};

    #[test]
    fn each_avatar_is_listed_once() {
        for (place, name) in AVATARS.iter().enumerate() {
            assert_eq!(name.parse::<Avatar>().unwrap().as_str(), *name);
            assert!(!AVATARS[..place].contains(name), "{name}");
        }
        assert_eq!(Avatar::default().as_str(), "carabao");
        assert_eq!("Carabao".parse::<Avatar>(), Err(ParseAvatarError));
    }
}
