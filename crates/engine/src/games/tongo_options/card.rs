//! A card of either deck as a number: suit × 12 + number − 1, with the suits in the order D H S C
//! (rule 1.2); and sets of cards as bit masks. The notation is number then suit: `AD`, `TS`, `KC`.

use core::str::FromStr;

/// The number of numbers in a suit, from the ace to the king.
pub const NUMBERS: u8 = 12;

const NUMBER_LETTERS: &[u8; NUMBERS as usize] = b"A23456789TJK";
const SUIT_LETTERS: &[u8; 4] = b"DHSC";

/// A suit, in descending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suit {
    Diamonds,
    Hearts,
    Spades,
    Clubs,
}

impl Suit {
    pub const ALL: [Self; 4] = [Self::Diamonds, Self::Hearts, Self::Spades, Self::Clubs];

    pub const fn index(self) -> u8 {
        self as u8
    }
}

/// One of the 48 cards of the player deck or of the options deck.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoOptionsCard"))]
#[cfg_attr(feature = "schema", schemars(with = "alloc::string::String", extend("pattern" = "^[A2-9TJK][DHSC]$")))]
pub struct Card(u8);

impl Card {
    /// The number of cards of a deck.
    pub const COUNT: u8 = 4 * NUMBERS;

    /// Returns the card with this index; `None` if there is no such card.
    pub const fn from_index(index: u8) -> Option<Self> {
        if index < Self::COUNT { Some(Self(index)) } else { None }
    }

    /// Returns the card with this number and suit; `None` for a number that is not from 1 to 12.
    pub const fn new(number: u8, suit: Suit) -> Option<Self> {
        if number == 0 || number > NUMBERS {
            return None;
        }
        Some(Self(suit.index() * NUMBERS + number - 1))
    }

    pub const fn index(self) -> u8 {
        self.0
    }

    /// Returns the number, from 1 for the ace to 12 for the king.
    pub const fn number(self) -> u8 {
        self.0 % NUMBERS + 1
    }

    pub const fn suit(self) -> Suit {
        Suit::ALL[(self.0 / NUMBERS) as usize]
    }

    /// Returns every card of a deck in ascending order of index.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    fn letters(self) -> [u8; 2] {
        let number = NUMBER_LETTERS[usize::from(self.number() - 1)];
        [number, SUIT_LETTERS[usize::from(self.suit().index())]]
    }
}

card_text! {
    Card, "a card such as \"AD\"";
    /// The error for a text that is not a card in the notation of rule 1.2.
    pub struct ParseCardError =
        "not a card: write number A23456789TJK then suit DHSC, as in AD or TS";
}

impl FromStr for Card {
    type Err = ParseCardError;

    fn from_str(text: &str) -> Result<Self, ParseCardError> {
        let &[number, suit] = text.as_bytes() else { return Err(ParseCardError) };
        let place = |letters: &[u8], letter: u8| {
            (0u8..).zip(letters).find(|(_, known)| **known == letter).map(|(place, _)| place)
        };
        match (place(NUMBER_LETTERS, number), place(SUIT_LETTERS, suit)) {
            (Some(number), Some(suit)) => Ok(Self(suit * NUMBERS + number)),
            (None, _) | (_, None) => Err(ParseCardError),
        }
    }
}

/// The 48 bits of all cards.
const ALL_BITS: u64 = (1 << Card::COUNT) - 1;

card_set! {
    /// A set of cards of one deck, serialized as the list of its cards in ascending order of index.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsCardSet"))]
    #[cfg_attr(feature = "schema", schemars(with = "alloc::vec::Vec<Card>", extend("uniqueItems" = true)))]
    pub struct CardSet(u64) of Card;
}

impl CardSet {
    /// The set of a whole deck.
    pub const ALL: Self = Self(ALL_BITS);

    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns the mask of the numbers of the cards, with bit 0 for number 1.
    pub const fn numbers(self) -> u64 {
        let both = self.0 | self.0 >> (2 * NUMBERS);
        (both | both >> NUMBERS) & ((1 << NUMBERS) - 1)
    }

    /// Returns the mask of the suits of the cards with this number, from clubs as bit 0 to diamonds
    /// as bit 3, so that the highest bit is the highest suit.
    pub fn suits_of(self, number: u8) -> u8 {
        let bits = self.0 >> (number - 1);
        let suit = |place: u8| (bits >> (place * NUMBERS) & 1).to_le_bytes()[0];
        suit(0) << 3 | suit(1) << 2 | suit(2) << 1 | suit(3)
    }
}

#[cfg(test)]
mod tests {
    use super::{Card, CardSet, ParseCardError, Suit};
    use alloc::string::ToString;

    #[test]
    fn notation_and_index_agree_for_every_card() {
        for card in Card::all() {
            assert_eq!(card.to_string().parse(), Ok(card));
            assert_eq!(Card::new(card.number(), card.suit()), Some(card));
        }
        assert_eq!("AD".parse::<Card>().unwrap().index(), 0);
        assert_eq!("KC".parse::<Card>().unwrap().index(), 47);
        assert_eq!(Card::new(11, Suit::Hearts).unwrap().to_string(), "JH");
    }

    #[test]
    fn refuses_an_invalid_card() {
        for text in ["", "A", "DA", "10D", "1D", "QD", "ad", "X1", "AX"] {
            assert_eq!(text.parse::<Card>(), Err(ParseCardError), "{text}");
        }
        assert!(serde_json::from_str::<CardSet>(r#"["AD","AD"]"#).is_err());
    }

    #[test]
    fn a_higher_suit_is_a_higher_bit() {
        let set: CardSet =
            ["7D", "7C", "8H"].map(|card| card.parse().unwrap()).into_iter().collect();
        assert_eq!((set.suits_of(7), set.suits_of(8), set.suits_of(9)), (0b1001, 0b0100, 0));
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["7D","8H","7C"]"#);
    }
}
