//! A pile of cards, used for the stock and the discards. Cards are listed from the bottom up, so
//! that the last one is the top.

#[cfg(feature = "schema")]
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::cards::Card;
use crate::games::list::List;

/// A pile of cards, serialized as a list with the top card last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Vec<Card>", extend("uniqueItems" = true)))]
pub struct Pile(List<Card, { Card::COUNT as usize }>);

impl Pile {
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
        Self(cards.into_iter().collect())
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
