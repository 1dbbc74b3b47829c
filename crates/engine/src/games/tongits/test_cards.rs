//! Cards for the unit tests.

use alloc::vec::Vec;

use crate::cards::{Card, CardSet};

/// Reads cards that are separated by spaces.
pub(super) fn cards(text: &str) -> CardSet {
    text.split_whitespace().map(|card| card.parse().unwrap()).collect()
}

/// Returns every subset of the cards.
pub(super) fn subsets(cards: CardSet) -> Vec<CardSet> {
    let cards: Vec<Card> = cards.iter().collect();
    let chosen = |choice: u32| (0..).zip(&cards).filter(move |(bit, _)| choice >> bit & 1 == 1);
    (0..1_u32 << cards.len())
        .map(|choice| chosen(choice).map(|(_, card)| *card).collect())
        .collect()
}
