//! Players and the notes about them.

pub(super) mod api;
pub(crate) mod desk;
mod query;

pub(crate) use query::{find_by_name, find_one, find_report};
