//! A pile of cards, used for the stock and the discards. Cards are listed from the bottom up, so
//! that the last one is the top.

use alloc::vec::Vec;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::cards::{Card, Rank, Suit};
use crate::games::list::List;

/// The capacity: all cards of the deck.
const CAPACITY: usize = Card::COUNT as usize;

/// A pile of cards, serialized as a list with the top card last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Vec<Card>", extend("uniqueItems" = true)))]
pub struct Pile(List<Card, CAPACITY>);

impl Pile {
    pub const EMPTY: Self = Self(List::filled_with(Card::new(Rank::ACE, Suit::Clubs)));

    /// Returns the cards from the bottom up.
    pub fn cards(&self) -> &[Card] {
        &self.0
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn top(&self) -> Option<Card> {
        self.0.last().copied()
    }

    /// Adds a card on top.
    ///
    /// # Panics
    ///
    /// Panics if the pile already holds a whole deck, which means that a card occurs twice.
    pub fn push(&mut self, card: Card) {
        self.0.push(card);
    }

    pub fn pop(&mut self) -> Option<Card> {
        self.0.pop()
    }
}

impl FromIterator<Card> for Pile {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        let mut pile = Self::EMPTY;
        cards.into_iter().for_each(|card| pile.push(card));
        pile
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
