//! Reports of one player: the account (`report`), frequent partners and shared devices (`partners`),
//! and the statement of a wallet (`statement`).

mod partners;
mod report;
mod statement;

pub use report::PlayerReport;
pub use statement::{TooManyBookings, write_statement};
