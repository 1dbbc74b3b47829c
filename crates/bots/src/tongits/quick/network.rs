//! Small integer networks that map the features of a position to its value. There is one network
//! per [`DecisionKind`], all of one shape: inputs, one hidden layer with rectified linear units,
//! one output.
//!
//! Integer arithmetic makes every machine play alike. The weights are data:
//! `examples/tongits_train.rs` trains them, and this module only reads and applies them.

use wide::{i16x8, i32x4, i32x8};

use crate::tongits::quick::candidates::{DecisionKind, Judge};
use crate::tongits::quick::inputs::{INPUTS, Inputs, SeatPosition};
use crate::tongits::quick::sums::{
    LANES, ONE, Pair, activate, add_products, add_weights, pair_rows, row,
};

/// The number of hidden units.
pub const HIDDEN: usize = 32;

/// The upper bound of the hidden layer: 32. With it the sum over a quarter of the units fits 32
/// bits.
const HIDDEN_MAX: i16 = 32 * ONE;

/// The number of weights of a hidden unit in a file.
const ROW: usize = INPUTS + 1;

/// The number of weights of one network: for each hidden unit the weights of its inputs and its
/// bias, then the weights and the bias of the output.
pub const WEIGHTS: usize = HIDDEN * ROW + HIDDEN + 1;

/// The number of hexadecimal digits of a weight.
const DIGITS: usize = 4;

/// The number of networks.
const DECISION_KINDS: usize = DecisionKind::ALL.len();

/// A network for each kind of decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Networks([Network; DECISION_KINDS]);

/// The weights of one network in the order of evaluation, which differs from that of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
struct Network {
    /// By pair of inputs, then by hidden unit.
    inputs: [[Pair; HIDDEN]; INPUTS / 2],
    bias: [i16; HIDDEN],
    output_weights: [i16; HIDDEN],
    output_bias: i16,
}

impl Networks {
    /// Parses a file of weights at compile time.
    ///
    /// # Panics
    ///
    /// Panics if the text is not a valid file of weights.
    pub const fn parse(text: &[u8]) -> Self {
        Self::from_array(&parse_weights(text))
    }

    /// Creates the networks from all weights in file order.
    const fn from_array(weights: &[i16; WEIGHTS * DECISION_KINDS]) -> Self {
        const ZERO: Network = Network::from_array(&[0; WEIGHTS]);
        let mut networks = [ZERO; DECISION_KINDS];
        let mut place = 0;
        while place < DECISION_KINDS {
            networks[place] = Network::from_array(&row(weights, place * WEIGHTS));
            place += 1;
        }
        Self(networks)
    }

    /// Returns the value of a position, in units of 1 /
    /// ([`WEIGHT_ONE`](crate::tongits::quick::sums::WEIGHT_ONE) × [`ONE`]).
    fn output(&self, kind: DecisionKind, inputs: &Inputs) -> i64 {
        let network = &self.0[kind.index()];
        let mut sums = [i32x8::ZERO; HIDDEN / LANES];
        add_weights(&mut sums, &network.bias);
        for (pair, weights) in inputs.as_chunks().0.iter().zip(&network.inputs) {
            if *pair != [0; 2] {
                add_products(&mut sums, weights, *pair);
            }
        }
        let mut sum = i32x4::ZERO;
        for (sums, weights) in sums.iter().zip(network.output_weights.as_chunks().0) {
            sum += activate(*sums, HIDDEN_MAX).dot(i16x8::new(*weights));
        }
        let sum: i64 = sum.to_array().into_iter().map(i64::from).sum();
        i64::from(network.output_bias) * i64::from(ONE) + sum
    }
}

impl Network {
    const fn from_array(weights: &[i16; WEIGHTS]) -> Self {
        let mut bias = [0; HIDDEN];
        let mut place = 0;
        while place < HIDDEN {
            bias[place] = weights[place * ROW + INPUTS];
            place += 1;
        }
        Self {
            inputs: pair_rows(weights, 0, ROW),
            bias,
            output_weights: row(weights, HIDDEN * ROW),
            output_bias: weights[WEIGHTS - 1],
        }
    }

    /// Returns all weights in file order.
    #[cfg(any(test, feature = "testing"))]
    fn weights(&self) -> alloc::vec::Vec<i16> {
        let inputs = crate::tongits::quick::sums::unpair_rows(&self.inputs);
        let mut weights = alloc::vec::Vec::with_capacity(WEIGHTS);
        for (inputs, bias) in inputs.chunks(INPUTS).zip(self.bias) {
            weights.extend_from_slice(inputs);
            weights.push(bias);
        }
        weights.extend(self.output_weights);
        weights.push(self.output_bias);
        weights
    }
}

impl Judge for Networks {
    type Position = (DecisionKind, Inputs);
    /// Positions are evaluated independently of each other.
    type Memory = ();

    fn encode_position(&self, kind: DecisionKind, position: &SeatPosition<'_>) -> Self::Position {
        (kind, position.encode().0)
    }

    fn evaluate(&self, (kind, inputs): &Self::Position, (): &mut ()) -> i64 {
        self.output(*kind, inputs)
    }
}

