//! Audit entries.

pub(super) mod api;
pub(crate) mod desk;
mod query;
