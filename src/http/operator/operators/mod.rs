//! Operators: their administration, sessions and tokens.

pub(super) mod api;
pub(crate) mod desk;
mod query;
pub(crate) mod sign_in;
pub(crate) mod tokens;
