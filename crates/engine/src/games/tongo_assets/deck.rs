//! A face-down deck: cards are taken from the top and put under the bottom. It is a fixed array,
//! because a game is copied at every action, with the capacity of the larger deck, that of the
//! assets.

use core::fmt;

use arrayvec::ArrayVec;
use serde::de::Deserializer;
use serde::{Deserialize, Serialize, Serializer};

use crate::games::tongo_assets::card::{ASSETS, Card};
use crate::games::tongo_assets::set::CardSet;

const MOST: usize = ASSETS as usize;

/// A deck of cards in order, serialized as their list from the top.
#[derive(Clone, Copy)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename = "TongoAssetsDeck", with = "alloc::vec::Vec<Card>")
)]
pub struct Deck {
    cards: [Card; MOST],
    /// The index of the top card in the ring buffer.
    top: u8,
    len: u8,
}

impl Deck {
    pub fn empty() -> Self {
        Self { cards: [Card::from_index(0).expect("there are cards"); MOST], top: 0, len: 0 }
    }

    pub const fn len(&self) -> u8 {
        self.len
    }

    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterates over the cards from the top.
    pub fn iter(&self) -> impl Iterator<Item = Card> {
        (0..self.len).map(|place| self.cards[self.place(place)])
    }

    /// Takes the top card.
    pub fn draw_card(&mut self) -> Option<Card> {
        let card = (self.len > 0).then(|| self.cards[usize::from(self.top)])?;
        self.top = if usize::from(self.top) + 1 == MOST { 0 } else { self.top + 1 };
        self.len -= 1;
        Some(card)
    }

    /// Puts cards under the deck in ascending order of index (rule 2.2).
    ///
    /// # Panics
    /// If the deck would hold more cards than exist.
    pub fn put_under(&mut self, cards: CardSet) {
        for card in cards.iter() {
            self.push(card);
        }
    }

    fn push(&mut self, card: Card) {
        assert!(usize::from(self.len) < MOST, "no more cards than the deck had");
        let place = self.place(self.len);
        self.cards[place] = card;
        self.len += 1;
    }

    fn place(&self, from_top: u8) -> usize {
        let place = usize::from(self.top) + usize::from(from_top);
        if place >= MOST { place - MOST } else { place }
    }
}

impl FromIterator<Card> for Deck {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        let mut deck = Self::empty();
        cards.into_iter().for_each(|card| deck.push(card));
        deck
    }
}

impl PartialEq for Deck {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Deck {}

impl fmt::Debug for Deck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Deck {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Deck {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(ArrayVec::<Card, MOST>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Deck;
    use crate::games::tongo_assets::card::Card;
    use crate::games::tongo_assets::set::CardSet;

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
