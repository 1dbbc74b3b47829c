//! Names that other players see.

use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

/// How many characters a name has.
const LENGTH: std::ops::RangeInclusive<usize> = 2..=20;

/// The longest text that is looked at. A name of 20 characters has at most 80 bytes; the rest
/// is white space that a client may have left around it.
const BYTES_MAX: usize = 256;

/// A player's name: 2 to 20 characters, with single spaces inside and none around, and at least
/// one letter or digit. Names are not unique: an id tells players apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Name(String);

/// Why a text is not a name. Ordered by precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotAName {
    #[error("a name holds no control characters and nothing invisible")]
    Invisible,
    #[error("a name has 2 to 20 characters")]
    Length,
    #[error("a name has at least one letter or digit")]
    Unreadable,
}

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        if text.len() > BYTES_MAX {
            return Err(NotAName::Length);
        }
        if text.chars().any(is_invisible) {
            return Err(NotAName::Invisible);
        }
        let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !LENGTH.contains(&name.chars().count()) {
            return Err(NotAName::Length);
        }
        if !name.chars().any(char::is_alphanumeric) {
            return Err(NotAName::Unreadable);
        }
        Ok(Self(name))
    }
}

/// What would change the look of the text around it, or hide a difference between two names:
/// controls, format characters (direction marks, joiners, tags), fillers and private use.
fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{70f}' | '\u{115f}' | '\u{1160}' | '\u{180e}'
            | '\u{17b4}' | '\u{17b5}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffd}' | '\u{e000}'..='\u{f8ff}'
            | '\u{e0000}'..='\u{10ffff}')
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, NotAName};

    #[test]
    fn white_space_is_made_plain() {
        for (given, kept) in [
            ("Maria", "Maria"),
            ("  Mang \u{3000} Tomás ", "Mang Tomás"),
            ("日本", "日本"),
            ("A1", "A1"),
        ] {
            assert_eq!(given.parse::<Name>().unwrap().as_str(), kept, "{given}");
        }
    }

    #[test]
    fn refuses_with_the_first_reason_that_holds() {
        let long = "é".repeat(21);
        let longer = " ".repeat(300);
        for (given, reason) in [
            ("", NotAName::Length),
            (" a ", NotAName::Length),
            (long.as_str(), NotAName::Length),
            (longer.as_str(), NotAName::Length),
            ("Ma\u{0}ria", NotAName::Invisible),
            ("Ma\nria", NotAName::Invisible),
            ("Ma\u{200b}ria", NotAName::Invisible),
            ("\u{202e}airaM", NotAName::Invisible),
            ("\u{3164}\u{3164}", NotAName::Invisible),
            ("...", NotAName::Unreadable),
        ] {
            assert_eq!(given.parse::<Name>(), Err(reason), "{given:?}");
        }
        assert!("é".repeat(20).parse::<Name>().is_ok());
    }
}
