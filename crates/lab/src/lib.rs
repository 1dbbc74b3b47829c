//! The laboratory: programs that measure, exercise and study the house, and serve nobody.
//!
//! `loadtest`, `demo` and `play` play against a running server through its public API, and `certify`
//! plays the server to a client under test. `arena`, `simulate`, `env` and `tapes` play games in
//! this process. `farm` and `collusion` measure what cheats can gain, with the server's own
//! functions. `fixtures` fills a database with games.

pub mod arena;
pub mod certify;
pub mod cli;
pub mod collusion;
pub mod demo;
pub mod env;
pub mod farm;
pub mod fixtures;
pub mod loadtest;
pub mod play;
pub mod rules;
pub mod simulate;
pub mod tapes;
