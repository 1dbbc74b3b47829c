//! Random bytes, expanded from the seed that the caller draws for each core.

use std::fmt;

use sha2::{Digest, Sha256};

/// A generator: the SHA-256 of the secret seed and a counter, block by block.
#[derive(Clone)]
pub(crate) struct Random {
    seed: [u8; 32],
    blocks: u64,
    unused: Vec<u8>,
}

impl Random {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self { seed, blocks: 0, unused: Vec::new() }
    }

    pub(crate) fn draw_bytes(&mut self, count: usize) -> Vec<u8> {
        while self.unused.len() < count {
            let block = Sha256::new()
                .chain_update(self.seed)
                .chain_update(self.blocks.to_le_bytes())
                .finalize();
            self.blocks += 1;
            self.unused.extend_from_slice(&block);
        }
        self.unused.drain(..count).collect()
    }

    /// Returns random bytes as hexadecimal digits.
    pub(crate) fn draw_hex(&mut self, count: usize) -> String {
        self.draw_bytes(count).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns a random time between half of `ms` and `ms`, so that many waiting clients do not
    /// return at once.
    pub(crate) fn draw_jitter(&mut self, ms: i64) -> i64 {
        let bytes = self.draw_bytes(2);
        let share = i64::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        ms * (65_536 + share) / 131_072
    }
}

/// Formats the generator without its seed.
impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Random").field("blocks", &self.blocks).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn bytes_follow_from_the_seed_and_never_repeat() {
        let mut random = Random::new([1; 32]);
        let first = random.draw_hex(24);
        assert_eq!(first.len(), 48);
        assert_ne!(random.draw_hex(24), first);
        assert_eq!(Random::new([1; 32]).draw_hex(24), first);
        assert_ne!(Random::new([2; 32]).draw_hex(24), first);
        assert!((0..1_000).all(|_| (300..600).contains(&random.draw_jitter(600))));
    }
}
