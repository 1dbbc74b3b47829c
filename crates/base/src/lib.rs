//! The values that all parts of the house share: ids, times, random bytes and stated reasons.
//!
//! Nothing here performs I/O, except that `entropy` reads the system's random numbers and `clock`
//! its time.

pub mod auth_error;
pub mod clock;
pub mod entropy;
pub mod error_line;
pub mod ids;
pub mod reason;
pub mod states;
pub mod text_enum;

// For `text_enum!`, which names this crate.
extern crate self as bahay_base;

#[doc(hidden)]
pub use serde;
