//! The cards (rules 1.2 and 1.3): 98 assets and 30 acquire cards, in one range of indices; and sets
//! of cards as bit masks.
//!
//! Assets have the indices 0 to 97 and acquire cards 98 to 127, so that a set of cards is one word
//! of 128 bits. The notation of an asset is its number, colour and copy, such as `4Ra`; that of an
//! acquire card is the letter of its kind and a number, such as `W3`.

use core::str::FromStr;

use arrayvec::ArrayVec;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

/// The number of numbers, and of colours, of assets.
pub const NUMBERS: u8 = 7;

/// The number of assets of one copy.
pub const TYPES: u8 = NUMBERS * NUMBERS;

/// The number of assets of both copies.
pub const ASSETS: u8 = 2 * TYPES;

/// The number of acquire cards.
pub const ACQUIRES: u8 = 30;

/// The number of all cards.
pub const CARDS: u8 = ASSETS + ACQUIRES;

/// The number of acquire cards of each kind, and its letter (rule 1.3).
const KINDS: [(Acquire, u8, u8); 5] = [
    (Acquire::Wild, 14, b'W'),
    (Acquire::Free, 6, b'F'),
    (Acquire::Reveal, 4, b'V'),
    (Acquire::Dividend, 4, b'D'),
    (Acquire::Audit, 2, b'X'),
];

const COPIES: &[u8; 2] = b"ab";

/// A colour, in the order of rule 1.2. In a comparison of hands red is the highest (rule 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsColour", description = ""))]
#[cfg_attr(feature = "schema", schemars(with = "alloc::string::String", extend("pattern" = "^[RBYGPOK]$")))]
pub enum Colour {
    Red,
    Blue,
    Yellow,
    Green,
    Purple,
    Orange,
    Black,
}

impl Colour {
    pub const ALL: [Self; NUMBERS as usize] =
        [Self::Red, Self::Blue, Self::Yellow, Self::Green, Self::Purple, Self::Orange, Self::Black];

    pub const fn index(self) -> u8 {
        self as u8
    }

    const fn letter(self) -> u8 {
        b"RBYGPOK"[self as usize]
    }

    /// Returns the colour's name.
    pub const fn word(self) -> &'static str {
        ["red", "blue", "yellow", "green", "purple", "orange", "black"][self as usize]
    }

    pub(super) fn from_letter(letter: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|colour| colour.letter() == letter)
    }
}

/// A colour serializes as its letter.
impl Serialize for Colour {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_char(char::from(self.letter()))
    }
}

impl<'de> Deserialize<'de> for Colour {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let letter = char::deserialize(deserializer)?;
        let letter = u8::try_from(letter).ok().and_then(Self::from_letter);
        letter.ok_or_else(|| D::Error::custom("a colour is one of R B Y G P O K"))
    }
}

/// The kind of an acquire card (rule 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquire {
    /// A substitute for any asset, held in the hand.
    Wild,
    /// A card that makes one purchase free.
    Free,
    /// A card that shows the assets of one section.
    Reveal,
    /// A card that takes the purchase price from the pot.
    Dividend,
    /// A card that pays the risk into the pot as soon as it is drawn.
    Audit,
}

/// A card by its index.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsCard"))]
#[cfg_attr(feature = "schema", schemars(with = "alloc::string::String", extend("pattern" = "^([1-7][RBYGPOK][ab]|W([0-9]|1[0-3])|F[0-5]|V[0-3]|D[0-3]|X[01])$")))]
pub struct Card(u8);

impl Card {
    pub const fn from_index(index: u8) -> Option<Self> {
        if index < CARDS { Some(Self(index)) } else { None }
    }

    /// Returns the asset with this index: copy × 49 + colour × 7 + number − 1 (rule 1.2).
    pub const fn asset(index: u8) -> Option<Self> {
        if index < ASSETS { Some(Self(index)) } else { None }
    }

