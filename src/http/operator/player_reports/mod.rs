//! Players' reports of others.

pub(super) mod api;
pub(crate) mod desk;
mod query;
