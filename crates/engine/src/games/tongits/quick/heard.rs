//! What a large network hears of one place after another. Places that are judged one after the other
//! are much alike, so that the sums of the first layer are kept, and only what is new in a place is
//! added to them. Sums of integers are the same in any order: what is said of a place does not depend
//! on the places before it.
//!
//! Many are added and multiplied at once, with what every processor has for that.

use arrayvec::ArrayVec;
use wide::{i16x8, i16x16, i32x8};

use crate::cards::Card;
use crate::games::tongits::quick::large::{CARDS, HIDDEN_1, HIDDEN_2, Large, OUTPUTS, Place, SETS};
use crate::games::tongits::quick::network::INPUTS;
use crate::games::tongits::quick::sums::{
    LANES, ONE, ONE_BITS, add, beside_each_other, hear, hidden,
};

/// A hidden layer ends here: 15.
const HIDDEN_MAX: i16 = 15 * ONE;

/// So many sums of the first layer are worked on together: as processors can hold beside a weight.
const TOGETHER: usize = 4;

/// A network with the place that it has heard last.
#[derive(Clone, Debug)]
pub struct Heard<'a> {
    network: &'a Large,
    place: Place,
    /// Of the first layer, for that place.
    sums: [i32x8; HIDDEN_1 / LANES],
}

/// Rows of the weights of cards.
type Rows = ArrayVec<usize, { SETS * CARDS }>;

impl<'a> Heard<'a> {
    /// Before any place.
    pub(super) fn nothing(network: &'a Large) -> Self {
        let place = Place::nothing();
        let mut sums = [i32x8::ZERO; HIDDEN_1 / LANES];
        add(&mut sums, &network.added_1);
        for value in place.few {
            add(&mut sums, &network.few[usize::from(value)]);
        }
        Self { network, place, sums }
    }

