//! The ends of a player's connections.

use std::time::Duration;

use bahay_client::PlayError;

/// The refusal code for an expired access token.
pub(super) const TOKEN_EXPIRED: &str = "token_expired";

/// The end of a connection.
pub(super) enum ConnectionEnd {
    /// The player was ordered to leave.
    Over,
    /// The player has no seat any more.
    Unseated,
    /// Disconnected on purpose; the player reconnects after this time.
    BrokenOff(Duration),
    /// Refused because the access token has expired.
    Expired,
    /// Broken, with the code of the error.
    Lost(String),
}

impl ConnectionEnd {
    /// Classifies the error that broke a connection.
    pub(super) fn from_error(error: &PlayError) -> Self {
        Self::Lost(match error {
            PlayError::Upgrade { code, .. } if code == TOKEN_EXPIRED => return Self::Expired,
            PlayError::Socket(_) => "socket".to_owned(),
            PlayError::Upgrade { status, code } => format!("upgrade_{status}_{code}"),
            PlayError::Closed { code, .. } => format!("closed_{code}"),
            PlayError::Nonsense(_) => "nonsense".to_owned(),
            PlayError::Gap { .. } => "gap".to_owned(),
            PlayError::Refused { code, .. } => code.clone(),
        })
    }
}
