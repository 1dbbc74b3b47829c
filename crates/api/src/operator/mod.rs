//! The operators' operations. A topic is a file.

pub mod alerts;
pub mod audit;
pub mod collusion;
pub mod corrections;
pub mod games;
pub mod house;
pub mod jobs;
pub mod ledger;
pub mod operators;
pub mod player_reports;
pub mod players;
pub mod rooms;
pub mod sanctions;
pub mod search;
pub mod settlements;
pub mod statements;
pub mod tables;
pub mod today;
pub mod tournament_requests;
pub mod tournament_schedules;
pub mod tournaments;
pub mod transfers;

use crate::Operation;

/// The operations of every topic.
pub(crate) static OPERATIONS: &[&[&Operation]] = &[
    alerts::OPERATIONS,
    audit::OPERATIONS,
    collusion::OPERATIONS,
    corrections::OPERATIONS,
    games::OPERATIONS,
    house::OPERATIONS,
    jobs::OPERATIONS,
    ledger::OPERATIONS,
    operators::OPERATIONS,
    player_reports::OPERATIONS,
    players::OPERATIONS,
    rooms::OPERATIONS,
    sanctions::OPERATIONS,
    search::OPERATIONS,
    settlements::OPERATIONS,
    statements::OPERATIONS,
    tables::OPERATIONS,
    today::OPERATIONS,
    tournament_requests::OPERATIONS,
    tournament_schedules::OPERATIONS,
    tournaments::OPERATIONS,
    transfers::OPERATIONS,
];