/// Parses a file of weights, each of [`DIGITS`] hexadecimal digits.
pub(super) const fn parse_weights<const COUNT: usize>(text: &[u8]) -> [i16; COUNT] {
    let mut weights = [0; COUNT];
    let mut place = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\n' {
            at += 1;
            continue;
        }
        let high = parse_digit(text[at]) << 12 | parse_digit(text[at + 1]) << 8;
        let low = parse_digit(text[at + 2]) << 4 | parse_digit(text[at + 3]);
        weights[place] = (high | low).cast_signed();
        (place, at) = (place + 1, at + DIGITS);
    }
    assert!(place == COUNT, "the number of weights does not match the network");
    weights
}

const fn parse_digit(text: u8) -> u16 {
    let digit = match text {
        b'0'..=b'9' => text - b'0',
        b'a'..=b'f' => text - b'a' + 10,
        _ => panic!("weights are lowercase hexadecimal digits"),
    };
    digit as u16
}

/// Returns the text of a file of weights.
#[cfg(any(test, feature = "testing"))]
pub(super) fn format_weights(weights: &[i16]) -> alloc::string::String {
    use core::fmt::Write;
    const WEIGHTS_PER_LINE: usize = 24;
    let mut text = alloc::string::String::new();
    for line in weights.chunks(WEIGHTS_PER_LINE) {
        for weight in line {
            // Writing to a string does not fail.
            let _ = write!(text, "{:04x}", weight.cast_unsigned());
        }
        text.push('\n');
    }
    text
}

/// Functions for training.
#[cfg(any(test, feature = "testing"))]
impl Networks {
    /// Creates the networks from all weights in the order of [`DecisionKind::ALL`]; `None` if their
    /// number is wrong.
    pub fn from_weights(weights: &[i16]) -> Option<Self> {
        weights.try_into().ok().map(Self::from_array)
    }

    /// Returns the text of a file of weights.
    pub fn to_text(&self) -> alloc::string::String {
        format_weights(&self.weights())
    }

    /// Returns all weights in the order of [`DecisionKind::ALL`].
    pub fn weights(&self) -> alloc::vec::Vec<i16> {
        self.0.iter().flat_map(Network::weights).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{DecisionKind, HIDDEN, INPUTS, Inputs, Networks, ONE, WEIGHTS};
    use crate::tongits::quick::sums::WEIGHT_ONE;
    use alloc::vec;
    use alloc::vec::Vec;
    use bahay_engine::chance::ChanceRng;

    /// Returns networks in which one hidden unit takes the first input, and the output is half of
    /// it plus one.
    fn half_and_one() -> Networks {
        let mut weights = vec![0; WEIGHTS * DecisionKind::ALL.len()];
        weights[0] = WEIGHT_ONE;
        weights[HIDDEN * (INPUTS + 1)] = WEIGHT_ONE / 2;
        weights[WEIGHTS - 1] = WEIGHT_ONE;
        Networks::from_weights(&weights).unwrap()
    }

    #[test]
    fn a_network_sums_its_inputs_and_rectifies() {
        let networks = half_and_one();
        let one = i64::from(ONE) * i64::from(WEIGHT_ONE);
        let worth = |input: i16| {
            let mut inputs = [0; INPUTS];
            inputs[0] = input;
            networks.output(DecisionKind::Dump, &inputs)
        };
        assert_eq!(worth(0), one);
        assert_eq!(worth(ONE), one + one / 2);
        assert_eq!(worth(-ONE), one);
        assert_eq!(networks.output(DecisionKind::Fold, &[ONE; INPUTS]), 0);
    }

    /// Compares with scalar arithmetic, for weights and inputs of any magnitude.
    #[test]
    fn a_network_agrees_with_scalar_arithmetic() {
        let mut dice = ChanceRng::from_number(1);
        for most in [300, i16::MAX] {
            let any = |dice: &mut ChanceRng, most: i16| {
                let steps = usize::from(most.unsigned_abs());
                i16::try_from(dice.below(2 * steps + 1)).map_or(most, |steps| steps - most)
            };
            let weights: Vec<i16> =
                (0..WEIGHTS * DecisionKind::ALL.len()).map(|_| any(&mut dice, most)).collect();
            let networks = Networks::from_weights(&weights).unwrap();
            for (kind, weights) in DecisionKind::ALL.into_iter().zip(weights.chunks(WEIGHTS)) {
                let inputs: Inputs = core::array::from_fn(|_| any(&mut dice, 4 * ONE));
                let (rows, last) = weights.split_at(HIDDEN * (INPUTS + 1));
                let mut worth = i64::from(last[HIDDEN]) * i64::from(ONE);
                for (row, output_weights) in rows.chunks(INPUTS + 1).zip(last) {
                    let products = row.iter().zip(inputs.iter().chain([&ONE]));
                    let sum: i64 = products.map(|(a, b)| i64::from(*a) * i64::from(*b)).sum();
                    let hidden = (sum / i64::from(WEIGHT_ONE)).clamp(0, 32 * i64::from(ONE));
                    worth += hidden * i64::from(*output_weights);
                }
                assert_eq!(networks.output(kind, &inputs), worth, "{kind:?}, {inputs:?}");
            }
        }
    }

    #[test]
    fn weights_round_trip_through_text() {
        let networks = half_and_one();
        assert_eq!(Networks::parse(networks.to_text().as_bytes()), networks);
        assert_eq!(Networks::from_weights(&networks.weights()), Some(networks.clone()));
        assert_eq!(Networks::from_weights(&networks.weights()[1..]), None);
    }
}
