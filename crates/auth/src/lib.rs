//! Authentication: tokens, and the proof that a request or a socket belongs to a player.
//!
//! A sign-in opens a *session*. It has one current access token (signed, valid for 15 minutes,
//! verified without I/O) and one refresh token (stored as a hash, valid for one use). A refresh
//! token that is used a second time was stolen, and its session ends, unless the same device
//! repeats the request within a minute: then the device receives the same successor (`refresh`).
//!
//! [`Player`] is the proof of authentication. Only [`Auth::authenticate`] and its variants create
//! one, so a handler that takes a `Player` is authorized by its type. Ended sessions are recorded
//! in [`Revocations`], which is checked at every request, so that access tokens do not outlive
//! their session. The existence of a session is looked up when its first token reaches a node
//! (`session_cache`).
//!
//! [`Holder`] is a further proof, required for requests that could take an account away from its
//! player.
//!
//! Operators have tokens of another kind and their own proof (`operator_secrets`), and a second
//! factor.
//!
//! Deliberately absent: SQL, which is that of the service; cookies for players; tokens in URLs.

mod asymmetric;
mod headers;
mod hex_secret;
mod holder;
mod hs256;
mod operator_secrets;
mod refresh;
mod revocations;
mod sealing;
mod second_factor;
mod session_cache;
mod signer;
mod socket_ticket;

use std::sync::Arc;

use bahay_base::clock::{Clock, Timestamp};
use bahay_base::ids::{PlayerId, SessionId};

use session_cache::SessionCache;

pub use bahay_base::auth_error::AuthError;
pub use headers::bearer_token;
pub use holder::{Holder, HolderProof, InvalidProofError, PROOF_LIFE, ParseProofError};
pub use hs256::install as install_algorithms;
pub use hs256::{hmac_sha256, is_hmac_sha256};
pub use operator_secrets::{
    BrowserToken, DeskToken, EnrolmentBrowserToken, EnrolmentCode, OperatorToken,
    ParseOperatorSecretError, SecretHash,
};
pub use refresh::{ParseRefreshTokenError, RefreshToken, RefreshTokenHash, SuccessorSalt};
pub use revocations::Revocations;
pub use sealing::{SEAL_BYTES, SealingKeys, UnsealedSecret};
pub use second_factor::SecondFactor;
pub use session_cache::{LookupError, LookupFuture, SessionLookup};
pub use signer::{ACCESS_TOKEN_LIFE, AccessToken, Signer, WeakSecretError};
pub use socket_ticket::{ParseSocketTicketError, SocketTicket};

/// A signed-in player. The value authorizes acting for `id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Player {
    pub id: PlayerId,
    pub session: SessionId,
    /// The expiry of the token. A socket that was opened with the token may outlive it, as long as
    /// the session is not revoked.
    pub token_expires_at: Timestamp,
    proof: Proof,
}

/// A player with a valid access token whose session could not be looked up. The player may return
/// to its table until [`Auth::confirm`] determines whether the session exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnconfirmedPlayer(Player);

impl UnconfirmedPlayer {
    pub fn id(&self) -> PlayerId {
        self.0.id
    }

    pub fn session(&self) -> SessionId {
        self.0.session
    }
}

/// The result of [`Auth::authenticate_for_return`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturningPlayer {
    Confirmed(Player),
    Unconfirmed(UnconfirmedPlayer),
}

impl ReturningPlayer {
    pub fn id(&self) -> PlayerId {
        match self {
            Self::Confirmed(player) => player.id,
            Self::Unconfirmed(player) => player.id(),
        }
    }
}

/// A private field type, so that only this module creates a [`Player`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Proof;

/// The issuer and verifier of access tokens.
#[derive(Clone, Debug)]
pub struct Auth {
    signer: Arc<Signer>,
    clock: Clock,
    revocations: Revocations,
    cache: SessionCache,
    lookup: Arc<dyn SessionLookup>,
}

impl Auth {
    pub fn new(signer: Signer, clock: Clock, lookup: Arc<dyn SessionLookup>) -> Self {
        let revocations = Revocations::default();
        let cache = SessionCache::default();
        Self { signer: Arc::new(signer), clock, revocations, cache, lookup }
    }

    pub fn revocations(&self) -> &Revocations {
        &self.revocations
    }

    /// Authenticates the player of an access token.
    ///
    /// # Errors
    /// The first reason of [`AuthError`] that applies.
    pub async fn authenticate(&self, token: &str) -> Result<Player, AuthError> {
        let player = self.verify_token(token)?;
        self.check_session(player).await
    }

    /// Authenticates like [`Auth::authenticate`], but accepts the signature alone while sessions
    /// cannot be looked up.
    ///
    /// # Errors
    /// The first reason of [`AuthError`] that applies, except [`AuthError::Unavailable`].
    pub async fn authenticate_for_return(&self, token: &str) -> Result<ReturningPlayer, AuthError> {
        let player = self.verify_token(token)?;
        match self.check_session(player).await {
            Ok(player) => Ok(ReturningPlayer::Confirmed(player)),
            Err(AuthError::Unavailable) => {
                Ok(ReturningPlayer::Unconfirmed(UnconfirmedPlayer(player)))
            }
            Err(error) => Err(error),
        }
    }

    /// Looks up the session of a player who returned without a lookup. If the session has ended, it
    /// is revoked on this node, so that its connections close.
    ///
    /// # Errors
    /// [`AuthError::Revoked`] if the session has ended, [`AuthError::Unavailable`] if it still
    /// cannot be looked up.
    pub async fn confirm(&self, player: UnconfirmedPlayer) -> Result<Player, AuthError> {
        let confirmed = self.check_session(player.0).await;
        if confirmed == Err(AuthError::Revoked) {
            self.revocations.insert(player.session(), self.clock.now());
        }
        confirmed
    }

    /// Returns the player if its session exists and belongs to it.
    async fn check_session(&self, player: Player) -> Result<Player, AuthError> {
        let now = self.clock.now();
        let owner = match self.cache.find_player(player.session, now) {
            Some(owner) => owner,
            None => {
                let found = self.lookup.find_player(player.session).await;
                let found = found.map_err(|LookupError| AuthError::Unavailable)?;
                let found = found.ok_or(AuthError::Revoked)?;
                self.cache.insert(player.session, found, now);
                found
            }
        };
        // A session of this server belongs to one player.
        if owner == player.id { Ok(player) } else { Err(AuthError::Revoked) }
    }

    /// Verifies the signature, the expiry and the revocations of a token, without I/O.
    fn verify_token(&self, token: &str) -> Result<Player, AuthError> {
        let player = self.signer.verify(token, self.clock.now())?;
        if self.revocations.contains(player.session) { Err(AuthError::Revoked) } else { Ok(player) }
    }

    /// Issues an access token for a session that the caller has just opened or refreshed.
    pub fn access_token(&self, player: PlayerId, session: SessionId) -> AccessToken {
        let now = self.clock.now();
        self.cache.insert(session, player, now);
        self.signer.sign(player, session, now)
    }

    /// Returns one key per signing secret, derived for another purpose, the current one first. A
    /// derived key reveals nothing about its secret. Callers sign with the first key and accept
    /// signatures of all, so that these survive the rotation of a secret as tokens do.
    pub fn derived_keys(&self, purpose: &str) -> Vec<[u8; 32]> {
        self.signer.derived_keys(purpose)
    }
}
