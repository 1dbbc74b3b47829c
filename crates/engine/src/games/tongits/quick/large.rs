//! One larger network for all questions, with two hidden layers: for who plays on in imagined games
//! and has time. It is given what the small ones are, counts that are one of few, single cards, and
//! what the others are taken for.
//!
//! What comes out are the chance of a win and the counts that are won or lost, each by itself, so that
//! who asks says what a win is worth beside its counts. In integers, as the small ones are; the
//! weights were learned by `examples/tongits_train_large`.

#[cfg(any(test, feature = "testing"))]
use alloc::string::String;

use crate::cards::{Card, CardSet};
use crate::game::Skill;
use crate::games::tongits::quick::considered::{Judge, Question};
use crate::games::tongits::quick::inputs::Sight;
#[cfg(any(test, feature = "testing"))]
use crate::games::tongits::quick::network::text;
use crate::games::tongits::quick::network::{INPUTS, Inputs, ONE, WEIGHT_ONE, weights};
use crate::games::tongits::quick::suits::Suits;
use crate::games::tongits::rules::SEATS;
use crate::seat::Seat;

/// Counts that are one of few: the stock, the cards of the next seat, of the previous one and of the
/// own hand, and the question.
pub const FEW: usize = 5;

/// Where the values of each begin, and how many all have.
pub const FEW_FROM: [usize; FEW + 1] = [0, 16, 30, 44, 58, 63];

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

/// Inputs that say what the next and the previous seat are taken for: none of a seat's view are there.
const OF_OTHERS: [usize; 2] = [INPUTS - 3, INPUTS - 2];

/// A hidden layer ends here: 15.
const HIDDEN_MAX: i32 = 15 * ONE as i32;

const FEW_VALUES: usize = FEW_FROM[FEW];

/// Where each part of the weights begins.
const OF_FEW: usize = HIDDEN_1 * INPUTS;
const OF_CARDS: usize = OF_FEW + FEW_VALUES * HIDDEN_1;
const ADDED_1: usize = OF_CARDS + SETS * CARDS * HIDDEN_1;
const SECOND: usize = ADDED_1 + HIDDEN_1;
const ADDED_2: usize = SECOND + HIDDEN_2 * HIDDEN_1;
const LAST: usize = ADDED_2 + HIDDEN_2;
const ADDED_3: usize = LAST + OUTPUTS * HIDDEN_2;

/// All weights: of each place of the first layer its inputs; of each value of the few and of each card
/// of each set what it adds to the first layer, and what is added to it; then the same of the second layer and of what comes out.
pub const LARGE_WEIGHTS: usize = ADDED_3 + OUTPUTS;

/// Four counts are one, as what comes out.
const COUNTS_PER_ONE: i64 = 4;

/// See the module's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    weights: [i16; LARGE_WEIGHTS],
}

/// What is known of a place in a game.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub inputs: Inputs,
    /// Values, each at its place among all.
    pub few: [u8; FEW],
    pub sets: [CardSet; SETS],
}

impl Large {
    /// From the text of a file of weights, when the program is compiled.
    ///
    /// # Panics
    /// When the text is no such file.
    pub const fn parsed(text: &[u8]) -> Self {
        let weights: [i16; LARGE_WEIGHTS] = weights(text);
        assert!(fit(&weights), "a large weight");
        Self { weights }
    }

