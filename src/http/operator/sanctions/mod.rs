//! Bans and mutes.

pub(super) mod api;
pub(crate) mod desk;
mod query;
