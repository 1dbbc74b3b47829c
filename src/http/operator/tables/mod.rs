//! Tables, running and stranded.

pub(crate) mod api;
pub(crate) mod desk;
