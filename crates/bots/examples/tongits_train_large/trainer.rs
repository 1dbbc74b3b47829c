//! The large network in training, in floating-point numbers (Adam, mean squared error).
//!
//! Most of the prediction error of a position is caused by the hidden cards and is common to all
//! actions of a decision. Only a small part of this common error is trained on. The remainder is
//! the difference between the actions.
//!
//! The network also predicts auxiliary targets that it cannot see, the deadwoods of the others and
//! a chow of the dump by the next seat, which directs the hidden layers to relevant features. The
//! auxiliary outputs are not written to the file of weights.

use bahay_bots::tongits::{
    CARD_WEIGHT_MAX, CARDS, CATEGORY_FROM, HIDDEN_1, HIDDEN_2, INPUTS, LargeNetwork, ONE, OUTPUTS,
    SETS, WEIGHT_MAX, WEIGHT_ONE,
};
use bahay_engine::testing::TestRng;

use crate::learner::TrainingExample;
use crate::run_on_threads;
use crate::training::{Adam, draw_weight};

/// The number of decisions per optimizer step.
const BATCH: usize = 256;

/// The number of trained outputs: those of the network and the auxiliary ones.
pub(crate) const LEARNED: usize = OUTPUTS + 3;

/// The weight of each output's error.
const ERROR_WEIGHTS: [f32; LEARNED] = [8.0, 1.0, 0.5, 0.5, 1.0];

/// The share of the error common to all actions of a decision that is trained on.
const IN_COMMON: f32 = 0.2;

/// The upper bound of a hidden unit, as in the integer network.
const HIDDEN_MAX: f32 = 15.0;

/// The offsets of the first layer's rows: the values of categories, the inputs, and the cards of
/// each set.
const NUMBERS: usize = CATEGORY_FROM[CATEGORY_FROM.len() - 1];
const SETS_FROM: usize = NUMBERS + INPUTS;
const ROWS: usize = SETS_FROM + SETS * CARDS;

/// The offset of each part of the trained weights.
const BIAS_1: usize = ROWS * HIDDEN_1;
const SECOND: usize = BIAS_1 + HIDDEN_1;
const BIAS_2: usize = SECOND + HIDDEN_2 * HIDDEN_1;
const LAST: usize = BIAS_2 + HIDDEN_2;
const BIAS_3: usize = LAST + LEARNED * HIDDEN_2;
const WEIGHTS: usize = BIAS_3 + LEARNED;

/// The network in training.
pub(crate) struct Trainer(Adam);

