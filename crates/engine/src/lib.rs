//! The games of the house, as pure values.
//!
//! Everything that must be right to the letter is here: the rules of each game, the table that
//! plays one game after another, fair dealing, and the bots. Nothing here reads a clock, draws
//! randomness or does I/O: time, chance and entropy are arguments, so that every game can be
//! replayed bit for bit from what was written down. Iteration never depends on hash order.
//!
//! Arrows go down only: `catalog` → `table`, `games`; `arena` → `table`; `matchmaking` → `table` → `game`, `chance` →
//! `seat`, `coins`; `games` → `game`, `chance`, `cards`. Nothing outside `games` and `catalog` may assume
//! a certain game, a number of seats, one shuffle, or cards at all.
#![no_std]

extern crate alloc;

#[macro_use]
pub mod cards;
#[macro_use]
mod catalog_macro;
#[macro_use]
mod refusals;
pub mod arena;
pub mod catalog;
pub mod chance;
pub mod coins;
pub mod game;
pub mod games;
pub mod gym;
pub mod hex;
pub mod matchmaking;
pub mod seat;
pub mod spaces;
pub mod table;
#[cfg(feature = "testing")]
pub mod testing;
