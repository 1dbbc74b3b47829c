//! Corrections of the books.

pub(crate) mod api;
pub(crate) mod desk;
mod query;