    /// The chance of a win and the counts, four of which are one, in parts of which [`WEIGHT_ONE`]
    /// times [`ONE`] make one.
    pub fn outputs(&self, place: &Place) -> [i64; OUTPUTS] {
        let (rows, _) = self.weights[..OF_FEW].as_chunks::<INPUTS>();
        let (few, _) = self.weights[OF_FEW..OF_CARDS].as_chunks::<HIDDEN_1>();
        let (cards, _) = self.weights[OF_CARDS..ADDED_1].as_chunks::<HIDDEN_1>();
        let mut added: [i32; HIDDEN_1] = [0; HIDDEN_1];
        for (sum, weight) in added.iter_mut().zip(&self.weights[ADDED_1..SECOND]) {
            *sum = i32::from(*weight);
        }
        for value in place.few {
            let row = &few[usize::from(value)];
            // By place in arrays of a known length: many at once.
            for at in 0..HIDDEN_1 {
                added[at] += i32::from(row[at]);
            }
        }
        for (set, rows) in place.sets.iter().zip(cards.as_chunks::<CARDS>().0) {
            let mut sums = [0_i16; HIDDEN_1];
            for card in set.iter() {
                let row = &rows[usize::from(card.index())];
                for at in 0..HIDDEN_1 {
                    sums[at] += row[at];
                }
            }
            for at in 0..HIDDEN_1 {
                added[at] += i32::from(sums[at]);
            }
        }
        let mut first = [0_i16; HIDDEN_1];
        for ((hidden, row), added) in first.iter_mut().zip(rows).zip(added) {
            let mut sum = added * i32::from(ONE);
            for (weight, input) in row.iter().zip(&place.inputs) {
                sum += i32::from(*weight) * i32::from(*input);
            }
            *hidden = hidden_value(sum);
        }
        let (rows, _) = self.weights[SECOND..ADDED_2].as_chunks::<HIDDEN_1>();
        let mut second = [0_i16; HIDDEN_2];
        let added = &self.weights[ADDED_2..LAST];
        for ((hidden, row), added) in second.iter_mut().zip(rows).zip(added) {
            let mut sum = i32::from(*added) * i32::from(ONE);
            for at in 0..HIDDEN_1 {
                sum += i32::from(row[at]) * i32::from(first[at]);
            }
            *hidden = hidden_value(sum);
        }
        let mut outputs = [0; OUTPUTS];
        let (rows, _) = self.weights[LAST..ADDED_3].as_chunks::<HIDDEN_2>();
        for ((output, row), added) in outputs.iter_mut().zip(rows).zip(&self.weights[ADDED_3..]) {
            let products = row.iter().zip(second);
            let sum: i64 =
                products.map(|(weight, value)| i64::from(*weight) * i64::from(value)).sum();
            *output = i64::from(*added) * i64::from(ONE) + sum;
        }
        outputs
    }
}

/// Whether no sum of these is too large.
const fn fit(weights: &[i16; LARGE_WEIGHTS]) -> bool {
    let mut place = 0;
    while place < weights.len() {
        let is_card = OF_CARDS <= place && place < ADDED_1;
        let most = if is_card { CARD_WEIGHT_MAX } else { WEIGHT_MAX };
        if weights[place].unsigned_abs() > most.unsigned_abs() {
            return false;
        }
        place += 1;
    }
    true
}

fn hidden_value(sum: i32) -> i16 {
    let value = (sum / i32::from(WEIGHT_ONE)).clamp(0, HIDDEN_MAX);
    i16::try_from(value).expect("a hidden value lies between its bounds")
}

impl Place {
    /// The same place with the suits exchanged.
    pub fn exchanged(&self, suits: Suits) -> Self {
        Self { sets: self.sets.map(|cards| suits.exchanged(cards)), ..*self }
    }
}

/// Networks with what they are told beside a view.
#[derive(Clone, Copy, Debug)]
pub struct Against<'a> {
    /// Each learned by itself; what they say is the mean.
    pub networks: &'a [Large],
    /// What the next and the previous seat are taken for, as far as is known.
    pub others: [Option<Skill>; 2],
    /// What a win is worth beside its counts, in counts.
    pub win_counts: i64,
    /// How the suits are exchanged before they look.
    pub suits: Suits,
}

