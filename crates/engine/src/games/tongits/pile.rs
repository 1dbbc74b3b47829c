//! A pile of cards in a fixed array, so that copying a game neither iterates nor allocates; used
//! for the stock and the discards. Cards are listed from the bottom up, so that the last one is the
//! top.

use core::fmt;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use alloc::vec::Vec;

use crate::cards::{Card, Rank, Suit};

/// The capacity: all cards of the deck.
const CAPACITY: usize = Card::COUNT as usize;

/// A pile of cards, serialized as a list with the top card last.
#[derive(Clone, Copy)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Vec<Card>", extend("uniqueItems" = true)))]
pub struct Pile {
    /// The cards; entries from `len` on are unused.
    cards: [Card; CAPACITY],
    len: u8,
}

impl Pile {
    pub const EMPTY: Self = Self { cards: [Card::new(Rank::ACE, Suit::Clubs); CAPACITY], len: 0 };

    /// Returns the cards from the bottom up.
    pub fn cards(&self) -> &[Card] {
        self.cards.get(..self.len()).unwrap_or_default()
    }

    pub const fn len(&self) -> usize {
        self.len as usize
    }

    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn top(&self) -> Option<Card> {
        self.cards().last().copied()
    }

    /// Adds a card on top.
    ///
    /// # Panics
    ///
    /// Panics if the pile already holds a whole deck, which means that a card occurs twice.
    pub fn push(&mut self, card: Card) {
        let place = self.cards.get_mut(usize::from(self.len));
        *place.expect("a pile holds no card twice") = card;
        self.len += 1;
    }

    pub fn pop(&mut self) -> Option<Card> {
        let top = self.top()?;
        self.len -= 1;
        Some(top)
    }
}

impl FromIterator<Card> for Pile {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        let mut pile = Self::EMPTY;
        cards.into_iter().for_each(|card| pile.push(card));
        pile
    }
}

impl PartialEq for Pile {
    fn eq(&self, other: &Self) -> bool {
        self.cards() == other.cards()
    }
}

impl Eq for Pile {}

impl fmt::Debug for Pile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.cards()).finish()
    }
}

impl Serialize for Pile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.cards())
    }
}

impl<'de> Deserialize<'de> for Pile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cards = Vec::<Card>::deserialize(deserializer)?;
        if cards.len() > CAPACITY {
            return Err(D::Error::custom("a pile has no more cards than the deck"));
        }
        Ok(cards.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Pile;
    use crate::cards::Card;
    use alloc::string::ToString;

    #[test]
    fn the_last_card_laid_is_the_first_taken() {
        let mut pile: Pile = Card::all().take(2).collect();
        assert_eq!(serde_json::to_string(&pile).unwrap(), r#"["AC","2C"]"#);
        let taken = pile.pop().unwrap();
        assert_eq!(taken.to_string(), "2C");
        assert_ne!(pile, Card::all().take(2).collect());
        pile.push(taken);
        assert_eq!(pile, serde_json::from_str(r#"["AC","2C"]"#).unwrap());
    }
}
