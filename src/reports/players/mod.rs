//! Reports of one player: the account (`report`), frequent partners and shared devices (`partners`),
//! and the statement of a wallet (`statement`) with the explanations of its lines (`explanations`).

mod explanations;
mod partners;
mod report;
mod statement;

pub use report::PlayerReport;
pub use statement::{TooManyBookings, describe_items, write_statement};
