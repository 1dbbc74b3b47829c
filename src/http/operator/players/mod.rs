//! Players and the notes about them.

pub(super) mod api;
pub(crate) mod desk;
mod query;
