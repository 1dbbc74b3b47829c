//! Players and the notes about them.

pub(crate) mod api;
pub(crate) mod desk;
