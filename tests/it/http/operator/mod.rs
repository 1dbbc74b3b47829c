//! The operations of operators, by topic.

mod collusion;
mod correction_requests;
pub(crate) mod corrections;
mod lists;
mod operators;
mod player_reports;
mod reports;
mod reversals;
mod roles;
pub(super) mod room_admin;
mod sanction_races;
mod sanctions;
mod search;
mod settlements;
mod statements;
mod today;
mod transfers;
