//! The main switch of the house.

pub(super) mod api;
pub(crate) mod desk;
