//! Small networks in integers: what a seat knows goes in as numbers, and what its place is worth
//! comes out. One network for each [`Question`], all of one shape: inputs, one hidden layer whose
//! negative values count as zero, one output.
//!
//! Integers, so that every machine plays the same. The weights are data: they were learned by
//! `examples/tongits_train.rs`, and this module only reads and applies them.

#[cfg(any(test, feature = "testing"))]
use alloc::string::String;
#[cfg(any(test, feature = "testing"))]
use alloc::vec::Vec;
#[cfg(any(test, feature = "testing"))]
use core::fmt::Write;

use wide::{i16x8, i32x4, i32x8};

use crate::games::tongits::quick::considered::{Judge, Question};
use crate::games::tongits::quick::inputs::Sight;
#[cfg(any(test, feature = "testing"))]
use crate::games::tongits::quick::sums::unpaired;
use crate::games::tongits::quick::sums::{LANES, ONE, Pair, add, hear, hidden, paired, row};

/// Numbers that a network is given.
pub const INPUTS: usize = 64;

/// Places of the hidden layer.
pub const HIDDEN: usize = 32;

/// Inputs lie between this and its negative.
pub const INPUT_MAX: i16 = 4 * ONE;

/// The hidden layer ends here: 32. So the sum of a quarter of what comes out of it has 32 bits.
const HIDDEN_MAX: i16 = 32 * ONE;

/// Weights of a hidden place in a file.
const ROW: usize = INPUTS + 1;

/// Weights of one network: of each hidden place its inputs and what is added, then those of the
/// output and what is added to it.
pub const WEIGHTS: usize = HIDDEN * ROW + HIDDEN + 1;

/// Hexadecimal digits of a weight.
const DIGITS: usize = 4;

/// Networks.
const QUESTIONS: usize = Question::ALL.len();

/// Weights in a line of the file.
#[cfg(any(test, feature = "testing"))]
const WEIGHTS_PER_LINE: usize = 24;

/// What is known of a place in a game.
pub type Inputs = [i16; INPUTS];

/// A network for each question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Networks([Network; QUESTIONS]);

/// The weights of a question as they are applied, which is not their order in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
struct Network {
    /// Of each pair of inputs, by hidden place.
    inputs: [[Pair; HIDDEN]; INPUTS / 2],
    added: [i16; HIDDEN],
    to_output: [i16; HIDDEN],
    added_to_output: i16,
}

impl Networks {
    /// From the text of a file of weights, when the program is compiled.
    ///
    /// # Panics
    /// When the text is no such file.
    pub const fn parsed(text: &[u8]) -> Self {
        Self::laid_out(&weights(text))
    }

    /// From all weights in the order of a file.
    const fn laid_out(weights: &[i16; WEIGHTS * QUESTIONS]) -> Self {
        const SILENT: Network = Network::laid_out(&[0; WEIGHTS]);
        let mut networks = [SILENT; QUESTIONS];
        let mut place = 0;
        while place < QUESTIONS {
            networks[place] = Network::laid_out(&row(weights, place * WEIGHTS));
            place += 1;
        }
        Self(networks)
    }

    /// What a place is worth, in parts of which
    /// [`WEIGHT_ONE`](crate::games::tongits::quick::sums::WEIGHT_ONE) times [`ONE`] make one.
    fn output(&self, question: Question, inputs: &Inputs) -> i64 {
        let network = &self.0[question.index()];
        let mut sums = [i32x8::ZERO; HIDDEN / LANES];
        add(&mut sums, &network.added);
        for (pair, weights) in inputs.as_chunks().0.iter().zip(&network.inputs) {
            if *pair != [0; 2] {
                hear(&mut sums, weights, *pair);
            }
        }
        let mut heard = i32x4::ZERO;
        for (sums, weights) in sums.iter().zip(network.to_output.as_chunks().0) {
            heard += hidden(*sums, HIDDEN_MAX).dot(i16x8::new(*weights));
        }
        let heard: i64 = heard.to_array().into_iter().map(i64::from).sum();
        i64::from(network.added_to_output) * i64::from(ONE) + heard
    }
}

impl Network {
    const fn laid_out(weights: &[i16; WEIGHTS]) -> Self {
        let mut added = [0; HIDDEN];
        let mut place = 0;
        while place < HIDDEN {
            added[place] = weights[place * ROW + INPUTS];
            place += 1;
        }
        Self {
            inputs: paired(weights, 0, ROW),
            added,
            to_output: row(weights, HIDDEN * ROW),
            added_to_output: weights[WEIGHTS - 1],
        }
    }

    /// All weights in the order of a file.
    #[cfg(any(test, feature = "testing"))]
    fn weights(&self) -> Vec<i16> {
        let inputs = unpaired(&self.inputs);
        let mut weights = Vec::with_capacity(WEIGHTS);
        for (inputs, added) in inputs.chunks(INPUTS).zip(self.added) {
            weights.extend_from_slice(inputs);
            weights.push(added);
        }
        weights.extend(self.to_output);
        weights.push(self.added_to_output);
        weights
    }
}

impl Judge for Networks {
    type Place = (Question, Inputs);
    /// Places are judged each by itself.
    type Memory = ();

    fn place(&self, question: Question, sight: &Sight<'_>) -> Self::Place {
        (question, sight.seen().0)
    }

