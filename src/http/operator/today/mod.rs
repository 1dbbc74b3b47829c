//! The figures of the day.

pub(crate) mod api;
pub(crate) mod desk;
