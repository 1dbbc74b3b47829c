//! Proofs of account ownership, required in addition to an access token.
//!
//! A copied access token lets a thief play as the player for 15 minutes. It must not suffice to
//! take over the account: requests that change the sign-in methods or delete the account also
//! require a proof. A player obtains a proof by presenting a credential again (see
//! `accounts::proof`). The proof is valid for [`PROOF_LIFE`] in the session to which it was issued,
//! and is not stored.
//!
//! [`Holder`] is a verified proof as a value: a handler that takes one is authorized by its type.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bahay_engine::hex::Hex;
use thiserror::Error;

use bahay_base::clock::{self, Timestamp};

use super::hs256::{hmac_sha256, is_hmac_sha256};
use super::{Auth, Player, Proof};

/// The life of a proof: long enough to type a password.
pub const PROOF_LIFE: Duration = Duration::from_mins(5);

/// The purpose for which the key of proofs is derived.
const PURPOSE: &str = "proofs of account holders";

/// The prefix by which people and secret scanners recognize a proof.
const PREFIX: &str = "ap_";

/// The expiry in the first bytes of a proof; the message authentication code follows.
const TIME_BYTES: usize = 8;
const PROOF_BYTES: usize = TIME_BYTES + 32;

/// A player who has presented a valid proof. The value authorizes changes of the account's sign-in
/// methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    pub player: Player,
    proof: Proof,
}

/// A proof as the client receives and sends it. `Debug` omits the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct HolderProof {
    bytes: Hex<PROOF_BYTES>,
    pub expires_at: Timestamp,
}

/// The error of a text that is no proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a proof is `ap_` and 80 hexadecimal digits")]
pub struct ParseProofError;

/// The error of a proof that has expired, belongs to another session, or was not issued by this
/// server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the proof is of another session or older than five minutes; present a credential again")]
pub struct InvalidProofError;

impl HolderProof {
    /// Returns the text for the client. There is no `Display`, so that the secret does not reach a
    /// log by accident.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", self.bytes)
    }
}

impl FromStr for HolderProof {
    type Err = ParseProofError;

    fn from_str(text: &str) -> Result<Self, ParseProofError> {
        let digits = text.strip_prefix(PREFIX).ok_or(ParseProofError)?;
        let bytes: Hex<PROOF_BYTES> = digits.parse().map_err(|_| ParseProofError)?;
        let mut time = [0; TIME_BYTES];
        time.copy_from_slice(&bytes.0[..TIME_BYTES]);
        Ok(Self { bytes, expires_at: Timestamp::from_ms(i64::from_be_bytes(time)) })
    }
}

impl fmt::Debug for HolderProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HolderProof").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

impl Auth {
    /// Issues a proof to a player who has just presented a credential.
    pub fn holder_proof(&self, player: &Player) -> HolderProof {
        let expires_at = clock::add(self.clock.now(), PROOF_LIFE);
        let mut bytes = [0; PROOF_BYTES];
        let (time, mac) = bytes.split_at_mut(TIME_BYTES);
        time.copy_from_slice(&expires_at.ms().to_be_bytes());
        // The first key is the current one.
        let key = self.derived_keys(PURPOSE).swap_remove(0);
        mac.copy_from_slice(&hmac_sha256(&key, &message(player, expires_at)));
        HolderProof { bytes: Hex(bytes), expires_at }
    }

    /// Verifies a proof of the player.
    ///
    /// # Errors
    /// [`InvalidProofError`].
    pub fn holder(&self, player: Player, proof: &HolderProof) -> Result<Holder, InvalidProofError> {
        let message = message(&player, proof.expires_at);
        let mac = &proof.bytes.0[TIME_BYTES..];
        let keys = self.derived_keys(PURPOSE);
        let is_ours = keys.iter().any(|key| is_hmac_sha256(key, &message, mac));
        if is_ours && self.clock.now() < proof.expires_at {
            Ok(Holder { player, proof: Proof })
        } else {
            Err(InvalidProofError)
        }
    }
}

