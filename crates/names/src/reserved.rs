//! Reserved names, which denote the house or its operators and are available to nobody.
//!
//! A name is split at spaces, punctuation, symbols and digits, and where an upper-case letter
//! follows a lower-case one. No run of adjacent parts with a letter may be confusable with a
//! reserved word: `B.o.t Amihan`, `B0t` and `Admin1` are rejected, `Botong` and `Maria 807` are
//! not.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::character_class::{CharacterClass, is_compared};
use crate::confusables::{SignReading, expand_signs, fold_skeleton, skeletons};

/// The longest run of parts that is compared, in characters: the length of the longest word,
/// decomposed.
const RUN_MAX: usize = 30;

/// The reserved words, in lower case.
const WORDS: [&str; 31] = [
    "admin",
    "administrator",
    "admins",
    "bahay",
    "bot",
    "bots",
    "cashier",
    "croupier",
    "dealer",
    "deleted",
    "everyone",
    "guest",
    "help",
    "helpdesk",
    "house",
    "mod",
    "moderator",
    "mods",
    "nobody",
    "null",
    "official",
    "operator",
    "owner",
    "player",
    "root",
    "security",
    "server",
    "staff",
    "support",
    "system",
    "tongits",
];

/// The skeletons of the words, including those in upper case, as in `ADMlN`.
static RESERVED_SKELETONS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| WORDS.iter().flat_map(|word| skeletons(&word.to_uppercase())).collect());

/// Returns whether a name contains a reserved word.
pub fn is_reserved(name: &str) -> bool {
    SignReading::ALL.into_iter().map(|reading| expand_signs(name, reading)).any(|text| {
        has_reserved_word(&text, |letter| letter)
            || has_reserved_word(&text, |letter| replace_lookalike_digit(letter, 'i'))
            || has_reserved_word(&text, |letter| replace_lookalike_digit(letter, 'l'))
    })
}

fn has_reserved_word(text: &str, read: impl Fn(char) -> char) -> bool {
    let parts = split_parts(text, read);
    (0..parts.len()).any(|first| {
        let mut run = String::new();
        let mut has_letter = false;
        parts[first..].iter().any(|part| {
            run.push_str(&part.text);
            has_letter |= part.has_letter;
            has_letter && run.chars().count() <= RUN_MAX && is_reserved_word(&run)
        })
    })
}

fn is_reserved_word(text: &str) -> bool {
    let written = fold_skeleton(text);
    [fold_skeleton(&text.to_lowercase()), fold_skeleton(&written), written]
        .iter()
        .any(|skeleton| RESERVED_SKELETONS.contains(skeleton))
}

/// A part of a name, as it is read.
struct Part {
    text: String,
    /// False if the name has only digits and symbols here: nobody reads `807` as a word.
    has_letter: bool,
}

/// Splits a text, read letter by letter, into runs of letters and runs of digits, and drops
/// characters that are not compared.
fn split_parts(text: &str, read: impl Fn(char) -> char) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut before: Option<char> = None;
    for written in text.chars() {
        let letter = read(written);
        if !is_compared(letter) {
            // An accent does not separate letters.
            if CharacterClass::from_char(letter) != CharacterClass::Mark {
                before = None;
            }
            continue;
        }
        let is_joined = before.is_some_and(|before| {
            let is_new_word = before.is_lowercase() && letter.is_uppercase();
            before.is_numeric() == letter.is_numeric() && !is_new_word
        });
        let has_letter = written.is_alphabetic();
        match parts.last_mut() {
            Some(part) if is_joined => {
                part.text.push(letter);
                part.has_letter |= has_letter;
            }
            Some(_) | None => parts.push(Part { text: letter.into(), has_letter }),
        }
        before = Some(letter);
    }
    parts
}

/// Returns the letter for which a digit or a symbol is commonly written. The digit one stands for
/// either of two letters, and `one` selects it.
fn replace_lookalike_digit(letter: char, one: char) -> char {
    match letter {
        '1' | '!' | '|' | '¡' => one,
        '0' => 'o',
        '2' => 'z',
        '3' | '€' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '6' if one == 'i' => 'g',
        '6' | '8' => 'b',
        '7' | '+' => 't',
        '9' => 'g',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::is_reserved;

    #[test]
    fn reserved_words_are_found_in_names() {
        for name in [
            "Admin",
            "ADMlN",
            "AdMin",
            "Bahay",
            "bahay support",
            "Ate Moderator",
            "Ate-Moderator",
            "t0ngits",
            "Bot",
            "Bot Amihan",
            "B.o.t Amihan",
            "B o t Amihan",
            "Ad.min Maria",
            "Ad min Maria",
            "Admin1",
            "4dmin",
            "@dmin",
            "4dm1n",
            "4 d m 1 n",
            "Adm!n",
            "$upport",
            "5upp0rt Luz",
            "he1p",
            "Ádmin",
            "Adm\u{332}in",
            "Adm\u{332}i\u{332}n\u{332}",
            "Ad❤️min",
            "❤️ Admin ❤️",
            "Ａｄｍｉｎ",
            "Ⓐⓓⓜⓘⓝ",
            "🅰🅳🅼🅸🅽",
            "🄰🄳🄼🄸🄽",
            "🅐🅓🅜🅘🅝",
            "🅰dmin",
            "4️⃣dmin",
            "B🇴🇹",
            "𝔸𝕕𝕞𝕚𝕟",
            "ᴀᴅᴍɪɴ",
            "ᵃᵈᵐⁱⁿ",
            "Аdmin", // Cyrillic А
            "Аdmіn", // Cyrillic А, і
            "Αdmin", // Greek Α
            "ᎪᎠᎷᎥN", // Cherokee
            "ꭺꭰꮇꭵn", // small Cherokee
            "Admın",
            "Aԁmin",
            "rnoderator",
            "Adrnin",
        ] {
            assert!(is_reserved(name), "{name}");
        }
    }

    #[test]
    fn other_words_are_not_reserved() {
        for name in [
            "Luz",
            "Modesto",
            "Housemartin",
            "Administrative Ana",
            "Botong",
            "Maria ❤️",
            "Pinoy 🇵🇭",
            "Nguyễn Thị Hương",
            "Ma. Theresa",
            "J.R. Cruz",
            "Robot",
            "Modern Moda",
            "Althea 8",
            "7 Seas",
            "Maria 807",
            "807",
            "Load 60",
        ] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
