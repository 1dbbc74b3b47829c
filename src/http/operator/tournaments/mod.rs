//! Tournaments, which operators announce and cancel.

pub(super) mod api;
