//! The AI of the house: it chooses actions at every game of the catalogue, from the knowledge of
//! one seat.
//!
//! [`Ai`] extends a game by the choice of actions and by what a search needs. `tongits`,
//! `tongo_options` and `tongo_assets` implement it; `catalog` combines them for `AnyGame`. [`table`]
//! answers the prompts of a table, [`search`] holds the bots up to the searching one and the
//! analysis of games.
//!
//! The feature `lab` adds contests between bots ([`arena`]), games for learning programs ([`gym`])
//! and tables in virtual time ([`simulation`]).
//!
//! As the engine, the crate reads no clock, draws no randomness and performs no I/O.
#![no_std]

extern crate alloc;

mod ai;
#[cfg(feature = "lab")]
pub mod arena;
pub mod catalog;
#[cfg(feature = "lab")]
pub mod gym;
pub mod search;
#[cfg(feature = "lab")]
pub mod simulation;
pub mod table;
pub mod tongits;
mod tongo_assets;
mod tongo_options;

pub use ai::{Ai, SampledGame, net_counts};
