//! Names that other players see.

use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

/// How many characters a name has.
const LENGTH: RangeInclusive<usize> = 2..=20;

/// The longest text that is looked at, in characters: a name, and white space that a client may
/// have left in and around it.
pub const NAME_TEXT_LENGTH_MAX: usize = 256;

/// What would change the look of the text around it, or hide a difference between two names:
/// controls, format characters (direction marks, joiners, tags), fillers, variation selectors
/// and private use.
const INVISIBLE: [RangeInclusive<char>; 19] = [
    '\u{0}'..='\u{1f}',
    '\u{7f}'..='\u{9f}',
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{70f}'..='\u{70f}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{e000}'..='\u{f8ff}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{ffff}',
    '\u{e0000}'..='\u{10ffff}',
];

/// White space, as far as it is not refused already.
const SPACE: [RangeInclusive<char>; 7] = [
    ' '..=' ',
    '\u{a0}'..='\u{a0}',
    '\u{1680}'..='\u{1680}',
    '\u{2000}'..='\u{200a}',
    '\u{202f}'..='\u{202f}',
    '\u{205f}'..='\u{205f}',
    '\u{3000}'..='\u{3000}',
];

/// A player's name: 2 to 20 characters, with single spaces inside and none around. Whose it is, and
/// what may not be one, is told by `names`; an id tells players apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Name(String);

/// Why a text is not a name. Ordered by precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotAName {
    #[error("a name holds no control characters and nothing invisible")]
    Invisible,
    #[error("a name has 2 to 20 characters")]
    Length,
}

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The texts that are names, as a regular expression: something visible, up to 18 visible
    /// characters or runs of white space, something visible.
    pub fn pattern() -> String {
        let space = class(&SPACE);
        let visible = format!("[^{space}{}]", class(&INVISIBLE));
        format!("^[{space}]*{visible}(?:[{space}]+|{visible}){{0,18}}{visible}[{space}]*$")
    }
}

/// The inside of a character class. Escapes have four digits in every dialect; what lies beyond
/// them has no common one and stands for itself.
fn class(ranges: &[RangeInclusive<char>]) -> String {
    let escape = |letter: char| match u32::from(letter) {
        code @ ..=0xffff => format!("\\u{code:04x}"),
        _ => letter.to_string(),
    };
    let ranges = ranges.iter().map(|range| match (*range.start(), *range.end()) {
        (start, end) if start == end => escape(start),
        (start, end) => format!("{}-{}", escape(start), escape(end)),
    });
    ranges.collect()
}

impl FromStr for Name {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        if text.chars().any(is_invisible) {
            return Err(NotAName::Invisible);
        }
        if text.chars().count() > NAME_TEXT_LENGTH_MAX {
            return Err(NotAName::Length);
        }
        let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !LENGTH.contains(&name.chars().count()) {
            return Err(NotAName::Length);
        }
        Ok(Self(name))
    }
}

fn is_invisible(letter: char) -> bool {
    INVISIBLE.iter().any(|range| range.contains(&letter))
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{INVISIBLE, Name, NotAName, SPACE, is_invisible};

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

    /// The pattern for clients knows the same white space and the same order as the code.
    #[test]
    fn every_white_space_is_refused_or_in_the_pattern() {
        let is_space = |letter: char| SPACE.iter().any(|range| range.contains(&letter));
        for letter in '\0'..=char::MAX {
            let is_kept = letter.is_whitespace() && !is_invisible(letter);
            assert_eq!(is_kept, is_space(letter), "{}", letter.escape_unicode());
            assert!(!letter.is_control() || is_invisible(letter), "{}", letter.escape_unicode());
        }
        assert!(INVISIBLE.is_sorted_by(|one, next| one.end() < next.start()));
        assert!(Name::pattern().starts_with(r"^[\u0020\u00a0\u1680\u2000-\u200a\u202f"));
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
        ] {
            assert_eq!(given.parse::<Name>(), Err(reason), "{given:?}");
        }
        assert!("é".repeat(20).parse::<Name>().is_ok());
    }
}
