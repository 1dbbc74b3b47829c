//! Incremental evaluation of a large network. Successive positions differ little, so the sums of
//! the first layer are kept and only the differences applied. Integer addition is exact, so that
//! the result does not depend on the preceding positions.
//!
//! The arithmetic uses SIMD instructions that every supported processor has.

use arrayvec::ArrayVec;
use wide::{i16x8, i16x16, i32x8};

use bahay_engine::cards::Card;

use crate::tongits::quick::inputs::{INPUTS, SETS};
use crate::tongits::quick::large::{
    CARDS, HIDDEN_1, HIDDEN_2, LargeNetwork, NetworkPosition, OUTPUTS,
};
use crate::tongits::quick::sums::{
    LANES, ONE, ONE_BITS, activate, add_products, add_weights, splat_pair,
};

/// The upper bound of the hidden layers: 15.
const HIDDEN_MAX: i16 = 15 * ONE;

/// The number of vectors of first-layer sums that are processed together; they fit into registers
/// beside a weight.
const TOGETHER: usize = 4;

/// A network with the first-layer sums of the last position.
#[derive(Clone, Debug)]
pub struct Accumulator<'a> {
    network: &'a LargeNetwork,
    position: NetworkPosition,
    /// The first-layer sums of that position.
    sums: [i32x8; HIDDEN_1 / LANES],
}

/// Indices of rows of card weights.
type Rows = ArrayVec<usize, { SETS * CARDS }>;

impl<'a> Accumulator<'a> {
    /// Creates an accumulator for the empty position.
    pub(super) fn new(network: &'a LargeNetwork) -> Self {
        let position = NetworkPosition::empty();
        let mut sums = [i32x8::ZERO; HIDDEN_1 / LANES];
        add_weights(&mut sums, &network.bias_1);
        for value in position.categories {
            add_weights(&mut sums, &network.categories[usize::from(value)]);
        }
        Self { network, position, sums }
    }

