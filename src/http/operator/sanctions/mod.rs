//! Bans and mutes.

pub(crate) mod api;
pub(crate) mod desk;
