//! Sign-in methods, tokens, sessions, and proofs of the owner of an account.

pub(super) mod guest;
pub(super) mod openid;
pub(super) mod password;
pub(super) mod proof;
pub(super) mod sessions;
