//! The operations of players, by topic.

mod account;
mod entries;
mod games;
mod grant_limits;
mod hand_sorting;
mod leaderboards;
mod notices;
mod private_tables;
mod relief;
mod rewards;
mod rooms;
