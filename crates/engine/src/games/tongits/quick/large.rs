//! One larger network for all questions, with two hidden layers: for who plays on in imagined games
//! and has time. It is given what the small ones are, counts that are one of few, single cards, and
//! what the others are taken for.
//!
//! What comes out are the chance of a win and the counts that are won or lost, each by itself, so that
//! who asks says what a win is worth beside its counts. In integers, as the small ones are; the
//! weights were learned by `examples/tongits_train_large`.

#[cfg(any(test, feature = "testing"))]
use alloc::string::String;
#[cfg(any(test, feature = "testing"))]
use alloc::vec::Vec;

use crate::cards::{Card, CardSet};
#[cfg(any(test, feature = "testing"))]
use crate::games::tongits::quick::network::format_weights;
use crate::games::tongits::quick::network::{INPUTS, Inputs, parse_weights};
use crate::games::tongits::quick::suits::SuitPermutation;
#[cfg(any(test, feature = "testing"))]
use crate::games::tongits::quick::sums::unpair_rows;
use crate::games::tongits::quick::sums::{Pair, pair_rows, row, rows};

/// Counts that are one of few: the stock, the cards of the next seat, of the previous one and of the
/// own hand, and the question.
pub const CATEGORIES: usize = 5;

/// Where the values of each begin, and how many all have.
pub const CATEGORY_FROM: [usize; CATEGORIES + 1] = [0, 16, 30, 44, 58, 63];

/// Sets of cards: the hand, what of it is left over, what is unseen, what of that would make a meld
/// with the hand, what of that the table takes, and what was dumped.
pub const SETS: usize = 6;

/// Cards of a deck without jokers.
pub const CARDS: usize = Card::STANDARD_COUNT as usize;

pub const HIDDEN_1: usize = 128;
pub const HIDDEN_2: usize = 32;

/// The chance of a win, and the counts.
pub const OUTPUTS: usize = 2;

/// A weight is at most so much, so that no sum is too large for its 32 bits.
pub const WEIGHT_MAX: i16 = 8_191;

/// A weight of a card is at most so much, so that the sum of all cards of a set has 16 bits.
pub const CARD_WEIGHT_MAX: i16 = i16::MAX / (Card::STANDARD_COUNT as i16);

const CATEGORY_VALUES: usize = CATEGORY_FROM[CATEGORIES];

/// Where each part of the weights begins.
pub(super) const CATEGORY_WEIGHTS: usize = HIDDEN_1 * INPUTS;
pub(super) const CARD_WEIGHTS: usize = CATEGORY_WEIGHTS + CATEGORY_VALUES * HIDDEN_1;
pub(super) const BIAS_1: usize = CARD_WEIGHTS + SETS * CARDS * HIDDEN_1;
pub(super) const SECOND: usize = BIAS_1 + HIDDEN_1;
pub(super) const BIAS_2: usize = SECOND + HIDDEN_2 * HIDDEN_1;
pub(super) const LAST: usize = BIAS_2 + HIDDEN_2;
pub(super) const BIAS_3: usize = LAST + OUTPUTS * HIDDEN_2;

/// All weights: of each place of the first layer its inputs; of each value of the few and of each card
/// of each set what it adds to the first layer, and what is added to it; then the same of the second layer and of what comes out.
pub const LARGE_WEIGHTS: usize = BIAS_3 + OUTPUTS;

/// The weights as they are applied, which is not their order in a file: what all places of a layer hear
/// of the same numbers lies together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct LargeNetwork {
    /// Of each pair of inputs.
    pub(super) inputs: [[Pair; HIDDEN_1]; INPUTS / 2],
    /// Of each value of the few.
    pub(super) categories: [[i16; HIDDEN_1]; CATEGORY_VALUES],
    /// Of each card of each set.
    pub(super) cards: [[i16; HIDDEN_1]; SETS * CARDS],
    pub(super) bias_1: [i16; HIDDEN_1],
    /// Of each pair of places of the first layer.
    pub(super) second: [[Pair; HIDDEN_2]; HIDDEN_1 / 2],
    pub(super) bias_2: [i16; HIDDEN_2],
    /// Of each output.
    pub(super) last: [[i16; HIDDEN_2]; OUTPUTS],
    pub(super) bias_3: [i16; OUTPUTS],
}

/// What is known of a place in a game.
#[derive(Clone, Copy, Debug)]
pub struct NetworkPosition {
    pub inputs: Inputs,
    /// Values, each at its place among all.
    pub categories: [u8; CATEGORIES],
    pub sets: [CardSet; SETS],
}

