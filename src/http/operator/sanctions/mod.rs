//! Bans and mutes.

pub(super) mod api;
pub(crate) mod desk;
mod named_players;
mod query;

pub(crate) use named_players::NamedPlayers;
