//! Names that other players see.
//!
//! A name is stored in the normalization form NFC. Characters are judged by their Unicode
//! properties (`character_class`), so that a new version of Unicode arrives with a new version of a
//! library. Emoji are treated as whole sequences (`emoji`).

use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;

use crate::character_class::{self, CharacterClass};
use crate::emoji;

/// The length of a name, in characters.
const LENGTH: RangeInclusive<usize> = 2..=20;

/// The longest text that is parsed, in characters: a name, and white space that a client may have
/// left in and around it.
pub const NAME_TEXT_LENGTH_MAX: usize = 256;

/// The most marks of no script, such as accents, on one letter. The marks of composed letters do
/// not count.
const COMMON_MARKS_MAX: usize = 2;

/// The most nonspacing marks on one letter, as Devanagari and Hebrew use them.
const NONSPACING_MARKS_MAX: usize = 3;

/// The most marks on one letter, as Burmese uses them.
const MARKS_MAX: usize = 5;

/// A player's name: 2 to 20 characters with at least one letter or digit, single spaces inside and
/// none around. `names` decides on its owner, and `reserved` on the names that nobody may have;
/// players are identified by their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Name(String);

/// The errors of a text that is no name, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ParseNameError {
    #[error("a name must not contain control or invisible characters")]
    Invisible,
    #[error("a name may contain complete emoji only: a flag has two regional letters")]
    Emoji,
    #[error(
        "a name holds accents and other marks only on letters of their script, and few on each"
    )]
    Mark,
    #[error("a name has 2 to 20 characters")]
    Length,
    #[error("a name must contain at least one letter or digit")]
    Letter,
}

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, ParseNameError> {
        if text.chars().count() > NAME_TEXT_LENGTH_MAX {
            return Err(ParseNameError::Length);
        }
        let letters: Vec<char> = text.nfc().collect();
        let has_letter = check_letters(&letters)?;
        let text: String = letters.into_iter().collect();
        let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !LENGTH.contains(&name.chars().count()) {
            return Err(ParseNameError::Length);
        }
        if has_letter { Ok(Self(name)) } else { Err(ParseNameError::Letter) }
    }
}

/// Checks the characters of a text in order. Returns whether the text has a letter or digit outside
/// of emoji.
///
/// # Errors
/// The first violation.
fn check_letters(text: &[char]) -> Result<bool, ParseNameError> {
    let mut has_letter = false;
    let mut cluster = None;
    let mut rest = text;
    while let [letter, behind @ ..] = rest {
        let emoji = emoji::sequence_length(rest);
        if emoji > 0 {
            cluster = None;
            rest = &rest[emoji..];
            continue;
        }
        match CharacterClass::from_char(*letter) {
            CharacterClass::Hidden => return Err(ParseNameError::Invisible),
            CharacterClass::Base => {
                has_letter |=
                    std::iter::once(*letter).nfkd().any(character_class::is_letter_or_digit);
                cluster = Some(Cluster { base: *letter, marks: Vec::new() });
            }
            CharacterClass::Mark => cluster.as_mut().ok_or(ParseNameError::Mark)?.add(*letter)?,
            CharacterClass::Sign if emoji::is_regional(*letter) => {
                return Err(ParseNameError::Emoji);
            }
            CharacterClass::Space | CharacterClass::Sign => cluster = None,
        }
        rest = behind;
    }
    Ok(has_letter)
}

/// A letter or number with its marks.
struct Cluster {
    base: char,
    marks: Vec<char>,
}

