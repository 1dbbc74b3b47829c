//! Refresh tokens: 256 random bits that are valid for one use. Only their hash is stored, so a copy
//! of the database signs nobody in.
//!
//! The successor of a token is derived from the token and a random [`SuccessorSalt`], so that a
//! client that has lost an answer can receive the same successor again although the server stores
//! no token. Neither the salt alone, as in a copy of the database, nor the token alone, as in the
//! hands of a thief, yields the successor.

use std::fmt;

use bahay_engine::hex::Hex;
use sha2::{Digest, Sha256};

use bahay_base::entropy;

use super::hex_secret::hex_secret;
use super::hs256::hmac_sha256;

hex_secret! {
    /// A refresh token as the client keeps and sends it.
    RefreshToken = "rt_",
    /// The error of a text that is no refresh token.
    #[error("a refresh token is `rt_` and 64 hexadecimal digits")]
    ParseRefreshTokenError
}

/// The stored hash of a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshTokenHash(pub [u8; 32]);

/// A random value that, together with a refresh token, yields the token's successor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SuccessorSalt(pub [u8; 32]);

impl SuccessorSalt {
    pub fn random() -> Self {
        Self(entropy::seed())
    }
}

impl fmt::Debug for SuccessorSalt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SuccessorSalt(…)")
    }
}

impl RefreshToken {
    /// Derives the token that replaces this one, by HMAC-SHA256 with this token as the key. The
    /// same salt yields the same successor.
    #[must_use]
    pub fn successor(&self, salt: &SuccessorSalt) -> Self {
        Self(Hex(hmac_sha256(&self.0.0, &[b"bahay refresh token ", &salt.0[..]].concat())))
    }

    /// Returns the stored hash. A fast hash suffices: 256 random bits cannot be guessed.
    pub fn hash(&self) -> RefreshTokenHash {
        RefreshTokenHash(Sha256::digest(self.0.0).into())
    }
}

#[cfg(test)]
mod tests {
    use super::{ParseRefreshTokenError, RefreshToken, SuccessorSalt};

    #[test]
    fn a_revealed_secret_parses_and_is_never_printed() {
        let token = RefreshToken::random();
        assert_eq!(token.reveal().parse::<RefreshToken>(), Ok(token.clone()));
        assert_eq!(format!("{token:?}"), "RefreshToken(…)");
        assert_ne!(token.hash(), RefreshToken::random().hash());
    }

    #[test]
    fn a_successor_needs_its_predecessor_and_the_salt() {
        let token = RefreshToken::random();
        let salt = SuccessorSalt::random();
        let successor = token.successor(&salt);
        assert_eq!(token.successor(&salt), successor);
        for other in [
            token.clone(),
            token.successor(&SuccessorSalt::random()),
            RefreshToken::random().successor(&salt),
            successor.successor(&salt),
        ] {
            assert_ne!(other, successor);
        }
        assert_eq!(format!("{salt:?}"), "SuccessorSalt(…)");
    }

    #[test]
    fn refuses_everything_else() {
        let digits = "0".repeat(64);
        for text in ["", "rt_", digits.as_str(), "rt_é"] {
            assert_eq!(text.parse::<RefreshToken>(), Err(ParseRefreshTokenError), "{text}");
        }
    }
}
