//! Bytes as decisions.

/// Decisions derived from bytes. After the last byte, each decision is the first choice.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub const fn are_spent(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    /// Returns a number below `n`, or zero if `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        let word = u16::from_le_bytes([self.byte(), if n > 256 { self.byte() } else { 0 }]);
        usize::from(word).checked_rem(n).unwrap_or(0)
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(core::array::from_fn(|_| self.byte()))
    }
}