    fn worth(&self, (question, inputs): &Self::Place, (): &mut ()) -> i64 {
        self.output(*question, inputs)
    }
}

/// Reads a file of weights: as many as are asked for, each as [`DIGITS`] hexadecimal digits.
pub(super) const fn weights<const COUNT: usize>(text: &[u8]) -> [i16; COUNT] {
    let mut weights = [0; COUNT];
    let (mut place, mut at) = (0, 0);
    while at < text.len() {
        if text[at] == b'\n' {
            at += 1;
            continue;
        }
        let high = digit(text[at]) << 12 | digit(text[at + 1]) << 8;
        let low = digit(text[at + 2]) << 4 | digit(text[at + 3]);
        weights[place] = (high | low).cast_signed();
        (place, at) = (place + 1, at + DIGITS);
    }
    assert!(place == COUNT, "there are as many as networks need");
    weights
}

const fn digit(text: u8) -> u16 {
    let digit = match text {
        b'0'..=b'9' => text - b'0',
        b'a'..=b'f' => text - b'a' + 10,
        _ => panic!("weights are hexadecimal digits in lines"),
    };
    digit as u16
}

/// The text of a file of weights.
#[cfg(any(test, feature = "testing"))]
pub(super) fn text(weights: &[i16]) -> String {
    let mut text = String::new();
    for line in weights.chunks(WEIGHTS_PER_LINE) {
        for weight in line {
            // Writing to a string does not fail.
            let _ = write!(text, "{:04x}", weight.cast_unsigned());
        }
        text.push('\n');
    }
    text
}

/// For who learns the weights.
#[cfg(any(test, feature = "testing"))]
impl Networks {
    /// From all weights in the order of the questions; `None` when there are too many or too few.
    pub fn of(weights: &[i16]) -> Option<Self> {
        weights.try_into().ok().map(Self::laid_out)
    }

    /// The text of a file of weights.
    pub fn text(&self) -> String {
        text(&self.weights())
    }

    /// All weights in the order of the questions.
    pub fn weights(&self) -> Vec<i16> {
        self.0.iter().flat_map(Network::weights).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{HIDDEN, INPUTS, Inputs, Networks, ONE, Question, WEIGHTS};
    use crate::chance::Dice;
    use crate::games::tongits::quick::sums::WEIGHT_ONE;
    use alloc::vec;
    use alloc::vec::Vec;

    /// One hidden place that hears the first input, with half of it coming out, and one more.
    fn half_and_one() -> Networks {
        let mut weights = vec![0; WEIGHTS * Question::ALL.len()];
        weights[0] = WEIGHT_ONE;
        weights[HIDDEN * (INPUTS + 1)] = WEIGHT_ONE / 2;
        weights[WEIGHTS - 1] = WEIGHT_ONE;
        Networks::of(&weights).unwrap()
    }

    #[test]
    fn a_network_adds_what_it_hears_and_counts_no_negative_value() {
        let networks = half_and_one();
        let one = i64::from(ONE) * i64::from(WEIGHT_ONE);
        let worth = |input: i16| {
            let mut inputs = [0; INPUTS];
            inputs[0] = input;
            networks.output(Question::Dump, &inputs)
        };
        assert_eq!(worth(0), one);
        assert_eq!(worth(ONE), one + one / 2);
        assert_eq!(worth(-ONE), one);
        assert_eq!(networks.output(Question::Fold, &[ONE; INPUTS]), 0);
    }

    /// Against a sum number by number, with weights and inputs of any size.
    #[test]
    fn a_network_says_what_its_weights_say() {
        let mut dice = Dice::numbered(1);
        for most in [300, i16::MAX] {
            let any = |dice: &mut Dice, most: i16| {
                let steps = usize::from(most.unsigned_abs());
                i16::try_from(dice.below(2 * steps + 1)).map_or(most, |steps| steps - most)
            };
            let weights: Vec<i16> =
                (0..WEIGHTS * Question::ALL.len()).map(|_| any(&mut dice, most)).collect();
            let networks = Networks::of(&weights).unwrap();
            for (question, weights) in Question::ALL.into_iter().zip(weights.chunks(WEIGHTS)) {
                let inputs: Inputs = core::array::from_fn(|_| any(&mut dice, 4 * ONE));
                let (rows, last) = weights.split_at(HIDDEN * (INPUTS + 1));
                let mut worth = i64::from(last[HIDDEN]) * i64::from(ONE);
                for (row, to_output) in rows.chunks(INPUTS + 1).zip(last) {
                    let products = row.iter().zip(inputs.iter().chain([&ONE]));
                    let sum: i64 = products.map(|(a, b)| i64::from(*a) * i64::from(*b)).sum();
                    let hidden = (sum / i64::from(WEIGHT_ONE)).clamp(0, 32 * i64::from(ONE));
                    worth += hidden * i64::from(*to_output);
                }
                assert_eq!(networks.output(question, &inputs), worth, "{question:?}, {inputs:?}");
            }
        }
    }

    #[test]
    fn weights_read_as_they_are_written() {
        let networks = half_and_one();
        assert_eq!(Networks::parsed(networks.text().as_bytes()), networks);
        assert_eq!(Networks::of(&networks.weights()), Some(networks.clone()));
        assert_eq!(Networks::of(&networks.weights()[1..]), None);
    }
}
