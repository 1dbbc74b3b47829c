//! The ledger: books, accounts, operations.

pub(crate) mod api;
pub(crate) mod desk;