impl Against<'_> {
    /// As [`Large::outputs`], by all networks.
    pub fn outputs(&self, place: &Place) -> [i64; OUTPUTS] {
        let mut sums = [0; OUTPUTS];
        for network in self.networks {
            for (sum, output) in sums.iter_mut().zip(network.outputs(place)) {
                *sum += output;
            }
        }
        let count = i64::try_from(self.networks.len()).expect("few networks");
        sums.map(|sum| sum / count)
    }

    /// The mean of what a place is worth over all ways to exchange suits.
    pub(super) fn worth_by_all_suits(&self, place: &Place) -> i64 {
        let worth = |suits: &Suits| self.worth(&place.exchanged(*suits));
        Suits::ALL.iter().map(worth).sum::<i64>() / i64::from(Suits::COUNT)
    }
}

impl Judge for Against<'_> {
    type Place = Place;

    fn place(&self, question: Question, sight: &Sight<'_>) -> Place {
        let seat = sight.seat;
        let cards = |seat: Seat| usize::from(sight.public.hand_counts[seat.index()]);
        let counts = [
            usize::from(sight.public.stock_count),
            cards(seat.next(SEATS)),
            cards(seat.previous(SEATS)),
            sight.hand.len(),
            question.index(),
        ];
        let mut few = [0; FEW];
        for (place, count) in counts.into_iter().enumerate() {
            let (from, end) = (FEW_FROM[place], FEW_FROM[place + 1]);
            few[place] = u8::try_from((from + count).min(end - 1)).expect("few values");
        }
        let (mut inputs, sets) = sight.seen();
        debug_assert_eq!(OF_OTHERS.map(|place| inputs[place]), [0; 2], "a view needs these inputs");
        for (place, other) in OF_OTHERS.into_iter().zip(self.others) {
            inputs[place] = match other {
                Some(Skill::Greedy) => ONE,
                Some(Skill::Quick) => -ONE,
                None => 0,
            };
        }
        Place { inputs, few, sets }.exchanged(self.suits)
    }

    fn worth(&self, place: &Place) -> i64 {
        let [win, counts] = self.outputs(place);
        counts + win * self.win_counts / COUNTS_PER_ONE
    }
}

/// For who learns the weights.
#[cfg(any(test, feature = "testing"))]
impl Large {
    /// From all weights in their order; `None` when there are too many or too few, or one is too
    /// large.
    pub fn of(weights: &[i16]) -> Option<Self> {
        weights.try_into().ok().filter(fit).map(|weights| Self { weights })
    }

    /// A network that says nothing.
    pub const fn silent() -> Self {
        Self { weights: [0; LARGE_WEIGHTS] }
    }

    /// All weights in their order.
    pub const fn weights(&self) -> &[i16] {
        &self.weights
    }

