//! Other players: public data, leaderboards, blocks, mutes and reports.

pub(crate) mod leaderboards;
pub(crate) mod players;
pub(crate) mod profiles;
pub(crate) mod social;
