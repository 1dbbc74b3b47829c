//! Pairs of players by signs of collusion: `signs` scores a pair, `projection` maintains the figures
//! by day, `ranking` lists pairs by their scores, `suspected` counts those that are an alert.
//! `tournament_signs` scores the pairs of one tournament, whose games `tournaments` reads; `conduct`
//! measures how the players of a game played, and
//! `conduct_measurement` does so for all games of tournaments.

pub mod conduct;
mod conduct_measurement;
mod deviations;
mod projection;
mod ranking;
pub mod signs;
mod suspected;
pub mod tournament_signs;
mod tournaments;

pub use conduct_measurement::{ConductMeasurement, PERIOD as CONDUCT_PERIOD};
pub use ranking::{PAIR_DAYS_MAX, PairPosition, Pairs};
pub use tournament_signs::TournamentPair;
