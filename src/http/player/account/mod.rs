//! The player's own account: profile, wallet, export and deletion.

pub(crate) mod entries_query;
pub(crate) mod export;
pub(crate) mod own_account;
