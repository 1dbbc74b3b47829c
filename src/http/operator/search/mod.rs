//! The search for anything that operators look up.

pub(super) mod api;
pub(crate) mod desk;
mod query;

pub(crate) use query::check_text;
