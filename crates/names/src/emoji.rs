//! Emoji in names: sequences as defined by Unicode's Technical Standard 51. Characters that are not
//! drawn themselves (joiners, variation selectors, tags) are allowed only within such a sequence.

use icu_properties::CodePointSetData;
use icu_properties::props::{Emoji, EmojiModifier, EmojiModifierBase, RegionalIndicator};

const JOINER: char = '\u{200d}';
const AS_TEXT: char = '\u{fe0e}';
const AS_PICTURE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// The flags that are encoded with tags: England, Scotland, Wales.
const TAGGED_FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Returns the length, in characters, of the emoji at the start of the text; zero if the text does
/// not start with one.
pub(crate) fn sequence_length(text: &[char]) -> usize {
    if let Some(length) = flag_or_keycap_length(text) {
        return length;
    }
    let mut length = picture_length(text);
    while length > 0 && text.get(length) == Some(&JOINER) {
        match picture_length(&text[length + 1..]) {
            0 => break,
            joined => length += 1 + joined,
        }
    }
    length
}

fn flag_or_keycap_length(text: &[char]) -> Option<usize> {
    match text {
        ['0'..='9' | '#' | '*', AS_PICTURE, KEYCAP, ..] => return Some(3),
        ['0'..='9' | '#' | '*', KEYCAP, ..] => return Some(2),
        [one, two, ..] if is_regional(*one) && is_regional(*two) => return Some(2),
        _ => {}
    }
    let is_here = |flag: &&&str| {
        text.len() >= flag.chars().count() && flag.chars().zip(text).all(|(one, two)| one == *two)
    };
    TAGGED_FLAGS.iter().find(is_here).map(|flag| flag.chars().count())
}

/// Returns the length of an emoji character with its skin tone or variation selector; zero if the
/// text does not start with one.
fn picture_length(text: &[char]) -> usize {
    match text {
        [picture, next, ..] if is_picture(*picture) => match *next {
            AS_TEXT | AS_PICTURE => 2,
            colour if has_colours(*picture) && is_colour(colour) => 2,
            _ => 1,
        },
        [picture] if is_picture(*picture) => 1,
        _ => 0,
    }
}

fn is_picture(letter: char) -> bool {
    !letter.is_ascii() && !is_regional(letter) && CodePointSetData::new::<Emoji>().contains(letter)
}

fn has_colours(letter: char) -> bool {
    CodePointSetData::new::<EmojiModifierBase>().contains(letter)
}

fn is_colour(letter: char) -> bool {
    CodePointSetData::new::<EmojiModifier>().contains(letter)
}

pub(crate) fn is_regional(letter: char) -> bool {
    CodePointSetData::new::<RegionalIndicator>().contains(letter)
}

/// Returns the letter or digit that a symbol shows in a circle, a square or a flag.
pub(crate) fn letter_in_sign(sign: char) -> Option<char> {
    let first = match sign {
        '\u{1f150}'..='\u{1f169}' => '\u{1f150}',
        '\u{1f170}'..='\u{1f189}' => '\u{1f170}',
        '\u{1f1e6}'..='\u{1f1ff}' => '\u{1f1e6}',
        'ℹ' => return Some('i'),
        '⭕' => return Some('o'),
        '❌' => return Some('x'),
        '0'..='9' => return Some(sign),
        _ => return None,
    };
    let number = u32::from(sign) - u32::from(first);
    u8::try_from(number).ok().map(|number| char::from(b'a' + number))
}

#[cfg(test)]
mod tests {
    use super::{TAGGED_FLAGS, letter_in_sign, sequence_length};

    #[test]
    fn an_emoji_is_one_whole_sequence() {
        for emoji in ["❤", "❤️", "❤︎", "👍🏽", "👩‍👩‍👧‍👦", "🕵🏽‍♂️", "🏳️‍🌈", "🇵🇭", "4️⃣", "#⃣", "🏽", "❤️‍🔥"]
            .into_iter()
            .chain(TAGGED_FLAGS)
        {
            let text: Vec<_> = emoji.chars().collect();
            assert_eq!(sequence_length(&text), text.len(), "{emoji}");
            let more: Vec<_> = emoji.chars().chain(['a']).collect();
            assert_eq!(sequence_length(&more), text.len(), "{emoji}");
        }
    }

    #[test]
    fn other_characters_start_no_emoji() {
        for text in ["", "a", "4", "#", "\u{fe0f}", "\u{200d}", "🇵", "★", "\u{20e3}"] {
            assert_eq!(sequence_length(&text.chars().collect::<Vec<_>>()), 0, "{text:?}");
        }
        // A sequence ends before a character that is not part of it.
        for text in ["❤\u{200d}", "❤\u{200d}a", "❤\u{301}", "🏴\u{e0067}\u{e007f}"] {
            assert_eq!(sequence_length(&text.chars().collect::<Vec<_>>()), 1, "{text:?}");
        }
    }

    #[test]
    fn symbols_are_read_as_their_letters() {
        let read: String = "🅰🅓🇲ℹ🅽4".chars().filter_map(letter_in_sign).collect();
        assert_eq!(read, "admin4");
    }
}
