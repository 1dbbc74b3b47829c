//! Pairs of players by signs of collusion: `signs` scores a pair, `projection` maintains the figures
//! by day, `ranking` lists pairs by their scores, `suspected` counts those that are an alert.
//! `tournament_signs` scores the pairs of one tournament, whose games `tournaments` reads.

mod projection;
mod ranking;
pub mod signs;
mod suspected;
pub mod tournament_signs;
mod tournaments;

pub use ranking::{PAIR_DAYS_MAX, PairPosition, Pairs};
pub use tournament_signs::TournamentPair;
