//! Rooms, matchmaking, tables of every kind, and the tickets of sockets.

pub(super) mod matchmaking;
pub(super) mod private_tables;
pub(super) mod rooms;
pub(super) mod socket_tickets;
pub(super) mod tournament_rounds;
pub(super) mod tournament_pauses;
pub(crate) mod tournament_documents;
pub(crate) mod tournaments;
