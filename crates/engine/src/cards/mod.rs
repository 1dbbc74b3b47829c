//! Playing cards: one card or joker, a set of cards as a bit mask, and their notation
//! (rule 1.12).

mod card;
mod set;

pub use card::{Card, NotACard, Rank, Suit};
pub use set::CardSet;
