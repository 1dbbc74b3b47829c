//! Random numbers of a test, which follow from its seed.

use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::hex::Hex;

#[derive(Clone, Debug)]
pub(crate) struct TestRandom(ChanceRng);

impl TestRandom {
    pub(crate) fn new(seed: u64) -> Self {
        let mut key = [41; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self(ChanceRng::new(Key(Hex(key))))
    }

    /// Returns a number below a bound of at most 32 bits.
    pub(crate) fn draw_below(&mut self, bound: u64) -> u64 {
        let bound = usize::try_from(bound).expect("a bound of 32 bits");
        self.0.below(bound) as u64
    }

    /// Returns a time below a bound, in milliseconds.
    pub(crate) fn draw_ms(&mut self, bound_ms: u64) -> i64 {
        i64::try_from(self.draw_below(bound_ms)).expect("a bound of 32 bits")
    }

    /// Returns whether an event of this probability happens, as one out of `odds`.
    pub(crate) fn is_drawn(&mut self, odds: u64) -> bool {
        self.draw_below(odds) == 0
    }

    /// Returns one of these values, of which there is at least one.
    pub(crate) fn choose<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[usize::try_from(self.draw_below(values.len() as u64)).expect("a place in a list")]
    }

    pub(crate) fn draw_bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| u8::try_from(self.draw_below(256)).expect("below 256"))
    }
}
