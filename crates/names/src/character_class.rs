//! The classification of characters in names by their properties in the Unicode Character Database.

use icu_properties::props::{
    CanonicalCombiningClass, DefaultIgnorableCodePoint, GeneralCategory, Script,
};
use icu_properties::{CodePointMapData, CodePointSetData};

/// Characters that are drawn blank or as a placeholder, although no Unicode property says so: the
/// blank braille pattern, the null notehead, joiners that are drawn only within a cluster, Egyptian
/// blanks, the Khitan filler, and the object and replacement characters.
const BLANK: &str = "\u{2800}\u{1d159}\u{2d7f}\u{1107f}\u{13441}\u{13442}\u{13443}\u{13444}\
                     \u{13445}\u{16fe4}\u{fffc}\u{fffd}";

/// The tatweel, which stretches an Arabic word and is not a letter.
const TATWEEL: char = '\u{640}';

/// The prolonged sound mark of Japanese, a letter that belongs to no script.
const PROLONGED_SOUND: char = '\u{30fc}';

/// The class of a character in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharacterClass {
    /// A letter or a number.
    Base,
    /// A mark drawn over, under or beside the preceding base.
    Mark,
    Space,
    /// Punctuation or a symbol.
    Sign,
    /// A character that is not drawn, changes the surrounding text, or has no agreed meaning.
    Hidden,
}

impl CharacterClass {
    pub(crate) fn from_char(letter: char) -> Self {
        if is_ignorable(letter) || BLANK.contains(letter) {
            return Self::Hidden;
        }
        match category(letter) {
            GeneralCategory::UppercaseLetter
            | GeneralCategory::LowercaseLetter
            | GeneralCategory::TitlecaseLetter
            | GeneralCategory::ModifierLetter
            | GeneralCategory::OtherLetter
            | GeneralCategory::DecimalNumber
            | GeneralCategory::LetterNumber
            | GeneralCategory::OtherNumber => Self::Base,
            GeneralCategory::NonspacingMark
            | GeneralCategory::SpacingMark
            | GeneralCategory::EnclosingMark => Self::Mark,
            GeneralCategory::SpaceSeparator => Self::Space,
            GeneralCategory::DashPunctuation
            | GeneralCategory::OpenPunctuation
            | GeneralCategory::ClosePunctuation
            | GeneralCategory::ConnectorPunctuation
            | GeneralCategory::InitialPunctuation
            | GeneralCategory::FinalPunctuation
            | GeneralCategory::OtherPunctuation
            | GeneralCategory::MathSymbol
            | GeneralCategory::CurrencySymbol
            | GeneralCategory::ModifierSymbol
            | GeneralCategory::OtherSymbol => Self::Sign,
            GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::PrivateUse
            | GeneralCategory::Surrogate => Self::Hidden,
        }
    }
}

fn category(letter: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(letter)
}

pub(crate) fn script(letter: char) -> Script {
    CodePointMapData::<Script>::new().get(letter)
}

fn is_ignorable(letter: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(letter)
}

pub(crate) fn is_enclosing(mark: char) -> bool {
    category(mark) == GeneralCategory::EnclosingMark
}

pub(crate) fn is_nonspacing(mark: char) -> bool {
    category(mark) == GeneralCategory::NonspacingMark
}

/// Returns whether the character belongs to no script of its own, as accents and symbols do.
pub(crate) fn is_common(letter: char) -> bool {
    matches!(script(letter), Script::Common | Script::Inherited)
}

/// Returns whether the character satisfies the requirement of a letter or digit in a name: a letter
/// or a decimal digit, and no modifier.
pub(crate) fn is_letter_or_digit(letter: char) -> bool {
    let is_modifier = category(letter) == GeneralCategory::ModifierLetter;
    let is_number = letter.is_numeric() && category(letter) != GeneralCategory::DecimalNumber;
    CharacterClass::from_char(letter) == CharacterClass::Base && !is_modifier && !is_number
}

/// Returns whether the character counts in the comparison of two names. Letters, numbers and the
/// vowel signs that some scripts encode as marks count; accents, points, tones, punctuation and
/// symbols do not.
pub(crate) fn is_compared(letter: char) -> bool {
    match CharacterClass::from_char(letter) {
        CharacterClass::Base => {
            let is_modifier = category(letter) == GeneralCategory::ModifierLetter;
            letter == PROLONGED_SOUND || !(is_modifier && is_common(letter) || letter == TATWEEL)
        }
        CharacterClass::Mark => {
            let class = CodePointMapData::<CanonicalCombiningClass>::new().get(letter);
            class == CanonicalCombiningClass::NotReordered
                && !is_common(letter)
                && !is_enclosing(letter)
        }
        CharacterClass::Space | CharacterClass::Sign | CharacterClass::Hidden => false,
    }
}
