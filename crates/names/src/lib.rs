//! The names that players may choose.
//!
//! A [`Name`] is text that people can read and tell apart (`character_class`, `emoji`). The
//! [`skeletons`] of two names are equal if the names are confusable, and [`is_reserved`] recognises
//! the words of the house in every spelling. The crate stores nothing: whether a name is taken is
//! decided by the accounts.

mod character_class;
mod confusables;
mod emoji;
mod name;
mod reserved;

pub use confusables::{search_skeleton, skeletons};
pub use name::{NAME_TEXT_LENGTH_MAX, Name, ParseNameError};
pub use reserved::is_reserved;
