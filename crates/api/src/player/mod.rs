//! The players' operations. A topic is a file.

pub mod notices;
pub mod rewards;
pub mod fairness;
pub mod games;
pub mod matchmaking;
pub mod private_tables;
pub mod rooms;

use crate::Operation;

/// The operations of every topic.
pub(crate) static OPERATIONS: &[&[&Operation]] = &[
    notices::OPERATIONS,
    rewards::OPERATIONS,
    fairness::OPERATIONS,
    games::OPERATIONS,
    matchmaking::OPERATIONS,
    private_tables::OPERATIONS,
    rooms::OPERATIONS,
];
