//! Rooms, matchmaking, and tables of every kind.

pub(crate) mod matchmaking;
pub(crate) mod practice;
pub(crate) mod private_tables;
pub(crate) mod rematch;
pub(crate) mod rooms;
pub(crate) mod socket_tickets;
pub(crate) mod watchable_tables;