    /// The text of a file of weights.
    pub fn text(&self) -> String {
        text(&self.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        ADDED_1, ADDED_2, ADDED_3, Against, CARD_WEIGHT_MAX, FEW, FEW_FROM, HIDDEN_1, HIDDEN_MAX,
        INPUTS, LARGE_WEIGHTS, LAST, Large, OF_CARDS, OF_FEW, ONE, Place, SECOND, SETS, WEIGHT_ONE,
    };
    use crate::cards::CardSet;
    use crate::games::tongits::quick::LARGE;
    use crate::games::tongits::quick::considered::Judge as _;
    use crate::games::tongits::quick::network::weights;
    use crate::games::tongits::quick::suits::Suits;

    /// The first hidden place hears the first input and the first value of the last count, the second
    /// layer half of it, and the counts all of that and two more.
    fn half_and_two() -> Large {
        let mut weights = [0; LARGE_WEIGHTS];
        weights[0] = WEIGHT_ONE;
        weights[OF_FEW + FEW_FROM[FEW - 1] * HIDDEN_1] = WEIGHT_ONE;
        weights[SECOND] = WEIGHT_ONE / 2;
        weights[LAST + super::HIDDEN_2] = WEIGHT_ONE;
        weights[ADDED_3 + 1] = 2 * WEIGHT_ONE;
        Large { weights }
    }

    fn counts(network: &Large, input: i16, question: usize) -> i64 {
        let mut inputs = [0; INPUTS];
        inputs[0] = input;
        let mut few = [0; FEW];
        for (place, from) in few.iter_mut().zip(FEW_FROM) {
            *place = u8::try_from(from).unwrap();
        }
        few[FEW - 1] += u8::try_from(question).unwrap();
        let sets = [CardSet::EMPTY; SETS];
        let [win, counts] = network.outputs(&Place { inputs, few, sets });
        assert_eq!(win, 0);
        counts
    }

    #[test]
    fn a_network_adds_what_it_hears_in_both_layers() {
        let network = half_and_two();
        let one = i64::from(ONE) * i64::from(WEIGHT_ONE);
        assert_eq!(counts(&network, 0, 1), 2 * one);
        assert_eq!(counts(&network, ONE, 1), 2 * one + one / 2);
        assert_eq!(counts(&network, ONE, 0), 3 * one, "the count is heard too");
        assert_eq!(counts(&network, -4 * ONE, 1), 2 * one, "nothing negative is heard");
    }

    #[test]
    fn networks_together_say_the_mean() {
        let one = i64::from(ONE) * i64::from(WEIGHT_ONE);
        let mut sure_of_a_win = Large::silent();
        sure_of_a_win.weights[ADDED_3] = WEIGHT_ONE;
        let networks = [half_and_two(), sure_of_a_win];
        let (others, suits) = ([None; 2], Suits::KEPT);
        let judge = Against { networks: &networks, others, win_counts: 8, suits };
        let [a, b, c, d, question] = [0, 1, 2, 3, 4].map(|at| u8::try_from(FEW_FROM[at]).unwrap());
        let few = [a, b, c, d, question + 1];
        let place = Place { inputs: [0; INPUTS], few, sets: [CardSet::EMPTY; SETS] };
        assert_eq!(judge.outputs(&place), [one / 2, one]);
        // A win is worth eight counts, of which four are one.
        assert_eq!(judge.worth(&place), 2 * one);
    }

    #[test]
    fn a_hidden_layer_ends_somewhere_and_no_sum_is_too_large() {
        let mut weights = [super::WEIGHT_MAX; LARGE_WEIGHTS];
        weights[OF_CARDS..ADDED_1].fill(CARD_WEIGHT_MAX);
        weights[LAST..].fill(WEIGHT_ONE);
        let network = Large { weights };
        let few = FEW_FROM.map(|from| u8::try_from(from).unwrap());
        let few = [few[0], few[1], few[2], few[3], few[4]];
        let sets = [CardSet::STANDARD; SETS];
        let outputs = network.outputs(&Place { inputs: [4 * ONE; INPUTS], few, sets });
        let hidden = i64::from(HIDDEN_MAX) * i64::from(WEIGHT_ONE);
        let one = i64::from(ONE) * i64::from(WEIGHT_ONE);
        assert_eq!(outputs, [i64::try_from(LAST - ADDED_2).unwrap() * hidden + one; 2]);
    }

    #[test]
    fn weights_read_as_they_are_written() {
        for large in &LARGE {
            assert_eq!(weights(large.text().as_bytes()), large.weights);
            assert_eq!(Large::of(&large.weights), Some(large.clone()));
            assert_eq!(Large::of(&large.weights[1..]), None);
        }
        assert_eq!(Large::of(&[i16::MAX; LARGE_WEIGHTS]), None);
        let mut weights = [0; LARGE_WEIGHTS];
        weights[OF_CARDS - 1] = super::WEIGHT_MAX;
        assert!(Large::of(&weights).is_some());
        weights[OF_CARDS] = CARD_WEIGHT_MAX + 1;
        assert_eq!(Large::of(&weights), None, "the sum of a set's cards may be too large");
    }
}