impl Cluster {
    /// Adds a mark to the letter.
    ///
    /// # Errors
    /// [`ParseNameError::Mark`] if the mark is of another script, if the letter has it already, or
    /// if the letter has too many marks.
    fn add(&mut self, mark: char) -> Result<(), ParseNameError> {
        let is_at_home = character_class::is_common(mark)
            || character_class::script(mark) == character_class::script(self.base);
        if character_class::is_enclosing(mark) || !is_at_home || self.marks.contains(&mark) {
            return Err(ParseNameError::Mark);
        }
        self.marks.push(mark);
        let count = |is_counted: fn(char) -> bool| {
            self.marks.iter().filter(|mark| is_counted(**mark)).count()
        };
        let is_few = self.marks.len() <= MARKS_MAX
            && count(character_class::is_nonspacing) <= NONSPACING_MARKS_MAX
            && count(character_class::is_common) <= COMMON_MARKS_MAX;
        if is_few { Ok(()) } else { Err(ParseNameError::Mark) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, ParseNameError};
    use crate::character_class::{CharacterClass, is_letter_or_digit};
    use crate::emoji;
    use unicode_normalization::UnicodeNormalization as _;

    #[test]
    fn names_of_every_script_are_accepted() {
        for (given, kept) in [
            ("Maria", "Maria"),
            ("  Mang \u{3000} Tomás ", "Mang Tomás"),
            ("Toma\u{301}s", "Tomás"),
            ("日本", "日本"),
            ("A1", "A1"),
            ("007", "007"),
            ("Nguyễn Thị Hương", "Nguyễn Thị Hương"),
            ("ก้อนหินปุ้ย", "ก้อนหินปุ้ย"),
            ("नन्ही लड़कीं", "नन्ही लड़कीं"),
            ("مُحَمَّد", "مُحَمَّد"),
            ("שָׁלוֹם", "שָׁלוֹם"),
            ("မျှော်", "မျှော်"),
            ("ラーメン", "ラーメン"),
            ("O'Brien-Cruz", "O'Brien-Cruz"),
            ("★ Luz ★", "★ Luz ★"),
            ("Maria ❤️", "Maria ❤️"),
            ("Maria ❤", "Maria ❤"),
            ("👩‍👩‍👧‍👦 Cruz", "👩‍👩‍👧‍👦 Cruz"),
            ("👍🏽 Jun", "👍🏽 Jun"),
            ("Pinoy 🇵🇭", "Pinoy 🇵🇭"),
            ("Jun 1️⃣", "Jun 1️⃣"),
        ] {
            let name = given.parse::<Name>().map(|name| name.0.nfc().collect::<String>());
            assert_eq!(name, Ok(kept.nfc().collect()), "{given}");
        }
    }

    #[test]
    fn the_first_violation_is_reported() {
        let long = "é".repeat(21);
        let longer = " ".repeat(300);
        for (given, reason) in [
            ("", ParseNameError::Length),
            (" a ", ParseNameError::Length),
            (long.as_str(), ParseNameError::Length),
            (longer.as_str(), ParseNameError::Length),
            ("Ma\u{0}ria", ParseNameError::Invisible),
            ("Ma\nria", ParseNameError::Invisible),
            ("Ma\u{200b}ria", ParseNameError::Invisible),
            ("Ma\u{200d}ria", ParseNameError::Invisible),
            ("Maria\u{fe0f}", ParseNameError::Invisible),
            ("Maria ❤\u{200d}", ParseNameError::Invisible),
            ("Maria 🏴\u{e0067}\u{e0062}\u{e007f}", ParseNameError::Invisible),
            ("\u{202e}airaM", ParseNameError::Invisible),
            ("\u{3164}\u{3164}", ParseNameError::Invisible),
            ("Maria\u{115f}", ParseNameError::Invisible),
            ("Maria\u{ffa0}", ParseNameError::Invisible),
            ("\u{2800}\u{2800}", ParseNameError::Invisible),
            ("Admin\u{2800}", ParseNameError::Invisible),
            ("Maria\u{e000}", ParseNameError::Invisible),
            ("Maria\u{fdd0}", ParseNameError::Invisible),
            ("Maria\u{1fffe}", ParseNameError::Invisible),
            ("Maria\u{378}", ParseNameError::Invisible),
            ("Maria\u{2028}", ParseNameError::Invisible),
            ("Maria\u{1d159}", ParseNameError::Invisible),
            ("Maria 🇵", ParseNameError::Emoji),
            ("\u{301}\u{301}", ParseNameError::Mark),
            ("Maria \u{301}", ParseNameError::Mark),
            ("❤\u{301}Maria", ParseNameError::Mark),
            ("Maria\u{20dd}", ParseNameError::Mark),
            ("Mariaี", ParseNameError::Mark),
            ("ก็็็", ParseNameError::Mark),
            ("Mari\u{332}\u{333}\u{334}a", ParseNameError::Mark),
            ("--", ParseNameError::Letter),
            ("❤️❤️", ParseNameError::Letter),
            ("1️⃣2️⃣", ParseNameError::Letter),
            ("ˈˑ", ParseNameError::Letter),
            ("\u{fe70}\u{fe70}", ParseNameError::Letter),
        ] {
            assert_eq!(given.parse::<Name>(), Err(reason), "{given:?}");
        }
        let zalgo: String = ('\u{300}'..='\u{311}').collect();
        assert_eq!(format!("Ma{zalgo}ria").parse::<Name>(), Err(ParseNameError::Mark));
        assert!("é".repeat(20).parse::<Name>().is_ok());
    }

    /// Generates texts of random characters from all of Unicode, with a preference for blocks that
    /// names use.
    fn random_texts() -> impl Iterator<Item = String> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = move |bound: u32| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            u32::try_from(state % u64::from(bound)).unwrap()
        };
        let starts = [0x20, 0x300, 0x600, 0x900, 0xe00, 0x1000, 0x1100, 0x2000, 0x2800, 0x3100];
        let more = [0xfe00, 0xff00, 0x1_d100, 0x1_f100, 0x1_f300, 0xe_0000];
        let blocks = [starts.as_slice(), more.as_slice()].concat();
        (0..50_000).map(move |_| {
            let count = 1 + below(8);
            let letter = |_| {
                let code = match below(4) {
                    0 => below(0x11_0000),
                    1 => 0x61 + below(26),
                    _ => {
                        let block = below(u32::try_from(blocks.len()).unwrap());
                        blocks[usize::try_from(block).unwrap()] + below(0x100)
                    }
                };
                char::from_u32(code).unwrap_or('a')
            };
            (0..count).map(letter).collect()
        })
    }

    #[test]
    fn an_accepted_name_is_visible_and_stable() {
        let mut accepted = 0;
        for text in random_texts() {
            let Ok(name) = text.parse::<Name>() else { continue };
            accepted += 1;
            assert_eq!(name.0.nfc().collect::<String>(), name.0, "{text:?}");
            assert_eq!(name.0.parse::<Name>(), Ok(name.clone()), "{text:?}");
            let letters: Vec<char> = name.0.chars().collect();
            let mut rest = letters.as_slice();
            let mut has_letter = false;
            while let [letter, behind @ ..] = rest {
                match emoji::sequence_length(rest) {
                    0 => {
                        let class = CharacterClass::from_char(*letter);
                        assert_ne!(class, CharacterClass::Hidden, "{text:?}");
                        has_letter |= std::iter::once(*letter).nfkd().any(is_letter_or_digit);
                        rest = behind;
                    }
                    emoji => rest = &rest[emoji..],
                }
            }
            assert!(has_letter, "{text:?}");
        }
        assert!(accepted > 1_000, "{accepted}");
    }
}
