//! Pairs of players by signs of collusion: `signs` scores a pair, `projection` maintains the figures
//! by day, `ranking` lists pairs by their scores, `suspected` counts those that are an alert.

mod projection;
mod ranking;
pub mod signs;
mod suspected;

pub use ranking::{PAIR_DAYS_MAX, PairPosition, Pairs};
