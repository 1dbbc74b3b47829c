//! The management of rooms.

pub(crate) mod api;
pub(crate) mod desk;
