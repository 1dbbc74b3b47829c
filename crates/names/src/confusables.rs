//! Skeletons of names after Unicode's Technical Standard 39, which maps confusable characters to
//! the same character, so that no player can impersonate another.
//!
//! Only letters and numbers are compared, in their compatibility form: accents, separators,
//! punctuation and emoji do not distinguish names. Letters in circles, squares and flags are read
//! both as symbols and as letters.
//!
//! A name is compared in lower case, in which it is also looked up at sign-in (`MARIA` finds
//! Maria), and as written, in which an upper-case I looks like a lower-case L: `PaypaI` also has
//! the skeleton of paypal. Two names are confusable if they share a skeleton.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;

use crate::character_class::{CharacterClass, is_compared};
use crate::emoji;

/// Small capitals, which the standard treats as distinct letters.
const SMALL_CAPITALS: [(char, char); 19] = [
    ('ᴀ', 'a'),
    ('ʙ', 'b'),
    ('ᴄ', 'c'),
    ('ᴅ', 'd'),
    ('ᴇ', 'e'),
    ('ꜰ', 'f'),
    ('ɢ', 'g'),
    ('ʜ', 'h'),
    ('ɪ', 'i'),
    ('ᴊ', 'j'),
    ('ᴋ', 'k'),
    ('ʟ', 'l'),
    ('ᴍ', 'm'),
    ('ɴ', 'n'),
    ('ᴘ', 'p'),
    ('ʀ', 'r'),
    ('ᴛ', 't'),
    ('ᴡ', 'w'),
    ('ʏ', 'y'),
];

/// The interpretation of symbols that contain a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignReading {
    /// All emoji and symbols are left out.
    Letters,
    /// A symbol that contains a letter is read as that letter.
    Signs,
}

impl SignReading {
    pub(crate) const ALL: [Self; 2] = [Self::Letters, Self::Signs];
}

/// Returns the skeletons of a name, sorted and never empty.
pub fn skeletons(name: &str) -> Vec<String> {
    let mut skeletons = BTreeSet::from([search_skeleton(name)]);
    for reading in SignReading::ALL {
        let read = expand_signs(name, reading);
        let written = fold_skeleton(&read);
        // Upper-case letters of other scripts become Latin lower-case letters only in this step.
        skeletons.extend([fold_skeleton(&read.to_lowercase()), fold_skeleton(&written), written]);
    }
    skeletons.into_iter().filter(|skeleton| !skeleton.is_empty()).collect()
}

/// Returns the skeleton by which a name is looked up, regardless of case. For a text without
/// letters it is the lower-case text itself.
pub fn search_skeleton(name: &str) -> String {
    let small = fold_skeleton(&expand_signs(name, SignReading::Letters).to_lowercase());
    if small.is_empty() { name.to_lowercase() } else { small }
}

/// Returns a text in its compatibility form, with its symbols interpreted.
pub(crate) fn expand_signs(name: &str, reading: SignReading) -> String {
    let letters: Vec<char> = name.nfc().collect();
    let mut text = String::new();
    let mut rest = letters.as_slice();
    while let [letter, behind @ ..] = rest {
        let emoji = emoji::sequence_length(rest);
        let is_sign = emoji > 0 || CharacterClass::from_char(*letter) == CharacterClass::Sign;
        let (sign, after) = if emoji > 0 { rest.split_at(emoji) } else { (&rest[..1], behind) };
        match reading {
            SignReading::Signs if is_sign => {
                let letters: String = sign.iter().flat_map(|sign| letters_in_sign(*sign)).collect();
                // A symbol without a letter separates letters, as punctuation does.
                text.push_str(if letters.is_empty() { "*" } else { &letters });
            }
            SignReading::Letters if emoji > 0 => {}
            SignReading::Signs | SignReading::Letters => text.push(*letter),
        }
        rest = after;
    }
    text.nfkd().collect()
}

/// Returns the letters that a symbol shows, or that its compatibility form contains.
fn letters_in_sign(sign: char) -> Vec<char> {
    match emoji::letter_in_sign(sign) {
        Some(letter) => vec![letter],
        None => std::iter::once(sign).nfkd().filter(|letter| is_compared(*letter)).collect(),
    }
}