    pub(super) const fn network(&self) -> &'a Large {
        self.network
    }

    /// The chance of a win and the counts, four of which are one, in parts of which
    /// [`WEIGHT_ONE`](crate::games::tongits::quick::sums::WEIGHT_ONE) times [`ONE`] make one.
    pub(super) fn outputs(&mut self, place: &Place) -> [i64; OUTPUTS] {
        self.hear_few(place);
        self.hear_cards(place);
        self.hear_inputs(place);
        self.place = *place;
        let second = self.second_layer();
        let mut outputs = [0; OUTPUTS];
        let rows = self.network.last.iter().zip(&self.network.added_3);
        for (output, (row, added)) in outputs.iter_mut().zip(rows) {
            let products = row.as_chunks().0.iter().zip(second);
            let sum: i32 =
                products.map(|(weights, value)| i16x8::new(*weights).dot(value).reduce_add()).sum();
            *output = i64::from(*added) * i64::from(ONE) + i64::from(sum);
        }
        outputs
    }

    fn hear_few(&mut self, place: &Place) {
        for (old, new) in self.place.few.iter().zip(place.few) {
            if *old != new {
                let rows = [new, *old].map(|value| &self.network.few[usize::from(value)]);
                // The difference of two weights has 16 bits.
                let mut difference = *rows[0];
                for (weight, old) in difference.iter_mut().zip(rows[1]) {
                    *weight -= *old;
                }
                add(&mut self.sums, &difference);
            }
        }
    }

    fn hear_cards(&mut self, place: &Place) {
        let (mut came, mut went) = (Rows::new(), Rows::new());
        let sets = self.place.sets.iter().zip(place.sets);
        for (from, (old, new)) in (0..).step_by(CARDS).zip(sets) {
            let row = |card: Card| from + usize::from(card.index());
            came.extend(new.difference(*old).iter().map(row));
            went.extend(old.difference(new).iter().map(row));
        }
        // The sum of as many cards as a set can have has 16 bits.
        let mut came = came.chunks(CARDS / 2);
        let mut went = went.chunks(CARDS / 2);
        loop {
            let (came, went) = (came.next(), went.next());
            if came.is_none() && went.is_none() {
                return;
            }
            let (came, went) = (came.unwrap_or_default(), went.unwrap_or_default());
            let row = |row: &usize, part: usize| {
                let (row, _) = self.network.cards[*row].as_chunks::<LANES>();
                let part: [[i16; LANES]; TOGETHER] = core::array::from_fn(|at| row[part + at]);
                part.map(i16x8::new)
            };
            for part in (0..HIDDEN_1 / LANES).step_by(TOGETHER) {
                let mut sums = [i16x8::ZERO; TOGETHER];
                for came in came {
                    sums.iter_mut().zip(row(came, part)).for_each(|(sum, weights)| *sum += weights);
                }
                for went in went {
                    sums.iter_mut().zip(row(went, part)).for_each(|(sum, weights)| *sum -= weights);
                }
                for (sum, cards) in self.sums[part..].iter_mut().zip(sums) {
                    *sum += i32x8::from_i16x8(cards) << ONE_BITS;
                }
            }
        }
    }

    fn hear_inputs(&mut self, place: &Place) {
        let mut new: ArrayVec<(usize, i16x16), { INPUTS / 2 }> = ArrayVec::new();
        let (olds, news) = (self.place.inputs.as_chunks::<2>().0, place.inputs.as_chunks::<2>().0);
        for (pair, (old, [a, b])) in olds.iter().zip(news).enumerate() {
            if old != &[*a, *b] {
                new.push((pair, beside_each_other([a - old[0], b - old[1]])));
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
        add(&mut sums, &self.network.added_2);
        let first = self.sums.map(|sums| hidden(sums, HIDDEN_MAX).to_array());
        for (pair, weights) in first.as_flattened().as_chunks().0.iter().zip(&self.network.second) {
            if *pair != [0; 2] {
                hear(&mut sums, weights, *pair);
            }
        }
        sums.map(|sums| hidden(sums, HIDDEN_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::{CARDS, HIDDEN_1, HIDDEN_2, HIDDEN_MAX, Heard, INPUTS, OUTPUTS, SETS};
    use crate::cards::CardSet;
    use crate::chance::Dice;
    use crate::games::tongits::quick::LARGE;
    use crate::games::tongits::quick::large::{
        ADDED_1, ADDED_2, ADDED_3, CARD_WEIGHT_MAX, FEW, FEW_FROM, LARGE_WEIGHTS, LAST, Large,
        OF_CARDS, OF_FEW, Place, SECOND, WEIGHT_MAX,
    };
    use crate::games::tongits::quick::sums::{ONE, WEIGHT_ONE};
    use alloc::vec::Vec;

    /// What a network says of a place, from its weights as they are written, number by number.
    fn plainly(weights: &[i16], place: &Place) -> [i64; OUTPUTS] {
        let weight = |at: usize| i64::from(weights[at]);
        let one = i64::from(ONE);
        let hidden = |sum: i64| (sum / i64::from(WEIGHT_ONE)).clamp(0, i64::from(HIDDEN_MAX));
        let first: Vec<i64> = (0..HIDDEN_1)
            .map(|hearer| {
                let few = place.few.iter().map(|value| OF_FEW + usize::from(*value) * HIDDEN_1);
                let cards = place.sets.iter().enumerate().flat_map(|(set, cards)| {
                    let row = move |card| set * CARDS + card;
                    cards
                        .iter()
                        .map(move |card| OF_CARDS + row(usize::from(card.index())) * HIDDEN_1)
                });
                let added: i64 = few.chain(cards).map(|row| weight(row + hearer)).sum();
                let inputs = place.inputs.iter().enumerate();
                let heard: i64 = inputs
                    .map(|(at, input)| weight(hearer * INPUTS + at) * i64::from(*input))
                    .sum();
                hidden((weight(ADDED_1 + hearer) + added) * one + heard)
            })
            .collect();
        let layer = |from: usize, added: usize, heard: &[i64], hearer: usize| {
            let products = heard.iter().enumerate();
            let row = from + hearer * heard.len();
            weight(added + hearer) * one
                + products.map(|(at, value)| weight(row + at) * value).sum::<i64>()
        };
        let second: Vec<i64> =
            (0..HIDDEN_2).map(|hearer| hidden(layer(SECOND, ADDED_2, &first, hearer))).collect();
        core::array::from_fn(|output| layer(LAST, ADDED_3, &second, output))
    }

    fn any_cards(dice: &mut Dice) -> CardSet {
        let [a, b] = [0, 1].map(|_| dice.below(1 << 26) as u64);
        CardSet::from_bits(a << 26 | b).naturals()
    }

    /// As another place, or one that shares nothing with it.
    fn after(place: &Place, dice: &mut Dice) -> Place {
        let mut place = *place;
        let changes = [1, 3, 300][dice.below(3)];
        for _ in 0..changes {
            let most = usize::from(4 * ONE.unsigned_abs());
            let input = i16::try_from(dice.below(2 * most + 1)).unwrap() - 4 * ONE;
            place.inputs[dice.below(INPUTS)] = input;
            let few = dice.below(FEW);
            let value = FEW_FROM[few] + dice.below(FEW_FROM[few + 1] - FEW_FROM[few]);
            place.few[few] = u8::try_from(value).unwrap();
            let set = dice.below(SETS);
            let changed = any_cards(dice).intersection(any_cards(dice));
            let cards = place.sets[set];
            place.sets[set] = cards.union(changed).difference(cards.intersection(changed));
        }
        place
    }

    fn says_the_same_as_plainly(network: &Large, dice: &mut Dice) {
        let weights = network.weights();
        let (mut heard, mut place) = (Heard::nothing(network), Place::nothing());
        for number in 0..40 {
            let expected = plainly(&weights, &place);
            assert_eq!(heard.outputs(&place), expected, "place {number}: {place:?}");
            assert_eq!(heard.outputs(&place), expected, "place {number} again");
            place = after(&place, dice);
        }
    }

    #[test]
    fn place_after_place_is_heard_as_each_by_itself() {
        let mut dice = Dice::numbered(1);
        for network in &LARGE {
            says_the_same_as_plainly(network, &mut dice);
        }
    }

    /// Also with weights as large as may be, of any sign.
    #[test]
    fn no_sum_is_too_large() {
        for number in 1..4 {
            let mut dice = Dice::numbered(number);
            let mut weights = [0; LARGE_WEIGHTS];
            for (at, weight) in weights.iter_mut().enumerate() {
                let is_card = (OF_CARDS..ADDED_1).contains(&at);
                let most = if is_card { CARD_WEIGHT_MAX } else { WEIGHT_MAX };
                // All positive, then three of four, then as many of each sign.
                let is_negative = dice.below(4) < usize::from(number - 1);
                *weight = if is_negative { -most } else { most };
            }
            let network = Large::of(&weights).unwrap();
            says_the_same_as_plainly(&network, &mut dice);
            let full = Place {
                inputs: [4 * ONE; INPUTS],
                sets: [CardSet::STANDARD; SETS],
                ..Place::nothing()
            };
            let heard = |place: &Place| Heard::nothing(&network).outputs(place);
            assert_eq!(heard(&full), plainly(&weights, &full));
            let low = Place { inputs: [-4 * ONE; INPUTS], ..full };
            assert_eq!(heard(&low), plainly(&weights, &low));
        }
    }

    /// The first hidden place hears the first input and the first value of the last count, the second
    /// layer half of it, and the counts all of that and two more.
    #[test]
    fn a_network_adds_what_it_hears_in_both_layers() {
        let mut weights = [0; LARGE_WEIGHTS];
        weights[0] = WEIGHT_ONE;
        weights[OF_FEW + FEW_FROM[FEW - 1] * HIDDEN_1] = WEIGHT_ONE;
        weights[SECOND] = WEIGHT_ONE / 2;
        weights[LAST + HIDDEN_2] = WEIGHT_ONE;
        weights[ADDED_3 + 1] = 2 * WEIGHT_ONE;
        let network = Large::of(&weights).unwrap();
        let counts = |input: i16, question: u8| {
            let mut place = Place::nothing();
            place.inputs[0] = input;
            place.few[FEW - 1] += question;
            let [win, counts] = Heard::nothing(&network).outputs(&place);
            assert_eq!(win, 0);
            counts
        };
        let one = i64::from(ONE) * i64::from(WEIGHT_ONE);
        assert_eq!(counts(0, 1), 2 * one);
        assert_eq!(counts(ONE, 1), 2 * one + one / 2);
        assert_eq!(counts(ONE, 0), 3 * one, "the count is heard too");
        assert_eq!(counts(-4 * ONE, 1), 2 * one, "nothing negative is heard");
    }
}
