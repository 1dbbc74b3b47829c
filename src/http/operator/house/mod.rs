//! The house's switch.

pub(crate) mod api;
pub(crate) mod desk;
