//! Tables of several nodes: their games, players and clocks, and defective ones.

mod brief;
mod fairness;
mod halting;
mod house_clock;
mod lost;
mod nodes;
mod other_game;
mod parted;
mod play;
mod presence;
mod seeds;
mod shared;
mod takeovers;
