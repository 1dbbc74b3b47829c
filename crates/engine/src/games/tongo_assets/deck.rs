//! A face-down deck: cards are taken from the top and put under the bottom. Its capacity is that of
//! the larger deck, that of the assets.

use serde::{Deserialize, Serialize};

use crate::games::list::List;
use crate::games::tongo_assets::card::{ASSETS, Card, CardSet};

/// A deck of cards in order, serialized as their list from the top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename = "TongoAssetsDeck", with = "alloc::vec::Vec<Card>")
)]
pub struct Deck(List<Card, { ASSETS as usize }>);

impl Deck {
    pub fn len(&self) -> u8 {
        self.0.len().to_le_bytes()[0]
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the cards from the top.
    pub fn iter(&self) -> impl Iterator<Item = Card> {
        self.0.iter().copied()
    }

    /// Takes the top card.
    pub fn draw_card(&mut self) -> Option<Card> {
        let card = *self.0.first()?;
        self.0.drop_first(1);
        Some(card)
    }

    /// Puts cards under the deck in ascending order of index (rule 2.2).
    ///
    /// # Panics
    /// If the deck would hold more cards than exist.
    pub fn put_under(&mut self, cards: CardSet) {
        cards.iter().for_each(|card| self.0.push(card));
    }
}

impl FromIterator<Card> for Deck {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        Self(cards.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Deck;
    use crate::games::tongo_assets::card::{Card, CardSet};

    #[test]
    fn cards_put_under_come_last_by_index() {
        let mut deck: Deck = Card::all().take(98).collect();
        let taken: CardSet = (0..5).filter_map(|_| deck.draw_card()).collect();
        assert_eq!(taken.len(), 5);
        deck.put_under(taken);
        let order: alloc::vec::Vec<u8> = deck.iter().map(Card::index).collect();
        assert_eq!((order[0], order[92], order[93], order[97]), (5, 97, 0, 4));
        assert_eq!(
            serde_json::from_str::<Deck>(&serde_json::to_string(&deck).unwrap()).unwrap(),
            deck
        );
    }
}
