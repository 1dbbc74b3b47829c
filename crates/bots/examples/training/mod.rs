//! The parts that the trainers of Tong-its' networks share: keys of deals, results of games, and the
//! optimizer.

use bahay_engine::chance::Key;
use bahay_engine::game::Outcome;
use bahay_engine::games::tongits::Action;
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::testing::TestRng;
use bahay_engine::variants;

/// The number of rounds whose examples are used for training.
const ROUNDS_KEPT: usize = 3;

/// The number of counts that an output of one stands for.
pub const COUNTS_PER_ONE: f32 = 4.0;

pub fn key(seed: u64, number: u64) -> Key {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    Key(Hex(key))
}

/// Returns the counts that a seat wins or loses.
pub fn net_counts(outcome: &Outcome, seat: Seat) -> i16 {
    i16::try_from(bahay_bots::net_counts(outcome, seat)).expect("few counts are owed")
}

/// Returns whether the action leads to a position that is evaluated directly.
pub const fn ends_turn(action: &Action) -> bool {
    match action {
        variants!(Action: Draw, Fight, Dump, Challenge, Fold) => true,
        variants!(Action: Chow, Drop, Sapaw, Tongits) => false,
    }
}

/// Adds the examples of a round, and drops those of the earliest if there are too many.
pub fn keep_round<T>(kept: &mut Vec<T>, examples: T) {
    kept.push(examples);
    if kept.len() > ROUNDS_KEPT {
        kept.remove(0);
    }
}

pub fn shuffle<T>(items: &mut [T], dice: &mut TestRng) {
    for last in (1..items.len()).rev() {
        let other = dice.below(u32::try_from(last + 1).expect("the number of items fits"));
        items.swap(last, other as usize);
    }
}

/// Draws a weight from -1 to 1.
pub fn draw_weight(dice: &mut TestRng) -> f32 {
    f32::from(u16::try_from(dice.below(20_001)).expect("a draw is in range")) / 10_000.0 - 1.0
}

/// Weights in training by Adam.
pub struct Adam {
    pub weights: Vec<f32>,
    /// The moment estimates and the number of steps.
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
}

impl Adam {
    pub fn new(weights: Vec<f32>) -> Self {
        let zeros = vec![0.0; weights.len()];
        Self { weights, first: zeros.clone(), second: zeros, steps: 0 }
    }

    /// Performs one step by the gradient of `size` examples.
    pub fn step(&mut self, gradient: &[f32], rate: f32, size: f32) {
        self.steps += 1;
        let kept = 0.9_f32;
        let kept_squares = 0.999_f32;
        let rate =
            rate * (1.0 - kept_squares.powi(self.steps)).sqrt() / (1.0 - kept.powi(self.steps));
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((weight, sum), (first, second)) in self.weights.iter_mut().zip(gradient).zip(moments) {
            let slope = sum / size;
            *first = kept * *first + (1.0 - kept) * slope;
            *second = kept_squares * *second + (1.0 - kept_squares) * slope * slope;
            *weight -= rate * *first / (second.sqrt() + 1e-8);
        }
    }
}
