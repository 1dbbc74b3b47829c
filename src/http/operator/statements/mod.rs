//! The statement of a player's wallet.

pub(super) mod api;
pub(crate) mod desk;
mod query;
