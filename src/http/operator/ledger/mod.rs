//! The ledger: books, accounts, operations.

pub(super) mod api;
pub(crate) mod desk;
mod query;

pub(crate) use query::list_entries;
