//! The one list of games that this house plays.

pub use bahay_engine::games::tongits::Tongits;
