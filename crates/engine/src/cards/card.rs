//! One card as a number: suit × 13 + rank, with the suits in the order C D H S and the ace as 0
//! (rule 1.12).
//!
//! The notation is rank then suit: `AS`, `TD`, `7H`. The two jokers follow as 52 and 53: `X1`,
//! `X2`.

use core::str::FromStr;

/// The number of ranks in a suit.
pub(crate) const RANKS: u8 = 13;

const RANK_LETTERS: &[u8; 13] = b"A23456789TJQK";
const SUIT_LETTERS: &[u8; 4] = b"CDHS";

/// The letter in place of a joker's rank; the joker's number follows, from 1.
const JOKER_LETTER: u8 = b'X';

/// A rank from ace (0) to king (12); the ace is low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u8);

impl Rank {
    pub const ACE: Self = Self(0);
    pub const KING: Self = Self(12);

    pub const fn index(self) -> u8 {
        self.0
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..RANKS).map(Self)
    }
}

/// A suit, in the order of the card numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suit {
    Clubs,
    Diamonds,
    Hearts,
    Spades,
}

impl Suit {
    pub const ALL: [Self; 4] = [Self::Clubs, Self::Diamonds, Self::Hearts, Self::Spades];

    pub const fn index(self) -> u8 {
        self as u8
    }
}

/// One of the 52 cards of a standard deck, or one of two jokers, which have no rank and no suit.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "alloc::string::String", extend("pattern" = "^([A2-9TJQK][CDHS]|X[12])$")))]
pub struct Card(u8);

impl Card {
    /// The number of all cards.
    pub const COUNT: u8 = 54;

    /// The number of cards of a deck without jokers, which have the lowest indices.
    pub const STANDARD_COUNT: u8 = 52;

    /// Returns the card with this index; `None` if there is no such card.
    pub const fn from_index(index: u8) -> Option<Self> {
        if index < Self::COUNT { Some(Self(index)) } else { None }
    }

    pub const fn new(rank: Rank, suit: Suit) -> Self {
        Self(suit.index() * RANKS + rank.0)
    }

    pub const fn index(self) -> u8 {
        self.0
    }

    pub const fn is_joker(self) -> bool {
        self.0 >= Self::STANDARD_COUNT
    }

    /// Returns the rank; `None` for a joker.
    pub const fn rank(self) -> Option<Rank> {
        if self.is_joker() { None } else { Some(Rank(self.0 % RANKS)) }
    }

    /// Returns the suit; `None` for a joker.
    pub const fn suit(self) -> Option<Suit> {
        if self.is_joker() { None } else { Some(Suit::ALL[(self.0 / RANKS) as usize]) }
    }

    /// Returns every card in ascending order of index, the jokers last.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    fn letters(self) -> [u8; 2] {
        if self.is_joker() {
            return [JOKER_LETTER, b'1' + self.0 - Self::STANDARD_COUNT];
        }
        [RANK_LETTERS[usize::from(self.0 % RANKS)], SUIT_LETTERS[usize::from(self.0 / RANKS)]]
    }
}

card_text! {
    Card, "a card such as \"AS\"";
    /// The error for a text that is not a card in the notation of rule 1.12.
    pub struct ParseCardError =
        "not a card: write rank A23456789TJQK then suit CDHS, as in AS or TD; jokers are X1, X2";
}

impl FromStr for Card {
    type Err = ParseCardError;

    fn from_str(text: &str) -> Result<Self, ParseCardError> {
        let &[rank, suit] = text.as_bytes() else { return Err(ParseCardError) };
        if rank == JOKER_LETTER {
            let number = suit.checked_sub(b'1').ok_or(ParseCardError)?;
            let index = number.checked_add(Self::STANDARD_COUNT).ok_or(ParseCardError)?;
            return Self::from_index(index).ok_or(ParseCardError);
        }
        let place = |letters: &[u8], letter: u8| {
            (0u8..).zip(letters).find(|(_, known)| **known == letter).map(|(place, _)| place)
        };
        match (place(RANK_LETTERS, rank), place(SUIT_LETTERS, suit)) {
            (Some(rank), Some(suit)) => Ok(Self(suit * RANKS + rank)),
            (None, _) | (_, None) => Err(ParseCardError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Card, ParseCardError, Rank, Suit};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    #[test]
    fn notation_and_index_agree_for_every_card() {
        for card in Card::all() {
            assert_eq!(card.to_string().parse(), Ok(card));
            if let (Some(rank), Some(suit)) = (card.rank(), card.suit()) {
                assert_eq!(Card::new(rank, suit), card);
            }
        }
        assert_eq!("AC".parse::<Card>().unwrap().index(), 0);
        assert_eq!("KS".parse::<Card>().unwrap().index(), 51);
        assert_eq!(Card::new(Rank::KING, Suit::Diamonds).to_string(), "KD");
    }

    /// Rules 1.12 and 11.1.
    #[test]
    fn the_jokers_come_last_and_have_neither_rank_nor_suit() {
        let jokers: Vec<Card> = Card::all().filter(|card| card.is_joker()).collect();
        let texts: Vec<String> = jokers.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["X1", "X2"]);
        for (card, index) in jokers.iter().zip([52, 53]) {
            assert_eq!((card.index(), card.rank(), card.suit()), (index, None, None));
        }
    }

    #[test]
    fn refuses_an_invalid_card() {
        for text in ["", "A", "SA", "10S", "1S", "AX", "as", "A♠", "X0", "X3", "XX", "X", "1X"] {
            assert_eq!(text.parse::<Card>(), Err(ParseCardError), "{text}");
        }
        assert!(serde_json::from_str::<Card>("12").is_err());
    }
}
