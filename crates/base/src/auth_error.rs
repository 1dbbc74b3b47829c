//! The reasons for which an access token is refused, over REST and on the socket.

use thiserror::Error;

/// The reasons for which authentication fails, in order of precedence: the first that applies is
/// returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AuthError {
    #[error("no access token was given; send it as `Authorization: Bearer <token>`")]
    Missing,
    #[error("the access token is not a token of this server")]
    Malformed,
    #[error("the access token was not signed by this server")]
    Forged,
    #[error("the access token has expired; use the refresh token")]
    Expired,
    /// The session has ended, or has never existed.
    #[error("the session has ended; sign in again")]
    Revoked,
    #[error("sessions are unavailable at the moment; try again")]
    Unavailable,
}

impl AuthError {
    pub const ALL: [Self; 6] = [
        Self::Missing,
        Self::Malformed,
        Self::Forged,
        Self::Expired,
        Self::Revoked,
        Self::Unavailable,
    ];

    /// Returns whether the same token may be accepted later.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Unavailable)
    }

    /// Returns the stable code, in snake case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Missing => "token_missing",
            Self::Malformed => "token_malformed",
            Self::Forged => "token_forged",
            Self::Expired => "token_expired",
            Self::Revoked => "token_revoked",
            Self::Unavailable => "unavailable",
        }
    }
}