    pub(super) const fn network(&self) -> &'a LargeNetwork {
        self.network
    }

    /// Returns the probability of a win and the counts, four of which are one, in units of 1 /
    /// ([`WEIGHT_ONE`](crate::tongits::quick::sums::WEIGHT_ONE) × [`ONE`]).
    pub(super) fn outputs(&mut self, position: &NetworkPosition) -> [i64; OUTPUTS] {
        self.update_categories(position);
        self.update_cards(position);
        self.update_inputs(position);
        self.position = *position;
        let second = self.second_layer();
        let mut outputs = [0; OUTPUTS];
        let rows = self.network.last.iter().zip(&self.network.bias_3);
        for (output, (row, bias)) in outputs.iter_mut().zip(rows) {
            let products = row.as_chunks().0.iter().zip(second);
            let sum: i32 =
                products.map(|(weights, value)| i16x8::new(*weights).dot(value).reduce_add()).sum();
            *output = i64::from(*bias) * i64::from(ONE) + i64::from(sum);
        }
        outputs
    }

    fn update_categories(&mut self, position: &NetworkPosition) {
        for (old, new) in self.position.categories.iter().zip(position.categories) {
            if *old != new {
                let rows = [new, *old].map(|value| &self.network.categories[usize::from(value)]);
                // The difference of two weights fits 16 bits.
                let mut difference = *rows[0];
                for (weight, old) in difference.iter_mut().zip(rows[1]) {
                    *weight -= *old;
                }
                add_weights(&mut self.sums, &difference);
            }
        }
    }

    fn update_cards(&mut self, position: &NetworkPosition) {
        let mut added = Rows::new();
        let mut removed = Rows::new();
        let sets = self.position.sets.iter().zip(position.sets);
        for (from, (old, new)) in (0..).step_by(CARDS).zip(sets) {
            let row = |card: Card| from + usize::from(card.index());
            added.extend(new.difference(*old).iter().map(row));
            removed.extend(old.difference(new).iter().map(row));
        }
        // Each chunk sums at most as many weights as a deck has cards, which fits 16 bits.
        let mut added = added.chunks(CARDS / 2);
        let mut removed = removed.chunks(CARDS / 2);
        loop {
            let added = added.next();
            let removed = removed.next();
            if added.is_none() && removed.is_none() {
                return;
            }
            let added = added.unwrap_or_default();
            let removed = removed.unwrap_or_default();
            let row = |row: &usize, part: usize| {
                let (row, _) = self.network.cards[*row].as_chunks::<LANES>();
                let part: [[i16; LANES]; TOGETHER] = core::array::from_fn(|at| row[part + at]);
                part.map(i16x8::new)
            };
            for part in (0..HIDDEN_1 / LANES).step_by(TOGETHER) {
                let mut sums = [i16x8::ZERO; TOGETHER];
                for added in added {
                    let rows = sums.iter_mut().zip(row(added, part));
                    rows.for_each(|(sum, weights)| *sum += weights);
                }
                for removed in removed {
                    let rows = sums.iter_mut().zip(row(removed, part));
                    rows.for_each(|(sum, weights)| *sum -= weights);
                }
                for (sum, cards) in self.sums[part..].iter_mut().zip(sums) {
                    *sum += i32x8::from_i16x8(cards) << ONE_BITS;
                }
            }
        }
    }

    fn update_inputs(&mut self, position: &NetworkPosition) {
        let mut new: ArrayVec<(usize, i16x16), { INPUTS / 2 }> = ArrayVec::new();
        let olds = self.position.inputs.as_chunks::<2>().0;
        let news = position.inputs.as_chunks::<2>().0;
        for (pair, (old, [a, b])) in olds.iter().zip(news).enumerate() {
            if old != &[*a, *b] {
                new.push((pair, splat_pair([a - old[0], b - old[1]])));
            }
        }
        for part in (0..HIDDEN_1 / LANES).step_by(TOGETHER) {
            let mut sums: [i32x8; TOGETHER] = core::array::from_fn(|at| self.sums[part + at]);
            for (pair, more) in &new {
                let (rows, _) = self.network.inputs[*pair].as_flattened().as_chunks();
                for (sum, weights) in sums.iter_mut().zip(&rows[part..part + TOGETHER]) {
                    *sum += i16x16::new(*weights).dot(*more);
                }
            }
            self.sums[part..part + TOGETHER].copy_from_slice(&sums);
        }
    }

    fn second_layer(&self) -> [i16x8; HIDDEN_2 / LANES] {
        let mut sums = [i32x8::ZERO; HIDDEN_2 / LANES];
        add_weights(&mut sums, &self.network.bias_2);
        let first = self.sums.map(|sums| activate(sums, HIDDEN_MAX).to_array());
        for (pair, weights) in first.as_flattened().as_chunks().0.iter().zip(&self.network.second) {
            if *pair != [0; 2] {
                add_products(&mut sums, weights, *pair);
            }
        }
        sums.map(|sums| activate(sums, HIDDEN_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::{Accumulator, CARDS, HIDDEN_1, HIDDEN_2, HIDDEN_MAX, INPUTS, OUTPUTS, SETS};
    use crate::tongits::quick::LARGE;
    use crate::tongits::quick::large::{
        BIAS_1, BIAS_2, BIAS_3, CARD_WEIGHT_MAX, CARD_WEIGHTS, CATEGORIES, CATEGORY_FROM,
        CATEGORY_WEIGHTS, LARGE_WEIGHTS, LAST, LargeNetwork, NetworkPosition, SECOND, WEIGHT_MAX,
    };
    use crate::tongits::quick::sums::{ONE, WEIGHT_ONE};
    use alloc::vec::Vec;
    use bahay_engine::cards::CardSet;
    use bahay_engine::chance::ChanceRng;

    /// Returns the outputs of a network computed with scalar arithmetic from the weights in file
    /// order.
    fn reference_outputs(weights: &[i16], position: &NetworkPosition) -> [i64; OUTPUTS] {
        let weight = |at: usize| i64::from(weights[at]);
        let one = i64::from(ONE);
        let hidden = |sum: i64| (sum / i64::from(WEIGHT_ONE)).clamp(0, i64::from(HIDDEN_MAX));
        let first: Vec<i64> = (0..HIDDEN_1)
            .map(|unit| {
                let categories = position
                    .categories
                    .iter()
                    .map(|value| CATEGORY_WEIGHTS + usize::from(*value) * HIDDEN_1);
                let cards = position.sets.iter().enumerate().flat_map(|(set, cards)| {
                    let row = move |card| set * CARDS + card;
                    cards
                        .iter()
                        .map(move |card| CARD_WEIGHTS + row(usize::from(card.index())) * HIDDEN_1)
                });
                let bias: i64 = categories.chain(cards).map(|row| weight(row + unit)).sum();
                let inputs = position.inputs.iter().enumerate();
                let products: i64 =
                    inputs.map(|(at, input)| weight(unit * INPUTS + at) * i64::from(*input)).sum();
                hidden((weight(BIAS_1 + unit) + bias) * one + products)
            })
            .collect();
        let layer = |from: usize, bias: usize, values: &[i64], unit: usize| {
            let products = values.iter().enumerate();
            let row = from + unit * values.len();
            weight(bias + unit) * one
                + products.map(|(at, value)| weight(row + at) * value).sum::<i64>()
        };
        let second: Vec<i64> =
            (0..HIDDEN_2).map(|unit| hidden(layer(SECOND, BIAS_2, &first, unit))).collect();
        core::array::from_fn(|output| layer(LAST, BIAS_3, &second, output))
    }

    fn any_cards(dice: &mut ChanceRng) -> CardSet {
        let [a, b] = [0, 1].map(|_| dice.below(1 << 26) as u64);
        CardSet::from_bits(a << 26 | b).naturals()
    }

    /// Changes a position in one, a few or nearly all respects.
    fn mutate_position(position: &NetworkPosition, dice: &mut ChanceRng) -> NetworkPosition {
        let mut position = *position;
        let changes = [1, 3, 300][dice.below(3)];
        for _ in 0..changes {
            let most = usize::from(4 * ONE.unsigned_abs());
            let input = i16::try_from(dice.below(2 * most + 1)).unwrap() - 4 * ONE;
            position.inputs[dice.below(INPUTS)] = input;
            let category = dice.below(CATEGORIES);
            let from = CATEGORY_FROM[category];
            let value = from + dice.below(CATEGORY_FROM[category + 1] - from);
            position.categories[category] = u8::try_from(value).unwrap();
            let set = dice.below(SETS);
            let changed = any_cards(dice).intersection(any_cards(dice));
            let cards = position.sets[set];
            position.sets[set] = cards.union(changed).difference(cards.intersection(changed));
        }
        position
    }

    fn assert_matches_reference(network: &LargeNetwork, dice: &mut ChanceRng) {
        let weights = network.weights();
        let mut accumulator = Accumulator::new(network);
        let mut position = NetworkPosition::empty();
        for number in 0..40 {
            let expected = reference_outputs(&weights, &position);
            assert_eq!(accumulator.outputs(&position), expected, "position {number}: {position:?}");
            assert_eq!(accumulator.outputs(&position), expected, "position {number} again");
            position = mutate_position(&position, dice);
        }
    }

    #[test]
    fn incremental_evaluation_agrees_with_the_reference() {
        let mut dice = ChanceRng::from_number(1);
        for network in &LARGE {
            assert_matches_reference(network, &mut dice);
        }
    }

    /// Includes weights of maximum magnitude with any sign.
    #[test]
    fn no_sum_overflows() {
        for number in 1..4 {
            let mut dice = ChanceRng::from_number(number);
            let mut weights = [0; LARGE_WEIGHTS];
            for (at, weight) in weights.iter_mut().enumerate() {
                let is_card = (CARD_WEIGHTS..BIAS_1).contains(&at);
                let most = if is_card { CARD_WEIGHT_MAX } else { WEIGHT_MAX };
                // All weights are positive, then three of four, then half of them.
                let is_negative = dice.below(4) < usize::from(number - 1);
                *weight = if is_negative { -most } else { most };
            }
            let network = LargeNetwork::from_weights(&weights).unwrap();
            assert_matches_reference(&network, &mut dice);
            let full = NetworkPosition {
                inputs: [4 * ONE; INPUTS],
                sets: [CardSet::STANDARD; SETS],
                ..NetworkPosition::empty()
            };
            let outputs = |position: &NetworkPosition| Accumulator::new(&network).outputs(position);
            assert_eq!(outputs(&full), reference_outputs(&weights, &full));
            let low = NetworkPosition { inputs: [-4 * ONE; INPUTS], ..full };
            assert_eq!(outputs(&low), reference_outputs(&weights, &low));
        }
    }

    /// The first hidden unit takes the first input and the first value of the last category, the
    /// second layer takes half of it, and the counts are all of that plus two.
    #[test]
    fn both_layers_sum_their_inputs() {
        let mut weights = [0; LARGE_WEIGHTS];
        weights[0] = WEIGHT_ONE;
        weights[CATEGORY_WEIGHTS + CATEGORY_FROM[CATEGORIES - 1] * HIDDEN_1] = WEIGHT_ONE;
        weights[SECOND] = WEIGHT_ONE / 2;
        weights[LAST + HIDDEN_2] = WEIGHT_ONE;
        weights[BIAS_3 + 1] = 2 * WEIGHT_ONE;
        let network = LargeNetwork::from_weights(&weights).unwrap();
        let counts = |input: i16, kind: u8| {
            let mut position = NetworkPosition::empty();
            position.inputs[0] = input;
            position.categories[CATEGORIES - 1] += kind;
            let [win, counts] = Accumulator::new(&network).outputs(&position);
            assert_eq!(win, 0);
            counts
        };
        let one = i64::from(ONE) * i64::from(WEIGHT_ONE);
        assert_eq!(counts(0, 1), 2 * one);
        assert_eq!(counts(ONE, 1), 2 * one + one / 2);
        assert_eq!(counts(ONE, 0), 3 * one, "the category contributes too");
        assert_eq!(counts(-4 * ONE, 1), 2 * one, "negative values are not passed on");
    }
}
