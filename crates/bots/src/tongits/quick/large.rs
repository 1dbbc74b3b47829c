//! A larger network with two hidden layers for all kinds of decisions, for the search, which has
//! more time. Beyond the inputs of the small networks it takes one-hot encoded counts, individual
//! cards, and the skills ascribed to the opponents.
//!
//! Its outputs are the probability of a win and the counts won or lost, so that the caller decides
//! on the value of a win beyond its counts. The arithmetic is in integers, as that of the small
//! networks; `examples/tongits_train_large` trains the weights.

use crate::tongits::quick::inputs::{INPUTS, Inputs, SETS};
use crate::tongits::quick::network::parse_weights;
use crate::tongits::quick::suits::SuitPermutation;
use crate::tongits::quick::sums::{Pair, pair_rows, row, rows};
use bahay_engine::cards::{Card, CardSet};

/// The number of categorical inputs, each one-hot encoded: the stock, the hand sizes of the next
/// seat, of the previous seat and of the seat itself, and the kind of decision.
pub const CATEGORIES: usize = 5;

/// The offset of each category's values, and the total number of values.
pub const CATEGORY_FROM: [usize; CATEGORIES + 1] = [0, 16, 30, 44, 58, 63];

/// The number of cards in a deck without jokers.
pub const CARDS: usize = Card::STANDARD_COUNT as usize;

pub const HIDDEN_1: usize = 128;
pub const HIDDEN_2: usize = 32;

/// The number of outputs: the probability of a win, and the counts.
pub const OUTPUTS: usize = 2;

/// The maximum magnitude of a weight, with which no sum overflows 32 bits.
pub const WEIGHT_MAX: i16 = 8_191;

/// The maximum magnitude of a card's weight, with which the sum over a set fits 16 bits.
pub const CARD_WEIGHT_MAX: i16 = i16::MAX / (Card::STANDARD_COUNT as i16);

const CATEGORY_VALUES: usize = CATEGORY_FROM[CATEGORIES];

/// The offset of each part of the weights.
pub(super) const CATEGORY_WEIGHTS: usize = HIDDEN_1 * INPUTS;
pub(super) const CARD_WEIGHTS: usize = CATEGORY_WEIGHTS + CATEGORY_VALUES * HIDDEN_1;
pub(super) const BIAS_1: usize = CARD_WEIGHTS + SETS * CARDS * HIDDEN_1;
pub(super) const SECOND: usize = BIAS_1 + HIDDEN_1;
pub(super) const BIAS_2: usize = SECOND + HIDDEN_2 * HIDDEN_1;
pub(super) const LAST: usize = BIAS_2 + HIDDEN_2;
pub(super) const BIAS_3: usize = LAST + OUTPUTS * HIDDEN_2;

/// The number of weights. Their order is: for each unit of the first layer the weights of its
/// inputs; for each value of a category and for each card of a set the weights to the first layer;
/// the biases of the first layer; then the weights and biases of the second layer and of the
/// outputs.
pub const LARGE_WEIGHTS: usize = BIAS_3 + OUTPUTS;

/// The weights in the order of evaluation, which differs from that of a file: the weights from one
/// input to all units of a layer are contiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct LargeNetwork {
    /// By pair of inputs.
    pub(super) inputs: [[Pair; HIDDEN_1]; INPUTS / 2],
    /// By value of a category.
    pub(super) categories: [[i16; HIDDEN_1]; CATEGORY_VALUES],
    /// By card of each set.
    pub(super) cards: [[i16; HIDDEN_1]; SETS * CARDS],
    pub(super) bias_1: [i16; HIDDEN_1],
    /// By pair of units of the first layer.
    pub(super) second: [[Pair; HIDDEN_2]; HIDDEN_1 / 2],
    pub(super) bias_2: [i16; HIDDEN_2],
    /// By output.
    pub(super) last: [[i16; HIDDEN_2]; OUTPUTS],
    pub(super) bias_3: [i16; OUTPUTS],
}

/// The encoding of a position for the network.
#[derive(Clone, Copy, Debug)]
pub struct NetworkPosition {
    pub inputs: Inputs,
    /// The value of each category, as an index among all values.
    pub categories: [u8; CATEGORIES],
    pub sets: [CardSet; SETS],
}

impl LargeNetwork {
    /// Parses a file of weights at compile time.
    ///
    /// # Panics
    ///
    /// Panics if the text is not a valid file of weights.
    pub const fn parse(text: &[u8]) -> Self {
        let weights: [i16; LARGE_WEIGHTS] = parse_weights(text);
        assert!(are_bounded(&weights), "a weight is out of bounds");
        Self::from_array(&weights)
    }

    /// Creates a network from its weights in file order.
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

/// Returns whether the weights are small enough that no sum overflows.
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
    /// Creates the position without inputs and cards, with the first value of each category.
    pub(super) fn empty() -> Self {
        let [categories @ .., _] =
            CATEGORY_FROM.map(|from| u8::try_from(from).expect("a category index fits a byte"));
        Self { inputs: [0; INPUTS], categories, sets: [CardSet::EMPTY; SETS] }
    }

    /// Returns the position with its suits permuted.
    pub fn permute_suits(&self, suits: SuitPermutation) -> Self {
        Self { sets: self.sets.map(|cards| suits.permute(cards)), ..*self }
    }
}

/// Functions for training.
#[cfg(any(test, feature = "testing"))]
impl LargeNetwork {
    /// Creates a network from its weights in file order; `None` if their number is wrong or one is
    /// too large.
    pub fn from_weights(weights: &[i16]) -> Option<Self> {
        weights.try_into().ok().filter(are_bounded).map(|weights| Self::from_array(&weights))
    }

    /// Creates a network whose outputs are zero.
    pub const fn zero() -> Self {
        Self::from_array(&[0; LARGE_WEIGHTS])
    }

    /// Returns the weights in file order.
    pub fn weights(&self) -> alloc::vec::Vec<i16> {
        use crate::tongits::quick::sums::unpair_rows;
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

    /// Returns the text of a file of weights.
    pub fn to_text(&self) -> alloc::string::String {
        crate::tongits::quick::network::format_weights(&self.weights())
    }
}

#[cfg(test)]
mod tests {
    use super::{CARD_WEIGHT_MAX, CARD_WEIGHTS, LARGE_WEIGHTS, LargeNetwork, WEIGHT_MAX};
    use crate::tongits::quick::LARGE;
    use crate::tongits::quick::network::parse_weights;

    #[test]
    fn weights_round_trip_through_text() {
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
        assert_eq!(LargeNetwork::from_weights(&weights), None, "the sum may overflow");
    }
}
