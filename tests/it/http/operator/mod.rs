//! The operations of operators, by topic.

mod corrections;
mod operators;
mod player_reports;
pub(super) mod reports;
mod reversals;
pub(super) mod room_admin;
pub(super) mod sanction_races;
mod sanctions;
