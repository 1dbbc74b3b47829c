//! The live nodes and their connections (`presence`), and the players with an open socket (`online`).

mod online;
mod presence;

pub use online::{ONLINE_MS, OnlinePublisher};
pub use presence::{GAP_MS, Heartbeat};
