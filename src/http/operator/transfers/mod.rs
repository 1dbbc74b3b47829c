//! The sums of booked transfers, for accounting.

pub(super) mod api;
pub(crate) mod desk;
mod query;
