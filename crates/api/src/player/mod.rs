//! The players' operations. A topic is a file.

pub mod account;
pub mod export;
pub mod fairness;
pub mod games;
pub mod leaderboards;
pub mod matchmaking;
pub mod notices;
pub mod people;
pub mod private_tables;
pub mod rewards;
pub mod rooms;
pub mod sign_in;
pub mod tournament_pauses;
pub mod tournament_rounds;
pub mod tournaments;

use crate::Operation;

/// The operations of every topic.
pub(crate) static OPERATIONS: &[&[&Operation]] = &[
    account::OPERATIONS,
    export::OPERATIONS,
    fairness::OPERATIONS,
    games::OPERATIONS,
    leaderboards::OPERATIONS,
    matchmaking::OPERATIONS,
    notices::OPERATIONS,
    people::OPERATIONS,
    private_tables::OPERATIONS,
    rewards::OPERATIONS,
    rooms::OPERATIONS,
    sign_in::OPERATIONS,
    tournament_rounds::OPERATIONS,
    tournament_pauses::OPERATIONS,
    tournaments::OPERATIONS,
];
