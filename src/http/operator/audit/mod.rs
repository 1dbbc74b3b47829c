//! Audit entries.

pub(crate) mod api;
pub(crate) mod desk;
