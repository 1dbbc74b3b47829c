//! Players and the notes about them.

pub(super) mod api;
pub(crate) mod desk;
mod query;

pub(crate) use query::{find, find_report};
