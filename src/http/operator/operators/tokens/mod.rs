//! Operators' tokens for programs.

pub(crate) mod api;
pub(crate) mod desk;
