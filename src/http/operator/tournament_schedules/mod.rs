//! Schedules of tournaments.

pub(crate) mod api;
pub(crate) mod desk;
mod query;
