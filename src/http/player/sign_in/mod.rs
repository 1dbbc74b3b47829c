//! Sign-in methods, tokens, sessions, and proofs of the owner of an account.

pub(crate) mod guest;
pub(crate) mod openid;
pub(crate) mod password;
pub(crate) mod proof;
pub(crate) mod sessions;
