//! What a large network hears of one place after another. Places that are judged one after the other
//! are much alike, so that the sums of the first layer are kept, and only what is new in a place is
//! added to them. Sums of integers are the same in any order: what is said of a place does not depend
//! on the places before it.
//!
//! Many are added and multiplied at once, with what every processor has for that.

use arrayvec::ArrayVec;
use wide::{i16x8, i16x16, i32x8};

use crate::cards::{Card, CardSet};
use crate::games::tongits::quick::large::{
    CARDS, FEW_FROM, HIDDEN_1, HIDDEN_2, Large, OUTPUTS, Place, SETS,
};
use crate::games::tongits::quick::network::{INPUTS, ONE};
use crate::games::tongits::quick::sums::{LANES, ONE_BITS, add, beside_each_other, hear, hidden};

/// A hidden layer ends here: 15.
pub(super) const HIDDEN_MAX: i16 = 15 * ONE;

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
    /// Before any place: no input, no card, and the first value of each of the few.
    pub(super) fn nothing(network: &'a Large) -> Self {
        let [few @ .., _] = FEW_FROM.map(|from| u8::try_from(from).expect("few values"));
        let place = Place { inputs: [0; INPUTS], few, sets: [CardSet::EMPTY; SETS] };
        let mut sums = [i32x8::ZERO; HIDDEN_1 / LANES];
        add(&mut sums, &network.added_1);
        for value in few {
            add(&mut sums, &network.few[usize::from(value)]);
        }
        Self { network, place, sums }
    }

    pub(super) const fn network(&self) -> &'a Large {
        self.network
    }

    /// The chance of a win and the counts, four of which are one, in parts of which
    /// [`WEIGHT_ONE`](crate::games::tongits::quick::network::WEIGHT_ONE) times [`ONE`] make one.
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
