//! What fuzz targets share: bytes as decisions, and edits of documents.
//!
//! Bytes that are taken for JSON as they are hardly ever come past its syntax. So each target starts from a
//! document that is right, and the bytes decide what is changed in it and what is done next.

pub mod documents;
pub mod game;
pub mod messages;
pub mod tables;

/// The ledger's own, without the rest of the ledger.
#[path = "../../src/ledger/canonical.rs"]
#[expect(dead_code, reason = "only the form of one document is looked at")]
pub mod canonical;

/// Decisions out of bytes; when they are spent, each is the first choice.
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

    /// A number below `n`; zero when `n` is.
    pub fn below(&mut self, n: usize) -> usize {
        let word = u16::from_le_bytes([self.byte(), if n > 256 { self.byte() } else { 0 }]);
        usize::from(word).checked_rem(n).unwrap_or(0)
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(core::array::from_fn(|_| self.byte()))
    }
}