impl LargeNetwork {
    /// From the text of a file of weights, when the program is compiled.
    ///
    /// # Panics
    /// When the text is no such file.
    pub const fn parse(text: &[u8]) -> Self {
        let weights: [i16; LARGE_WEIGHTS] = parse_weights(text);
        assert!(are_bounded(&weights), "a large weight");
        Self::from_array(&weights)
    }

    /// From all weights in the order of a file.
    const fn from_array(weights: &[i16; LARGE_WEIGHTS]) -> Self {
        Self {
            inputs: pair_rows(weights, 0, INPUTS),
            categories: rows(weights, CATEGORY_WEIGHTS),
            cards: rows(weights, CARD_WEIGHTS),
            bias_1: row(weights, BIAS_1),
            second: pair_rows(weights, SECOND, HIDDEN_1),
            bias_2: row(weights, BIAS_2),
            last: rows(weights, LAST),
            bias_3: row(weights, BIAS_3),
        }
    }
}

/// Whether no sum of these is too large.
const fn are_bounded(weights: &[i16; LARGE_WEIGHTS]) -> bool {
    let mut place = 0;
    while place < weights.len() {
        let is_card = CARD_WEIGHTS <= place && place < BIAS_1;
        let most = if is_card { CARD_WEIGHT_MAX } else { WEIGHT_MAX };
        if weights[place].unsigned_abs() > most.unsigned_abs() {
            return false;
        }
        place += 1;
    }
    true
}

impl NetworkPosition {
    /// No input, no card, and the first value of each of the few.
    pub(super) fn empty() -> Self {
        let [categories @ .., _] = CATEGORY_FROM.map(|from| u8::try_from(from).expect("few values"));
        Self { inputs: [0; INPUTS], categories, sets: [CardSet::EMPTY; SETS] }
    }

    /// The same place with the suits exchanged.
    pub fn permute_suits(&self, suits: SuitPermutation) -> Self {
        Self { sets: self.sets.map(|cards| suits.permute(cards)), ..*self }
    }
}

/// For who learns the weights.
#[cfg(any(test, feature = "testing"))]
impl LargeNetwork {
    /// From all weights in their order; `None` when there are too many or too few, or one is too
    /// large.
    pub fn from_weights(weights: &[i16]) -> Option<Self> {
        weights.try_into().ok().filter(are_bounded).map(|weights| Self::from_array(&weights))
    }

    /// A network that says nothing.
    pub const fn zero() -> Self {
        Self::from_array(&[0; LARGE_WEIGHTS])
    }

    /// All weights in their order.
    pub fn weights(&self) -> Vec<i16> {
        let mut weights = unpair_rows(&self.inputs);
        weights.extend(self.categories.as_flattened());
        weights.extend(self.cards.as_flattened());
        weights.extend(self.bias_1);
        weights.extend(unpair_rows(&self.second));
        weights.extend(self.bias_2);
        weights.extend(self.last.as_flattened());
        weights.extend(self.bias_3);
        weights
    }

    /// The text of a file of weights.
    pub fn to_text(&self) -> String {
        format_weights(&self.weights())
    }
}

#[cfg(test)]
mod tests {
    use super::{CARD_WEIGHT_MAX, LARGE_WEIGHTS, LargeNetwork, CARD_WEIGHTS, WEIGHT_MAX};
    use crate::games::tongits::quick::LARGE;
    use crate::games::tongits::quick::network::parse_weights;

    #[test]
    fn weights_read_as_they_are_written() {
        let read: [&[u8]; 2] =
            [include_bytes!("../large_1.weights"), include_bytes!("../large_2.weights")];
        for (large, text) in LARGE.iter().zip(read) {
            assert_eq!(large.to_text().as_bytes(), text);
            let all: [i16; LARGE_WEIGHTS] = parse_weights(text);
            assert_eq!(large.weights(), all);
            assert_eq!(LargeNetwork::from_weights(&all), Some(large.clone()));
            assert_eq!(LargeNetwork::from_weights(&all[1..]), None);
        }
        assert_eq!(LargeNetwork::from_weights(&[i16::MAX; LARGE_WEIGHTS]), None);
        let mut weights = [0; LARGE_WEIGHTS];
        weights[CARD_WEIGHTS - 1] = WEIGHT_MAX;
        assert!(LargeNetwork::from_weights(&weights).is_some());
        weights[CARD_WEIGHTS] = CARD_WEIGHT_MAX + 1;
        assert_eq!(LargeNetwork::from_weights(&weights), None, "the sum of a set's cards may be too large");
    }
}
