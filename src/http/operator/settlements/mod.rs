//! Settlements, their totals and export.

pub(super) mod api;
pub(crate) mod desk;
mod query;
