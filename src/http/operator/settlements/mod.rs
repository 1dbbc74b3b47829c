//! Settlements, their totals and export.

pub(crate) mod api;
pub(crate) mod desk;
