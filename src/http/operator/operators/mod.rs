//! Operators: their administration, sessions and tokens.

pub(crate) mod api;
pub(crate) mod desk;
pub(crate) mod sign_in;
pub(crate) mod tokens;
