//! A player's account: sign-in, sessions, proofs, profile, export and deletion.

mod export_and_deletion;
mod openid;
mod own_account;
mod passwords;
mod profiles;
mod proof;
mod sessions;
mod sign_in;
