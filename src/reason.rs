//! Why something is done: a text that operators write, and people read later.
//!
//! One type with one limit, from the command line, the form and the API to the column: whoever has
//! a [`Reason`] has one that every layer below takes. So no order begins that its reason would break
//! off. Lengths are in characters, as `char_length` of PostgreSQL and the lengths of a JSON schema
//! count them, and never in bytes.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// How long a reason is, in characters. Every column that holds one checks the same.
pub const REASON_LENGTH: RangeInclusive<usize> = 10..=500;

/// A text of a length in [`REASON_LENGTH`], in one line, with nothing around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(Cow<'static, str>);

/// The text is not a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a reason has {} to {} characters, no control characters, and says something",
    REASON_LENGTH.start(),
    REASON_LENGTH.end()
)]
pub struct ParseReasonError;

impl Reason {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As a column holds it, which has checked its length.
    pub fn from_column(text: String) -> Self {
        Self(text.into())
    }

    /// One that the program gives itself, of plain letters. In a constant, a text that is no reason
    /// does not compile.
    pub const fn from_static(text: &'static str) -> Self {
        assert!(text.is_ascii() && text.len() >= 10 && text.len() <= 500, "a reason of its length");
        Self(Cow::Borrowed(text))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Reason {
    type Err = ParseReasonError;

    fn from_str(text: &str) -> Result<Self, ParseReasonError> {
        let text = text.trim();
        let is_sound =
            REASON_LENGTH.contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if is_sound { Ok(Self(text.to_owned().into())) } else { Err(ParseReasonError) }
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{ParseReasonError, REASON_LENGTH, Reason};

    #[test]
    fn a_reason_says_something() {
        assert_eq!(
            " paid twice by mistake ".parse::<Reason>().unwrap().as_str(),
            "paid twice by mistake"
        );
        for text in ["", "too short", "          ", "with a\nline break"] {
            assert_eq!(text.parse::<Reason>(), Err(ParseReasonError), "{text}");
        }
    }

    #[test]
    fn letters_are_counted_and_not_their_bytes() {
        let (least, most) = (*REASON_LENGTH.start(), *REASON_LENGTH.end());
        for letter in ["x", "ñ", "札", "🂡"] {
            for length in [least, most] {
                let text = letter.repeat(length);
                assert_eq!(text.parse::<Reason>().unwrap().as_str(), text);
            }
            for length in [least - 1, most + 1] {
                assert_eq!(letter.repeat(length).parse::<Reason>(), Err(ParseReasonError));
            }
        }
    }
}
