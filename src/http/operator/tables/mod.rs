//! Tables, running and stranded.

pub(super) mod api;
pub(crate) mod desk;
mod query;
