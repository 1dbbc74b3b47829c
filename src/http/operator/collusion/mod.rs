//! Pairs of players by signs of collusion.

pub(super) mod api;
pub(crate) mod desk;
mod query;
