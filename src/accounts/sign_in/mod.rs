//! The sign-in methods beside the device: names with passwords (`passwords`, `hashing`, `lockout`),
//! and OpenID Connect identities (`identities`, `nonces`).

pub(super) mod hashing;
mod identities;
pub(super) mod lockout;
pub(super) mod nonces;
mod passwords;
