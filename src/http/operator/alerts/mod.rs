//! The alerts: conditions of the house that require an operator now.

pub(super) mod api;
pub(crate) mod desk;
mod query;
