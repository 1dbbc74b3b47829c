//! Refresh tokens: 256 random bits that are good for one use. Only their hash is stored, so a
//! copy of the database signs nobody in.

use std::fmt;
use std::str::FromStr;

use bahay_engine::hex::Hex;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::entropy;

/// What a client keeps and sends once. Prints without its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct RefreshToken(Hex<32>);

/// What the database keeps of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshTokenHash(pub [u8; 32]);

/// The text is not a refresh token of any session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a refresh token is `rt_` and 64 hexadecimal digits")]
pub struct NotARefreshToken;

/// Tells people and secret scanners what they are looking at.
const PREFIX: &str = "rt_";

impl RefreshToken {
    pub fn random() -> Self {
        Self(Hex(entropy::seed()))
    }

    /// A fast hash suffices: 256 random bits cannot be guessed.
    pub fn hash(&self) -> RefreshTokenHash {
        RefreshTokenHash(Sha256::digest(self.0.0).into())
    }

    /// As the client gets it. Not `Display`, so that no log line shows it by accident.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", self.0)
    }
}

impl FromStr for RefreshToken {
    type Err = NotARefreshToken;

    fn from_str(text: &str) -> Result<Self, NotARefreshToken> {
        let digits = text.strip_prefix(PREFIX).ok_or(NotARefreshToken)?;
        digits.parse().map(Self).map_err(|_| NotARefreshToken)
    }
}

impl fmt::Debug for RefreshToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RefreshToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::{NotARefreshToken, RefreshToken};

    #[test]
    fn is_read_as_it_was_revealed_and_never_printed() {
        let token = RefreshToken::random();
        assert_eq!(token.reveal().parse::<RefreshToken>(), Ok(token.clone()));
        assert_eq!(format!("{token:?}"), "RefreshToken(…)");
        assert_ne!(token.hash(), RefreshToken::random().hash());
    }

    #[test]
    fn refuses_everything_else() {
        let digits = "0".repeat(64);
        for text in ["", "rt_", digits.as_str(), "rt_é"] {
            assert_eq!(text.parse::<RefreshToken>(), Err(NotARefreshToken), "{text}");
        }
    }
}
