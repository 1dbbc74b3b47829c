//! What names look like, so that nobody passes for somebody else: skeletons after Unicode's
//! Technical Standard 39, in which letters that are easily taken for one another are the same.
//!
//! A name has one or two looks. The one is that of its small letters, by which it is also found
//! when its player signs in: `MARIA` finds Maria. The other is that of the name as it is written,
//! in which a great I looks like a small L: `PaypaI` has the look of paypal as well. Two names are
//! alike if they share a look.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;

/// What may stand between the parts of a name without making it another one.
const SEPARATORS: [char; 6] = ['-', '_', '.', '\'', '·', '’'];

/// Words by which the house is meant, or those who run it. No name may hold one of them as a word,
/// nor look like one as a whole.
const RESERVED: [&str; 30] = [
    "admin",
    "administrator",
    "admins",
    "bahay",
    "bot",
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

/// The looks of a name, in order. Never empty.
pub(super) fn looks(name: &str) -> Vec<String> {
    let written: String = name.nfkc().collect();
    let looks = BTreeSet::from([found_by(name), shape(&written)]);
    looks.into_iter().collect()
}

/// The look by which a name is found, whatever the size of its letters.
pub(super) fn found_by(name: &str) -> String {
    let small: String = name.nfkc().collect::<String>().to_lowercase();
    shape(&small)
}

/// Whether a name speaks for the house.
pub(super) fn is_reserved(name: &str) -> bool {
    let is_word = |text: &str| {
        let looks = looks(text);
        // Also as it looks in great letters: `ADMlN`.
        let is_in = |word: &str| looks.contains(&found_by(word)) || looks.contains(&shape(word));
        RESERVED.iter().any(|word| is_in(word) || is_in(&word.to_uppercase()))
    };
    let parts = name.split(|letter: char| letter.is_whitespace() || SEPARATORS.contains(&letter));
    is_word(name) || parts.filter(|part| !part.is_empty()).any(is_word)
}

fn shape(text: &str) -> String {
    let is_kept = |letter: &char| !letter.is_whitespace() && !SEPARATORS.contains(letter);
    let bare: String = text.chars().filter(is_kept).collect();
    // A name of separators only is at least like itself.
    let bare = if bare.is_empty() { text.to_owned() } else { bare };
    // Skeletons have great letters of their own: that of a zero is a great O.
    skeleton(&bare).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{found_by, is_reserved, looks};

    fn are_alike(one: &str, other: &str) -> bool {
        let other = looks(other);
        looks(one).iter().any(|look| other.contains(look))
    }

    #[test]
    fn names_that_look_alike_share_a_look() {
        for (one, other) in [
            ("Maria", "maria"),
            ("Maria", "MARIA"),
            ("Maria", "Mаria"), // Cyrillic а
            ("Maria", "Ｍａｒｉａ"),
            ("paypal", "PaypaI"),
            ("Joe", "J0e"),
            ("Mang Tomas", "MangTomas"),
            ("Mang-Tomas", "Mang_Tomas"),
            ("modern", "rnodern"),
            ("Ελενη", "Eλεvη"),
        ] {
            assert!(are_alike(one, other), "{one} {other}: {:?} {:?}", looks(one), looks(other));
        }
    }

    #[test]
    fn other_names_do_not() {
        for (one, other) in
            [("Maria", "Marie"), ("Maria", "Mario"), ("Maria", "Marla"), ("Tomas", "Tomás")]
        {
            assert!(!are_alike(one, other), "{one} {other}: {:?} {:?}", looks(one), looks(other));
        }
        for name in ["-", "··", "日本", "🂡"] {
            assert!(looks(name).iter().all(|look| !look.is_empty()), "{name}");
        }
    }

    /// Whatever case its player types it in.
    #[test]
    fn a_name_is_found_by_one_of_its_looks() {
        for (name, typed) in [("MARIA", "maria"), ("PaypaI", "paypai"), ("Ate Luz", "ate  LUZ")] {
            assert!(looks(name).contains(&found_by(typed)), "{name} {typed}");
        }
    }

    #[test]
    fn nobody_speaks_for_the_house() {
        for name in ["Admin", "ADMlN", "Bahay", "bahay support", "Ate Moderator", "t0ngits", "Bot"]
        {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["Luz", "Modesto", "Housemartin", "Administrative Ana", "Botong"] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
