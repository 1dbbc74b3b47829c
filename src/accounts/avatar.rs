//! Pictures that a player may be shown by. The house knows their names; the pictures themselves are
//! the clients'.

use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

/// The names of all pictures. Names are added and never taken away, since players have them.
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

/// The name of a picture of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Avatar(&'static str);

/// The catalogue has no such picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("there is no such avatar; GET /v1/avatars lists them")]
pub struct ParseAvatarError;

impl Avatar {
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// What every player begins with, as the column has it.
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

impl<'de> Deserialize<'de> for Avatar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{AVATARS, Avatar, ParseAvatarError};

    #[test]
    fn the_catalogue_names_each_picture_once() {
        for (place, name) in AVATARS.iter().enumerate() {
            assert_eq!(name.parse::<Avatar>().unwrap().as_str(), *name);
            assert!(!AVATARS[..place].contains(name), "{name}");
        }
        assert_eq!(Avatar::default().as_str(), "carabao");
        assert_eq!("Carabao".parse::<Avatar>(), Err(ParseAvatarError));
    }
}
