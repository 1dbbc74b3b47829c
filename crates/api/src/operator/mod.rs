//! The operators' operations. A topic is a file.

pub mod corrections;
pub mod games;
pub mod jobs;
pub mod ledger;
pub mod players;
pub mod settlements;
pub mod today;

use crate::Operation;

/// The operations of every topic.
pub(crate) static OPERATIONS: &[&[&Operation]] = &[
    corrections::OPERATIONS,
    games::OPERATIONS,
    jobs::OPERATIONS,
    ledger::OPERATIONS,
    players::OPERATIONS,
    settlements::OPERATIONS,
    today::OPERATIONS,
];
