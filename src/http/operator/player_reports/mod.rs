//! Players' reports of others.

pub(crate) mod api;
