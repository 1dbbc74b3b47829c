//! The player's own account: profile, wallet, export and deletion.

pub(super) mod export;
pub(crate) mod own_account;
