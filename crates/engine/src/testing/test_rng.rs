//! Seeded random numbers for tests: fast, the same on every platform, and not suitable for fair
//! dealing. The algorithm is SplitMix64.

use crate::chance::{ChanceAnswer, Request, shuffle};

/// A seeded random number generator.
#[derive(Clone, Debug)]
pub struct TestRng(u64);

impl TestRng {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// Returns a number below `n`; zero if `n` is zero. The bias is below what a test can notice.
    pub const fn below(&mut self, n: u32) -> u32 {
        let high = (self.word() >> 32) * n as u64;
        (high >> 32) as u32
    }

    /// Returns a small number below `n`, as [`TestRng::below`] does.
    pub const fn below_u8(&mut self, n: u8) -> u8 {
        self.below(n as u32).to_le_bytes()[0]
    }

    /// Returns one of the items; `None` if there is none.
    pub fn choose<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        let count = u32::try_from(things.len()).ok()?;
        things.get(self.below(count) as usize)
    }

    /// Returns an answer to a game's request.
    pub fn answer(&mut self, request: Request) -> ChanceAnswer {
        match request {
            Request::Number(n) => ChanceAnswer::Number(self.below(n)),
            Request::Order(n) => ChanceAnswer::Order(shuffle(n, |n| self.below(n))),
        }
    }
}
