//! The parts that the trainers of Tong-its' networks share: options, keys of deals, results of games,
//! and the optimizer.

use std::collections::BTreeMap;
use std::env;

use bahay_engine::chance::Key;
use bahay_engine::game::Outcome;
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::testing::TestRng;

/// The number of rounds whose examples are used for training.
pub const ROUNDS_KEPT: usize = 3;

/// The number of counts that an output of one stands for.
pub const COUNTS_PER_ONE: f32 = 4.0;

/// The options of the command line, each with a value.
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    pub fn parse(known: &[&str]) -> Self {
        let given: Vec<String> = env::args().skip(1).collect();
        let (pairs, []) = given.as_chunks::<2>() else { panic!("each option has a value") };
        let given: BTreeMap<String, String> = pairs.iter().cloned().map(Into::into).collect();
        let is_known = |name: &String| known.contains(&name.as_str());
        assert!(given.keys().all(is_known), "the options are {known:?}");
        Self(given)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn number(&self, name: &str, otherwise: u64) -> u64 {
        self.get(name).map_or(otherwise, |text| text.parse().expect("a number"))
    }

    pub fn list(&self, name: &str, otherwise: &'static str) -> impl Iterator<Item = &str> {
        self.get(name).unwrap_or(otherwise).split(',').filter(|item| !item.is_empty())
    }
}

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