impl Trainer {
    /// Creates a randomly initialized network. The weights of single cards are zero at first.
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = TestRng::new(seed);
        let mut weights = vec![0.0; WEIGHTS];
        for (from, end, wide) in
            [(0, SETS_FROM * HIDDEN_1, 0.1), (SECOND, BIAS_2, 0.15), (LAST, BIAS_3, 0.3_f32)]
        {
            for weight in &mut weights[from..end] {
                *weight = draw_weight(&mut dice) * wide;
            }
        }
        Self(Adam::new(weights))
    }

    /// Continues from trained weights, without those of the auxiliary outputs.
    pub(crate) fn from_network(large: &LargeNetwork) -> Self {
        let mut weights = vec![0.0; WEIGHTS];
        for (place, weight) in weight_indices().zip(large.weights()) {
            weights[place] = f32::from(weight) / f32::from(WEIGHT_ONE);
        }
        Self(Adam::new(weights))
    }

    /// Returns the network with integer weights, without the auxiliary outputs.
    #[expect(clippy::cast_possible_truncation, reason = "the numbers are clamped")]
    pub(crate) fn large(&self) -> LargeNetwork {
        let one = f32::from(WEIGHT_ONE);
        let integer = |place: usize| {
            let is_card = (SETS_FROM * HIDDEN_1..BIAS_1).contains(&place);
            let most = f32::from(if is_card { CARD_WEIGHT_MAX } else { WEIGHT_MAX });
            (self.0.weights[place] * one).round().clamp(-most, most) as i16
        };
        let weights: Vec<i16> = weight_indices().map(integer).collect();
        LargeNetwork::from_weights(&weights).expect("the number of weights matches the network")
    }

    /// Fits the weights to the examples of these decisions in one pass, and returns the mean
    /// errors.
    pub(crate) fn train_epoch(
        &mut self,
        decisions: &[&[TrainingExample]],
        rate: f32,
    ) -> [f32; LEARNED] {
        let mut errors = [0.0; LEARNED];
        let mut count = 0.0;
        for batch in decisions.chunks(BATCH) {
            let weights = &self.0.weights;
            let parts = run_on_threads(batch.len(), |places| {
                let mut part =
                    PartialGradient { gradient: vec![0.0; WEIGHTS], errors: [0.0; LEARNED] };
                batch[places].iter().for_each(|examples| part.add_decision(weights, examples));
                part
            });
            let examples = batch.iter().map(|examples| examples.len()).sum::<usize>();
            let size = f32::from(u16::try_from(examples).expect("a batch is small"));
            let mut sum = vec![0.0; WEIGHTS];
            let mut squares = [0.0; LEARNED];
            for part in &parts {
                sum.iter_mut().zip(&part.gradient).for_each(|(sum, slope)| *sum += slope);
                add(&mut squares, &part.errors, 1.0);
            }
            // The running mean stays exact where a sum would lose precision.
            count += size;
            let part = size / count;
            for (mean, squares) in errors.iter_mut().zip(squares) {
                *mean += (squares / size - *mean) * part;
            }
            self.0.step(&sum, rate, size);
        }
        errors
    }
}

/// Returns the index of each weight of the network among the trained ones, in the order of the
/// network.
fn weight_indices() -> impl Iterator<Item = usize> {
    let numbers = (0..HIDDEN_1)
        .flat_map(|hidden| (NUMBERS..SETS_FROM).map(move |row| row * HIDDEN_1 + hidden));
    let last = LAST..LAST + OUTPUTS * HIDDEN_2;
    numbers
        .chain(0..NUMBERS * HIDDEN_1)
        .chain(SETS_FROM * HIDDEN_1..LAST)
        .chain(last)
        .chain(BIAS_3..BIAS_3 + OUTPUTS)
}

/// The activations of a position, and the error of each output.
struct ForwardPass {
    first: [f32; HIDDEN_1],
    second: [f32; HIDDEN_2],
    errors: [f32; LEARNED],
}

impl ForwardPass {
    fn run(weights: &[f32], example: &TrainingExample) -> Self {
        let mut first: [f32; HIDDEN_1] = *row(weights, BIAS_1);
        for_each_row(example, |place, by| add(&mut first, row(weights, place * HIDDEN_1), by));
        let first = first.map(|value| value.clamp(0.0, HIDDEN_MAX));
        let mut second: [f32; HIDDEN_2] = *row(weights, BIAS_2);
        for (place, value) in second.iter_mut().enumerate() {
            *value += product(row(weights, SECOND + place * HIDDEN_1), &first);
        }
        let second = second.map(|value| value.clamp(0.0, HIDDEN_MAX));
        let mut errors = [0.0; LEARNED];
        for (output, error) in errors.iter_mut().enumerate() {
            let to_output: &[f32; HIDDEN_2] = row(weights, LAST + output * HIDDEN_2);
            let said = product(to_output, &second) + weights[BIAS_3 + output];
            *error = said - example.targets[output];
        }
        Self { first, second, errors }
    }
}

/// The gradient of some decisions.
struct PartialGradient {
    gradient: Vec<f32>,
    /// The sums of squared errors.
    errors: [f32; LEARNED],
}

