//! Random numbers that follow from a seed.

use bahay_engine::chance::{self, ChanceAnswer, Key, Request};
use bahay_engine::hex::Hex;

/// A random number generator with a seed.
pub(super) struct SeededDice(chance::ChanceRng);

impl SeededDice {
    pub(super) fn new(seed: u64, series: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&series.to_le_bytes());
        Self(chance::ChanceRng::new(Key(Hex(key))))
    }

    pub(super) fn answer(&mut self, request: Request) -> ChanceAnswer {
        self.0.draw(request)
    }

    pub(super) fn below(&mut self, bound: u32) -> u32 {
        match self.0.draw(Request::Number(bound.max(1))) {
            ChanceAnswer::Number(number) => number,
            ChanceAnswer::Order(_) => 0,
        }
    }

    pub(super) fn per_mille(&mut self, share: u32) -> bool {
        share > 0 && self.below(1_000) < share
    }
}
