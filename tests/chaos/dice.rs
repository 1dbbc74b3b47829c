//! Seeded random numbers, so that a plan can be repeated. The generator of tests is sufficient to
//! choose faults and moves, and for nothing else.

use bahay_engine::testing::TestRng;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Dice(TestRng);

impl Dice {
    /// Creates a stream of a seed. Streams with different numbers are independent.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut words = TestRng::new(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        words.word();
        Self(words)
    }

    /// Draws a number below `bound`, which is at least 1. The modulo bias is negligible.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.word() % bound.max(1)
    }

    /// Draws a number from `low` to `high`, both inclusive.
    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Draws true with this chance in percent.
    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// Draws one of several elements, of which there is at least one.
    pub(crate) fn choose<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let place = usize::try_from(self.below(of.len() as u64)).expect("a place in a list");
        &of[place]
    }

    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            let place = usize::try_from(self.below(last as u64 + 1)).expect("a place in a list");
            things.swap(last, place);
        }
    }
}