impl PartialGradient {
    fn add_decision(&mut self, weights: &[f32], examples: &[TrainingExample]) {
        let mut passes: Vec<ForwardPass> =
            examples.iter().map(|example| ForwardPass::run(weights, example)).collect();
        for one in &passes {
            add(&mut self.errors, &one.errors.map(|error| error * error), 1.0);
        }
        let count = f32::from(u16::try_from(examples.len()).expect("few actions"));
        for output in 0..OUTPUTS {
            let mean = passes.iter().map(|one| one.errors[output]).sum::<f32>() / count;
            passes.iter_mut().for_each(|one| one.errors[output] -= (1.0 - IN_COMMON) * mean);
        }
        for (example, pass) in examples.iter().zip(&passes) {
            self.add_example(weights, example, pass);
        }
    }

    /// Adds the gradient of one example.
    fn add_example(&mut self, weights: &[f32], example: &TrainingExample, pass: &ForwardPass) {
        let gradient = &mut self.gradient;
        let mut back_2 = [0.0; HIDDEN_2];
        for (output, error) in pass.errors.iter().enumerate() {
            let from = LAST + output * HIDDEN_2;
            let slope = error * ERROR_WEIGHTS[output];
            gradient[BIAS_3 + output] += slope;
            add_row(gradient, from, &pass.second, slope);
            add(&mut back_2, row(weights, from), slope);
        }
        let mut back_1 = [0.0; HIDDEN_1];
        for (place, slope) in back_2.into_iter().enumerate() {
            if !is_inside(pass.second[place]) {
                continue;
            }
            let from = SECOND + place * HIDDEN_1;
            gradient[BIAS_2 + place] += slope;
            add_row(gradient, from, &pass.first, slope);
            add(&mut back_1, row(weights, from), slope);
        }
        for (slope, value) in back_1.iter_mut().zip(pass.first) {
            *slope = if is_inside(value) { *slope } else { 0.0 };
        }
        add_row(gradient, BIAS_1, &back_1, 1.0);
        for_each_row(example, |place, by| add_row(gradient, place * HIDDEN_1, &back_1, by));
    }
}

/// Calls `each` for each active row of the first layer, with its input.
fn for_each_row(example: &TrainingExample, mut each: impl FnMut(usize, f32)) {
    for value in example.position.categories {
        each(usize::from(value), 1.0);
    }
    let inputs = example.position.inputs.iter().enumerate().filter(|(_, input)| **input != 0);
    inputs.for_each(|(at, input)| each(NUMBERS + at, f32::from(*input) / f32::from(ONE)));
    for (at, set) in example.position.sets.iter().enumerate() {
        for card in set.iter() {
            each(SETS_FROM + at * CARDS + usize::from(card.index()), 1.0);
        }
    }
}

/// Returns whether the gradient passes the activation function at this value.
fn is_inside(value: f32) -> bool {
    value > 0.0 && value < HIDDEN_MAX
}

fn row<const SIZE: usize>(weights: &[f32], from: usize) -> &[f32; SIZE] {
    weights[from..from + SIZE].try_into().expect("a row has its size")
}

fn add<const SIZE: usize>(sums: &mut [f32; SIZE], row: &[f32; SIZE], by: f32) {
    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value * by);
}

fn add_row<const SIZE: usize>(gradient: &mut [f32], from: usize, row: &[f32; SIZE], by: f32) {
    let sums: &mut [f32; SIZE] =
        (&mut gradient[from..from + SIZE]).try_into().expect("a row has its size");
    add(sums, row, by);
}

/// Returns the scalar product, summed in sixteen lanes that are added at once.
fn product<const SIZE: usize>(one: &[f32; SIZE], other: &[f32; SIZE]) -> f32 {
    let mut sums = [0.0; 16];
    for (one, other) in one.as_chunks::<16>().0.iter().zip(other.as_chunks::<16>().0) {
        for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
            *sum += one * other;
        }
    }
    sums.iter().sum()
}
