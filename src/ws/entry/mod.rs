//! The way to a session: the upgrade of the request, and authentication.

pub(super) mod authentication;
pub(super) mod handshake;
pub(super) mod session_confirmation;
pub(super) mod upgrade;
