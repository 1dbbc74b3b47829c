//! Tables, running and stranded.

pub(super) mod api;
pub(crate) mod desk;
pub(crate) mod orders;
mod query;