    /// Returns the acquire card with this index among the 30 (rule 1.3).
    pub const fn acquire(index: u8) -> Option<Self> {
        if index < ACQUIRES { Some(Self(ASSETS + index)) } else { None }
    }

    pub const fn index(self) -> u8 {
        self.0
    }

    pub const fn is_asset(self) -> bool {
        self.0 < ASSETS
    }

    /// Returns the number, 1 to 7; `None` for an acquire card.
    pub const fn number(self) -> Option<u8> {
        if self.is_asset() { Some(self.0 % NUMBERS + 1) } else { None }
    }

    pub const fn colour(self) -> Option<Colour> {
        if self.is_asset() { Some(Colour::ALL[(self.0 % TYPES / NUMBERS) as usize]) } else { None }
    }

    /// Returns the kind of an acquire card; `None` for an asset.
    pub const fn kind(self) -> Option<Acquire> {
        match self.0 {
            0..98 => None,
            98..112 => Some(Acquire::Wild),
            112..118 => Some(Acquire::Free),
            118..122 => Some(Acquire::Reveal),
            122..126 => Some(Acquire::Dividend),
            _ => Some(Acquire::Audit),
        }
    }

    pub const fn is_wild(self) -> bool {
        matches!(self.kind(), Some(Acquire::Wild))
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..CARDS).map(Self)
    }

    /// Returns the two or three letters of the notation.
    fn letters(self) -> ArrayVec<u8, 3> {
        if self.is_asset() {
            let colour = Colour::ALL[usize::from(self.0 % TYPES / NUMBERS)].letter();
            let copy = COPIES[usize::from(self.0 / TYPES)];
            return ArrayVec::from([b'1' + self.0 % NUMBERS, colour, copy]);
        }
        let mut place = self.0 - ASSETS;
        for (_, count, letter) in KINDS {
            if place < count {
                let tens = (place >= 10).then_some(b'1');
                return [letter].into_iter().chain(tens).chain([b'0' + place % 10]).collect();
            }
            place -= count;
        }
        unreachable!("the kinds add up to the acquire cards")
    }
}

card_text! {
    Card, "a card such as \"4Ra\" or \"W0\"";
    /// The error for a text that is not a card.
    pub struct ParseCardError = "not a card: an asset is number, colour RBYGPOK and copy ab, as in 4Ra; \
        an acquire card is its kind WFVDX and a number, as in W0";
}

impl FromStr for Card {
    type Err = ParseCardError;

    fn from_str(text: &str) -> Result<Self, ParseCardError> {
        if let &[number @ b'1'..=b'7', colour, copy @ (b'a' | b'b')] = text.as_bytes() {
            let colour = Colour::from_letter(colour).ok_or(ParseCardError)?.index();
            return Ok(Self((copy - b'a') * TYPES + colour * NUMBERS + (number - b'1')));
        }
        let (letter, place) = text.split_at_checked(1).ok_or(ParseCardError)?;
        let written: u8 = place.parse().map_err(|_| ParseCardError)?;
        let mut first = ASSETS;
        for (_, count, known) in KINDS {
            if letter.as_bytes() == [known] && written < count {
                let card = Self(first + written);
                // A card has exactly one notation: `W01` and `W+1` are invalid.
                let is_its = *card.letters() == *text.as_bytes();
                return is_its.then_some(card).ok_or(ParseCardError);
            }
            first += count;
        }
        Err(ParseCardError)
    }
}

card_set! {
    /// A set of cards.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsCards"))]
    #[cfg_attr(feature = "schema", schemars(with = "alloc::vec::Vec<Card>", extend("uniqueItems" = true, "maxItems" = 128)))]
    pub struct CardSet(u128) of Card;
}

const ASSET_BITS: u128 = (1 << ASSETS) - 1;
const TYPE_BITS: u128 = (1 << TYPES) - 1;
const WILD_BITS: u128 = kind_bits(Acquire::Wild);

