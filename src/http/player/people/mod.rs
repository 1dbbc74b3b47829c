//! Other players: public data, leaderboards, blocks, mutes and reports.

pub(super) mod leaderboards;
pub(super) mod players;
pub(crate) mod profiles;
pub(crate) mod social;
