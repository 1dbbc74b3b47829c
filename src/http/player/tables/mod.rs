//! Rooms, matchmaking, tables of every kind, and the tickets of sockets.

pub(super) mod matchmaking;
pub(super) mod private_tables;
pub(super) mod rooms;
pub(super) mod socket_tickets;
pub(crate) mod tournament_documents;
pub(super) mod tournament_pauses;
pub(super) mod tournament_rounds;
pub(crate) mod tournaments;
