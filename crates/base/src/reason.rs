//! Reasons that operators give for their acts.
//!
//! One type with one length limit is used from the command line, the form and the API down to the
//! column, so that a [`Reason`] is valid in every layer and no order fails halfway because of it.
//! Lengths are in characters, as in PostgreSQL's `char_length` and in JSON schemas, and never in
//! bytes.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use thiserror::Error;

/// The length of a reason, in characters. Every column with a reason checks the same bounds.
pub const REASON_LENGTH: RangeInclusive<usize> = 10..=500;

/// A trimmed text of one line, with a length in [`REASON_LENGTH`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(Cow<'static, str>);

/// The error of a text that is no reason.
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

    /// Returns the reason of a column, which has checked its length.
    pub fn from_column(text: String) -> Self {
        Self(text.into())
    }

    /// Returns a reason of the program itself, in ASCII. In a constant, an invalid text does not
    /// compile.
    ///
    /// # Panics
    /// If the text is invalid.
    pub const fn from_static(text: &'static str) -> Self {
        assert!(
            text.is_ascii() && text.len() >= 10 && text.len() <= 500,
            "a reason has 10 to 500 ASCII characters"
        );
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

crate::deserialize_by_parsing!(Reason);

#[cfg(test)]
mod tests {
    use super::{ParseReasonError, REASON_LENGTH, Reason};

    #[test]
    fn a_reason_is_trimmed_and_bounded() {
        assert_eq!(
            " paid twice by mistake ".parse::<Reason>().unwrap().as_str(),
            "paid twice by mistake"
        );
        for text in ["", "too short", "          ", "with a\nline break"] {
            assert_eq!(text.parse::<Reason>(), Err(ParseReasonError), "{text}");
        }
    }

    #[test]
    fn lengths_are_in_characters_and_not_in_bytes() {
        let least = *REASON_LENGTH.start();
        let most = *REASON_LENGTH.end();
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
