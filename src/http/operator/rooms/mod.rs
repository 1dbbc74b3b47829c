//! The management of rooms.

pub(super) mod api;
pub(crate) mod desk;
mod query;
mod settings_form;