impl CardSet {
    /// Returns the number of cards, in the type of public counts.
    pub const fn count(self) -> u8 {
        self.0.count_ones().to_le_bytes()[0]
    }

    /// Returns the assets of the set.
    #[must_use]
    pub const fn assets(self) -> Self {
        Self(self.0 & ASSET_BITS)
    }

    /// Returns the acquire cards of the set.
    #[must_use]
    pub const fn acquires(self) -> Self {
        Self(self.0 & !ASSET_BITS)
    }

    /// Returns the wilds of the set.
    #[must_use]
    pub const fn wilds(self) -> Self {
        Self(self.0 & WILD_BITS)
    }

    /// Returns the first card of this kind.
    pub const fn first_of(self, kind: Acquire) -> Option<Card> {
        Self(self.0 & kind_bits(kind)).first()
    }

    /// Returns the assets by copy, each as a mask with the bit colour × 7 + number − 1.
    pub const fn copies(self) -> (u64, u64) {
        let first = self.0 & TYPE_BITS;
        let second = self.0 >> TYPES & TYPE_BITS;
        (first as u64, second as u64)
    }
}

const fn kind_bits(kind: Acquire) -> u128 {
    let mut bits = 0;
    let mut index = ASSETS;
    while let Some(card) = Card::from_index(index) {
        if let Some(other) = card.kind()
            && other as u8 == kind as u8
        {
            bits |= 1 << index;
        }
        index += 1;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::{Acquire, Card, CardSet, Colour};
    use alloc::string::ToString;

    /// Rules 1.2 and 1.3.
    #[test]
    fn every_card_is_read_as_it_is_written() {
        for card in Card::all() {
            assert_eq!(card.to_string().parse(), Ok(card));
        }
        let card: Card = "4Ra".parse().unwrap();
        assert_eq!((card.index(), card.number(), card.colour()), (3, Some(4), Some(Colour::Red)));
        assert_eq!("7Kb".parse::<Card>().unwrap().index(), 97);
        assert_eq!("W13".parse::<Card>().unwrap().index(), 98 + 13);
        assert_eq!(Card::acquire(14).unwrap().to_string(), "F0");
        assert_eq!(Card::acquire(20).unwrap().to_string(), "V0");
        assert_eq!(Card::acquire(24).unwrap().to_string(), "D0");
        assert_eq!(Card::acquire(29).unwrap().to_string(), "X1");
        assert_eq!(Card::acquire(29).unwrap().kind(), Some(Acquire::Audit));
    }

    #[test]
    fn an_invalid_card_is_refused() {
        for text in
            ["", "4", "4R", "8Ra", "0Ra", "4Rc", "4ra", "W14", "W01", "W+1", "F6", "X2", "é"]
        {
            assert!(text.parse::<Card>().is_err(), "{text}");
        }
    }

    #[test]
    fn is_written_as_the_ascending_list_of_its_cards() {
        let set: CardSet = ["W0", "4Rb", "4Ra"].iter().map(|card| card.parse().unwrap()).collect();
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["4Ra","4Rb","W0"]"#);
        assert_eq!(serde_json::from_str::<CardSet>(r#"["W0","4Ra","4Rb"]"#).unwrap(), set);
        assert!(serde_json::from_str::<CardSet>(r#"["4Ra","4Ra"]"#).is_err());
    }

    #[test]
    fn a_set_knows_its_kinds() {
        let all: CardSet = Card::all().collect();
        assert_eq!((all.len(), all.assets().len(), all.wilds().len()), (128, 98, 14));
        assert_eq!(all.copies(), ((1 << 49) - 1, (1 << 49) - 1));
        let counts = [(Acquire::Free, "F0"), (Acquire::Reveal, "V0"), (Acquire::Dividend, "D0")];
        for (kind, first) in counts {
            assert_eq!(all.first_of(kind), first.parse().ok());
        }
        assert_eq!(all.first_of(Acquire::Audit), "X0".parse().ok());
    }
}
