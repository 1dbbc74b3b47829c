//! Playing cards: a card or joker, a set of cards as a bit mask, and their notation (rule 1.12).
//! Games with cards of their own define them by the same macros.

#[macro_use]
mod macros;

mod card;
mod set;

pub use card::{Card, ParseCardError, Rank, Suit};
pub use set::CardSet;

/// Returns the letters of a card as text.
pub(crate) fn text(letters: &[u8]) -> &str {
    core::str::from_utf8(letters).expect("the letters of cards are ASCII")
}
