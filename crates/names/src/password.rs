//! Passwords to be set, and passwords to be verified.
//!
//! The rules follow NIST SP 800-63B: a minimum length, a maximum far above what people choose, no
//! rules about character classes, and a list of common passwords. Texts are normalized (NFKC), so
//! that a password is the same on every keyboard.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};
use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;

use crate::confusables::search_skeleton;

/// The length of a password, in characters.
pub const PASSWORD_LENGTH: RangeInclusive<usize> = 8..=128;

/// The most common passwords: some ten thousand in lower case, one a line. They are those of the
/// Python package zxcvbn 4.5.0 (MIT licence: see THIRD_PARTY.md), ranked there by leaked lists, as
/// far as they are valid passwords here, and some 80 of the Philippines and of games.
const COMMON: &str = include_str!("common_passwords.txt");

/// A password that may be set. `Debug` omits it.
#[derive(Clone, PartialEq, Eq)]
pub struct NewPassword(String);

/// The error of a text that may not be set as a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a password has 8 to 128 characters of any kind")]
pub struct ParsePasswordError;

impl NewPassword {
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the length, in characters.
    pub fn length(&self) -> usize {
        self.0.chars().count()
    }

    /// Returns whether the password would be guessed early: a common one, one character repeated,
    /// or the name, forwards or backwards, with digits and symbols around it.
    pub fn is_easy(&self, name: &str) -> bool {
        let lower = self.0.to_lowercase();
        let first = lower.chars().next();
        COMMON.lines().any(|common| common == lower)
            || lower.chars().all(|letter| Some(letter) == first)
            || resembles_name(&lower, name)
            || consists_of_name(&lower, name)
    }
}

fn resembles_name(lower: &str, name: &str) -> bool {
    // Trims before folding, because digits share skeletons with letters.
    let trimmed =
        |text: &str| search_skeleton(text.trim_matches(|letter: char| !letter.is_alphabetic()));
    let names = [search_skeleton(name), trimmed(name)];
    let backwards: String = lower.chars().rev().collect();
    [lower, &backwards].into_iter().any(|password| {
        let skeletons = [search_skeleton(password), trimmed(password)];
        skeletons.iter().any(|skeleton| !skeleton.is_empty() && names.contains(skeleton))
    })
}

/// The shortest word of a name, in letters, that is searched for in a password.
const WORD_LETTERS_MIN: usize = 3;

/// The number of letters and digits besides the words of the name up to which a password counts as
/// easy.
const EXTRA_CHARACTERS_MAX: usize = 3;

/// Returns whether the password consists of words of the name, in any order and number, with little
/// else.
fn consists_of_name(lower: &str, name: &str) -> bool {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).map(search_skeleton);
    let mut words: Vec<String> =
        words.filter(|word| word.chars().count() >= WORD_LETTERS_MIN).collect();
    // The longest word is removed first, since a short one may be a part of it.
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let backwards: String = lower.chars().rev().collect();
    !words.is_empty()
        && [lower, &backwards].into_iter().any(|password| {
            let skeleton = search_skeleton(password);
            let left = words.iter().fold(skeleton.clone(), |left, word| left.replace(word, " "));
            let extra = left.chars().filter(|letter| letter.is_alphanumeric()).count();
            left != skeleton && extra <= EXTRA_CHARACTERS_MAX
        })
}

impl FromStr for NewPassword {
    type Err = ParsePasswordError;

    fn from_str(text: &str) -> Result<Self, ParsePasswordError> {
        let text: String = text.nfkc().collect();
        if PASSWORD_LENGTH.contains(&text.chars().count()) {
            Ok(Self(text))
        } else {
            Err(ParsePasswordError)
        }
    }
}

impl fmt::Debug for NewPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewPassword(…)")
    }
}

/// A password to be verified: any text. A text that is no valid password counts as a wrong one and
/// takes as long. `Debug` omits it.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordAttempt(String);

impl PasswordAttempt {
    pub fn new(text: &str) -> Self {
        Self(text.nfkc().collect())
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for PasswordAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordAttempt(…)")
    }
}

impl<'de> Deserialize<'de> for PasswordAttempt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::new(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::{COMMON, NewPassword, ParsePasswordError, PasswordAttempt};

    #[test]
    fn a_password_has_8_to_128_characters_of_any_kind() {
        let long = "é".repeat(128);
        for text in ["correct horse", "12345678", "ñandú-日本日本", "        ", &long] {
            assert!(text.parse::<NewPassword>().is_ok(), "{text}");
        }
        let longer = "é".repeat(129);
        for text in ["", "1234567", "ééééééé", &longer] {
            assert_eq!(text.parse::<NewPassword>(), Err(ParsePasswordError), "{text}");
        }
    }

    #[test]
    fn is_the_same_from_every_keyboard_and_never_printed() {
        let composed: NewPassword = "caf\u{e9} con leche".parse().unwrap();
        let combining = PasswordAttempt::new("cafe\u{301} con leche");
        assert_eq!(composed.as_bytes(), combining.as_bytes());
        assert_eq!(format!("{composed:?} {combining:?}"), "NewPassword(…) PasswordAttempt(…)");
    }

    #[test]
    fn passwords_that_are_guessed_early_are_easy() {
        let is_easy = |text: &str| text.parse::<NewPassword>().unwrap().is_easy("Mang Tomas");
        for text in [
            "password",
            "PassWord",
            "1234567890",
            "mangtomas",
            "Mang Tomas",
            "zzzzzzzzzz",
            "mangtomas2026",
            "*Mang.Tomas!",
            "samotgnam",
            "2026samotgnam",
            "iloveyou1",
            "trustno1",
            "tomas1mang",
            "tomastomas",
            "mangXXXtomas",
            "samotsamot1",
        ] {
            assert!(is_easy(text), "{text}");
        }
        assert!(COMMON.lines().count() >= 10_000);
        for text in ["mangtomas likes rain", "automaster", "manganese blue"] {
            assert!(!is_easy(text), "{text}");
        }
        for common in COMMON.lines() {
            assert!(common.parse::<NewPassword>().is_ok(), "{common} is too short to be listed");
            assert_eq!(common.to_lowercase(), common);
        }
    }
}