fn message(player: &Player, expires_at: Timestamp) -> Vec<u8> {
    let mut message = player.id.0.as_bytes().to_vec();
    message.extend_from_slice(player.session.0.as_bytes());
    message.extend_from_slice(&expires_at.ms().to_be_bytes());
    message
}

#[cfg(test)]
mod tests {
    use super::{HolderProof, InvalidProofError, PROOF_LIFE, ParseProofError};
    use std::sync::Arc;

    use crate::{Auth, LookupFuture, Player, SessionLookup, Signer};
    use bahay_base::clock::{Clock, Timestamp};
    use bahay_base::entropy::uuid;
    use bahay_base::ids::{PlayerId, SessionId};

    const SECRET: &[u8] = b"0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    const OTHER: &[u8] = b"f0e1d2c3b4a5968778695a4b3c2d1e0f";

    /// A lookup without sessions. The tests' sessions are in the cache of the `Auth` that issues
    /// their tokens.
    #[derive(Debug)]
    struct Empty;

    impl SessionLookup for Empty {
        fn find_player(&self, _: SessionId) -> LookupFuture<'_> {
            Box::pin(std::future::ready(Ok(None)))
        }
    }

    fn auth(signer: Signer, clock: &Clock) -> Auth {
        Auth::new(signer, clock.clone(), Arc::new(Empty))
    }

    async fn player(auth: &Auth, player: PlayerId) -> Player {
        let token = auth.access_token(player, SessionId(uuid())).reveal();
        auth.authenticate(&token).await.unwrap()
    }

    #[tokio::test]
    async fn a_proof_is_valid_in_one_session_for_five_minutes() {
        let clock = Clock::set_to(Timestamp::from_ms(1_772_366_400_250));
        let auth = auth(Signer::new(SECRET).unwrap(), &clock);
        let maria = player(&auth, PlayerId(uuid())).await;
        let elsewhere = player(&auth, maria.id).await;
        let proof: HolderProof = auth.holder_proof(&maria).reveal().parse().unwrap();
        assert_eq!(auth.holder(maria, &proof).unwrap().player, maria);
        assert_eq!(auth.holder(elsewhere, &proof), Err(InvalidProofError));
        clock.advance(PROOF_LIFE);
        assert_eq!(auth.holder(maria, &proof), Err(InvalidProofError));
    }

    #[tokio::test]
    async fn a_proof_with_any_changed_character_is_refused() {
        let clock = Clock::set_to(Timestamp::from_ms(1_772_366_400_250));
        let auth = auth(Signer::new(SECRET).unwrap(), &clock);
        let maria = player(&auth, PlayerId(uuid())).await;
        let text = auth.holder_proof(&maria).reveal();
        for place in 3..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = if bytes[place] == b'a' { b'b' } else { b'a' };
            let changed: HolderProof = String::from_utf8(bytes).unwrap().parse().unwrap();
            assert_eq!(auth.holder(maria, &changed), Err(InvalidProofError), "at {place}");
        }
        for text in ["", "ap_", "ap_00", &text[3..]] {
            assert_eq!(text.parse::<HolderProof>(), Err(ParseProofError), "{text}");
        }
        assert!(!format!("{:?}", auth.holder_proof(&maria)).contains("ap_"));
    }

    #[tokio::test]
    async fn a_proof_outlives_the_rotation_of_a_secret() {
        let clock = Clock::set_to(Timestamp::from_ms(1_772_366_400_250));
        let old = auth(Signer::new(OTHER).unwrap(), &clock);
        let maria = player(&old, PlayerId(uuid())).await;
        let proof = old.holder_proof(&maria);
        let new = Signer::new(SECRET).unwrap();
        assert_eq!(auth(new, &clock).holder(maria, &proof), Err(InvalidProofError));
        let both = Signer::new(SECRET).unwrap().with_previous(OTHER).unwrap();
        assert!(auth(both, &clock).holder(maria, &proof).is_ok());
    }
}
