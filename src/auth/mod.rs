//! Who is asking: tokens, and the proof that a request or a socket is a player's.
//!
//! A sign-in opens a *session*. It has one access token at a time worth speaking of (signed,
//! 15 minutes, checked without any I/O) and one refresh token (stored only as a hash, good for one
//! use). A refresh token that comes a second time was stolen, and its session ends, unless the same
//! device repeats the request within a minute: then it gets the same successor (`accounts`).
//!
//! [`Player`] is the proof. It is made only by [`Auth::authenticate`], so a handler that takes
//! one is authorised by its type. A session that ended is known in [`Revocations`], which is
//! asked at every request: access tokens do not outlive their session by their 15 minutes. That a
//! session exists is looked up when the first token of it comes to a node (`known`).
//!
//! [`Holder`] is a further proof, for what could take an account away from its player.
//!
//! Operators have tokens of another kind, and a proof of their own: see `operators`.
//!
//! Deliberately absent: SQL (see `accounts`), cookies, tokens in URLs.

mod asymmetric;
mod extract;
mod holder;
mod hs256;
mod session_cache;
mod operator_secrets;
mod refresh;
mod revocations;
mod sealing;
mod signer;
mod socket_ticket;

use std::sync::Arc;

use thiserror::Error;

use crate::clock::{Clock, Timestamp};
use crate::ids::{PlayerId, SessionId};

use session_cache::SessionCache;

pub(crate) use extract::bearer_token;
pub use holder::{Holder, HolderProof, ParseProofError, PROOF_LIFE, InvalidProofError};
pub(crate) use hs256::install as install_algorithms;
pub use hs256::{hmac_sha256, is_hmac_sha256};
pub use session_cache::{LookupFuture, SessionLookup, LookupError};
pub use operator_secrets::{
    BrowserToken, DeskToken, EnrolmentBrowserToken, EnrolmentCode, ParseOperatorSecretError,
    OperatorToken, SecretHash,
};
pub use refresh::{ParseRefreshTokenError, RefreshToken, RefreshTokenHash, SuccessorSalt};
pub use revocations::Revocations;
pub use sealing::{SEAL_BYTES, SealingKeys, UnsealedSecret};
pub use signer::{ACCESS_TOKEN_LIFE, AccessToken, Signer, WeakSecretError};
pub use socket_ticket::{ParseSocketTicketError, SOCKET_TICKET_LIFE, SocketTicket};

/// A signed-in player. Having the value is being authorised to act for `id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Player {
    pub id: PlayerId,
    pub session: SessionId,
    /// When the token that proved it ends. A socket opened with it may outlive it, as long as
    /// its session is not revoked.
    pub token_expires_at: Timestamp,
    proof: Proof,
}

/// A player with a good access token while the sessions cannot be read. It may return to the table
/// where it sits, until [`Auth::confirm`] says whether its session still exists.
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

/// A player as [`Auth::authenticate_for_return`] finds it.
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

/// Private, so that nobody else makes a [`Player`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Proof;

/// Why somebody is nobody. Ordered by precedence: the first that holds is told.
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
    /// Also one that never was.
    #[error("the session has ended; sign in again")]
    Revoked,
    #[error("sessions cannot be read just now; try again")]
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

    /// The same token may be believed later.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Unavailable)
    }

    /// Stable, in snake case.
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

/// Makes and checks access tokens.
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

    /// The player that an access token stands for, now.
    ///
    /// # Errors
    /// The first reason of [`AuthError`] that holds.
    pub async fn authenticate(&self, token: &str) -> Result<Player, AuthError> {
        let player = self.verify_token(token)?;
        self.check_session(player).await
    }

    /// As [`Auth::authenticate`], but accepts the signature alone while the sessions cannot be read.
    ///
    /// # Errors
    /// The first reason of [`AuthError`] that holds, except [`AuthError::Unavailable`].
    pub async fn authenticate_for_return(&self, token: &str) -> Result<ReturningPlayer, AuthError> {
        let player = self.verify_token(token)?;
        match self.check_session(player).await {
            Ok(player) => Ok(ReturningPlayer::Confirmed(player)),
            Err(AuthError::Unavailable) => Ok(ReturningPlayer::Unconfirmed(UnconfirmedPlayer(player))),
            Err(error) => Err(error),
        }
    }

    /// Looks up the session of a player who returned while that was not possible. One that has ended
    /// is revoked on this node, so that its connections close.
    ///
    /// # Errors
    /// The session has ended, or still cannot be read.
    pub async fn confirm(&self, player: UnconfirmedPlayer) -> Result<Player, AuthError> {
        let confirmed = self.check_session(player.0).await;
        if confirmed == Err(AuthError::Revoked) {
            self.revocations.insert(player.session(), self.clock.now());
        }
        confirmed
    }

    /// Returns the player if its session exists and is its own.
    async fn check_session(&self, player: Player) -> Result<Player, AuthError> {
        let now = self.clock.now();
        let known = match self.cache.find_player(player.session, now) {
            Some(known) => known,
            None => {
                let found = self.lookup.find_player(player.session).await;
                let found = found.map_err(|LookupError| AuthError::Unavailable)?;
                let found = found.ok_or(AuthError::Revoked)?;
                self.cache.insert(player.session, found, now);
                found
            }
        };
        // Ours are of one player each.
        if known == player.id { Ok(player) } else { Err(AuthError::Revoked) }
    }

    /// What was signed, has not expired and has not ended.
    fn verify_token(&self, token: &str) -> Result<Player, AuthError> {
        let player = self.signer.verify(token, self.clock.now())?;
        if self.revocations.contains(player.session) { Err(AuthError::Revoked) } else { Ok(player) }
    }

    /// An access token for a session that the caller has just opened or refreshed.
    pub fn access_token(&self, player: PlayerId, session: SessionId) -> AccessToken {
        let now = self.clock.now();
        self.cache.insert(session, player, now);
        self.signer.sign(player, session, now)
    }

    /// Keys for another purpose, one derived from each signing secret, the one in force first:
    /// whoever learns them learns nothing about the secrets. Make marks with the first, and believe
    /// those of all, so that they outlive the rotation of a secret as tokens do.
    pub fn derived_keys(&self, purpose: &str) -> Vec<[u8; 32]> {
        self.signer.derived_keys(purpose)
    }
}
