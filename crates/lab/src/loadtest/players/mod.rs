//! The simulated players: the crowd that they form, the play of each over its connections, and the
//! checks of what it receives.

mod audit;
mod board;
pub(super) mod crowd;
pub(super) mod crowd_control;
pub(super) mod frames;
pub(super) mod known_texts;
mod player;
pub(super) mod player_rng;
mod table_connection;