/// Returns the skeleton of the compared characters of a text.
pub(crate) fn fold_skeleton(text: &str) -> String {
    // A skeleton can contain letters that have a skeleton themselves.
    let text = comparable_letters(&skeleton(&comparable_letters(text)).collect::<String>());
    let text = comparable_letters(&skeleton(&text).collect::<String>());
    // Skeletons can contain upper-case letters: that of a zero is an upper-case O.
    text.to_lowercase()
}

fn comparable_letters(text: &str) -> String {
    let plain = |letter: char| {
        // The standard has skeletons for the upper-case letters of Cherokee only.
        let letter = match letter {
            '\u{ab70}'..='\u{abbf}' => letter.to_uppercase().next().unwrap_or(letter),
            letter => letter,
        };
        let small = SMALL_CAPITALS.iter().find(|(capital, _)| *capital == letter);
        small.map_or(letter, |(_, small)| *small)
    };
    text.nfkd().filter(|letter| is_compared(*letter)).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::{search_skeleton, skeletons};

    #[track_caller]
    fn assert_alike(one: &str, other: &str, expected: bool) {
        let (of_one, of_other) = (skeletons(one), skeletons(other));
        let are_alike = of_one.iter().any(|skeleton| of_other.contains(skeleton));
        assert_eq!(are_alike, expected, "{one} {other}: {of_one:?} {of_other:?}");
    }

    #[test]
    fn confusable_names_share_a_skeleton() {
        for (one, other) in [
            ("Maria", "maria"),
            ("Maria", "MARIA"),
            ("Maria", "Mаria"), // Cyrillic а
            ("Maria", "Μaria"), // Greek Μ
            ("Maria", "Ꮇaria"), // Cherokee Ꮇ
            ("Maria", "Ｍａｒｉａ"),
            ("Maria", "𝓜𝓪𝓻𝓲𝓪"),
            ("Maria", "Ⓜⓐⓡⓘⓐ"),
            ("Maria", "ᴍᴀʀɪᴀ"),
            ("Maria", "M🅰ria"),
            ("Maria", "Maria 🅰"),
            ("Maria", "Maria ❤️"),
            ("Maria", "Maria🇵🇭"),
            ("Maria", "Ma❤ria"),
            ("Maria", "★Maria★"),
            ("Maria", "M-a.r_i'a"),
            ("Maria", "Mari\u{332}a"),
            ("Maria", "Mári\u{324}a"),
            ("Maria", "Mariaˈ"),
            ("Maria", "Mariaʼ"),
            ("Maria", "Maria\u{3164}"),
            ("Maria", "Maria\u{2800}"),
            ("Maria", "(Maria)"),
            ("Tomas", "Tomás"),
            ("paypal", "PaypaI"),
            ("Joe", "J0e"),
            ("Mang Tomas", "MangTomas"),
            ("Mang-Tomas", "Mang_Tomas"),
            ("modern", "rnodern"),
            ("Jamie", "JᎪᎷᎥE"), // Cherokee
            ("Ελενη", "Eλεvη"),
            ("محمد", "مُحَمَّد"),
            ("محمد", "محـمد"),
            ("ก้อน", "กอน"),
        ] {
            assert_alike(one, other, true);
        }
    }

    #[test]
    fn distinct_names_share_no_skeleton() {
        for (one, other) in [
            ("Maria", "Marie"),
            ("Maria", "Mario"),
            ("Maria", "Marla"),
            ("Maria", "Maria 2"),
            ("कमल", "कमला"),
            ("一郎", "二郎"),
        ] {
            assert_alike(one, other, false);
        }
        for name in ["-", "··", "日本", "🂡", "一", "ー", "❤️"] {
            let found = skeletons(name);
            assert!(
                !found.is_empty() && found.iter().all(|skeleton| !skeleton.is_empty()),
                "{name}"
            );
        }
    }

    /// The case in which the player types the name does not matter.
    #[test]
    fn a_name_is_found_by_one_of_its_skeletons() {
        for (name, typed) in [
            ("MARIA", "maria"),
            ("PaypaI", "paypai"),
            ("Ate Luz", "ate  LUZ"),
            ("Maria ❤️", "maria"),
            ("Maria 🇵🇭", "maria 🇵🇭"),
            ("Tomás", "tomas"),
        ] {
            assert!(skeletons(name).contains(&search_skeleton(typed)), "{name} {typed}");
        }
    }
}
