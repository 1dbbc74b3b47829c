//! The games of the house as pure values: rules, tables, fair dealing and matchmaking.
//!
//! The crate reads no clock, draws no randomness and performs no I/O. Time, chance and entropy are
//! arguments, so that every game can be replayed bit for bit from its journal. No result depends on
//! hash order.
//!
//! Dependencies point one way: `tournament` → `catalog`, `matchmaking` → `table` → `game`,
//! `chance` → `seat`, `coins`; `catalog` → `games`; `games` → `game`, `chance`, `cards`. Only `games` and `catalog` may
//! assume a particular game, a number of seats, a single shuffle, or cards at all. The AI is the
//! crate `bahay-bots`, which knows this one.
#![no_std]

extern crate alloc;

#[macro_use]
mod bit_set;
#[macro_use]
pub mod cards;
#[macro_use]
mod actions;
#[macro_use]
mod catalog_macro;
#[macro_use]
mod refusals;
#[macro_use]
mod short_events;
#[macro_use]
pub mod tagged;
#[macro_use]
mod variants;
#[macro_use]
pub mod table;
pub mod catalog;
pub mod chance;
pub mod coins;
pub mod document;
pub mod game;
pub mod games;
pub mod hex;
pub mod matchmaking;
pub mod seat;
pub mod spaces;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tournament;
