//! Players and their sign-in methods: devices, passwords, identities, sessions, profiles and
//! sanctions, stored in PostgreSQL.
//!
//! A guest is identified by a device. The first sign-in of a device creates a player, an empty
//! profile and the welcome grant in one transaction. The primary key of `devices` resolves races,
//! so repeated requests yield one player and one grant. A name with a password, and OpenID Connect
//! identities (`sign_in`), are further sign-in methods of the same player. A network is limited
//! to a number of welcome grants a day; a guest beyond that limit receives the grant on a later day
//! (`players/welcome_grant`).
//!
//! A *session* is one sign-in: a family of refresh tokens of which each replaces its predecessor.
//! Every transaction that opens, refreshes or ends sessions locks the player's row first (`locks`),
//! which orders a sign-in and a ban on any number of nodes.
//!
//! Bounds: a refresh token lives [`REFRESH_TOKEN_LIFE`], a session at most [`SESSION_LIFE`], and a
//! player has at most [`SESSIONS_MAX`] sessions. Expired rows are removed by [`crate::retention`].
//! The number of concurrent password hashes is bounded (`sign_in/hashing`), and so are the failed attempts
//! on a name, at five a minute (`sign_in/lockout`). This module has no cache: the data read at every
//! request is in [`crate::auth::Revocations`].

mod locks;
mod players;
mod proof;
mod sanctions;
mod sessions;
mod sign_in;
mod transaction;

use std::time::Duration;

use bahay_engine::coins::Coins;
use sqlx::PgPool;
use thiserror::Error;

use crate::auth::{AccessToken, Auth, RefreshToken};
use crate::clock::{self, Clock, Timestamp};
use crate::db::{from_sql, to_sql};
use crate::grant_limits::{GrantLimits, GrantRecipient};
use crate::ids::{PlayerId, SessionId};
use crate::ledger::{Ledger, LedgerError};
use crate::openid::{Issuers, OpenIdError};

pub use bahay_names::{AVATARS, Avatar, DeviceId, Name, NewPassword, PasswordAttempt, TimeZone};
pub use players::LOOKUP_MAX;
pub use players::house_bots::HouseBot;
pub use players::names::RENAME_INTERVAL;
pub use sanctions::impose::{
    impose_in_tx as impose_sanction_in_tx, lift_in_tx as lift_sanctions_in_tx,
    lift_one_in_tx as lift_sanction_in_tx,
};
pub use sanctions::{Sanction, SanctionError, SanctionKind, SanctionReader, SanctionRecord};
pub use sessions::end_sessions_in_tx;
pub use sessions::lookup::session_lookup;
pub use sessions::revocations::RevocationCursor;
pub use sign_in::hashing::{HashOptions, HashOptionsError, HashPermit, Hasher};
pub use sign_in::lockout::{AttemptSource, TRUSTED_ORIGIN_LIFE, clear_failures, trusted_since};
pub use sign_in::nonces::NONCE_LIFE;

/// The time for which a refresh token may be used.
pub const REFRESH_TOKEN_LIFE: Duration = Duration::from_hours(30 * 24);

/// The time in which the device that used a refresh token receives the same successor again: longer
/// than clients wait for an answer, and too short for a stolen token to be replayed.
pub const REPEAT_PERIOD: Duration = Duration::from_secs(60);

/// The longest life of a session, however often it is refreshed.
pub const SESSION_LIFE: Duration = Duration::from_hours(365 * 24);

/// The number of live sessions of a player. A device that signs in at every start leaves its
/// sessions behind, so beyond this number the least recently used session ends.
pub const SESSIONS_MAX: usize = 32;

/// The service for accounts. Clones share the pool and the limits.
#[derive(Clone, Debug)]
pub struct Accounts {
    pool: PgPool,
    ledger: Ledger,
    auth: Auth,
    clock: Clock,
    /// The grant for a new player. Zero grants nothing.
    welcome: Coins,
    grants: GrantLimits,
    hasher: Hasher,
    issuers: Issuers,
}

/// Options of the sign-in methods other than devices.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub hashes: HashOptions,
    /// The OpenID Connect issuers whose users may sign in.
    pub issuers: Issuers,
    /// The number of welcome grants for a network in a day.
    pub grants: GrantLimits,
}

/// A player's profile as other players see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicProfile {
    pub id: PlayerId,
    pub name: String,
    pub avatar: String,
    /// The player is a house bot, which no person can sign in to.
    pub is_bot: bool,
    pub created_at: Timestamp,
}

/// The origin of a request, for the player's own list of sessions.
#[derive(Clone, Debug, Default)]
pub struct Visitor {
    /// The name that the client gives itself.
    pub user_agent: Option<String>,
    /// The address, at the granularity of the rate limits.
    pub address: Option<String>,
    /// The network for which grants are counted.
    pub network: Option<String>,
    pub device: Option<DeviceId>,
}

impl Visitor {
    /// Returns the recipient for which the visitor's grants are counted.
    pub(super) fn recipient(&self) -> GrantRecipient<'_> {
        self.network.as_deref().map_or(GrantRecipient::Unknown, GrantRecipient::Network)
    }
}

bahay_base::text_enum! {
    /// The method by which a session was opened.
    pub enum Method {
        Guest = "guest",
        Password = "password",
        OpenId = "openid",
    }
}

/// The tokens of a session, which the client receives once.
#[derive(Clone, Debug)]
pub struct Tokens {
    pub session: SessionId,
    pub access: AccessToken,
    pub refresh: RefreshToken,
    pub refresh_expires_at: Timestamp,
}

/// The errors of accounts, in order of precedence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AccountError {
    #[error("no session has this refresh token")]
    RefreshTokenUnknown,
    #[error("the session has ended; sign in again")]
    SessionEnded,
    /// A second party holds a copy of the token. The server cannot tell the owner from the thief.
    #[error("the refresh token was used before; its session has ended for safety")]
    RefreshTokenReused,
    #[error("the refresh token has expired; sign in again")]
    RefreshTokenExpired,
    #[error("too many sign-ins at the moment; try again in a second")]
    Busy,
    #[error("too many failed sign-ins for this name; try again in a minute")]
    Locked {
        retry_after: Duration,
        /// The attempt is the first that is refused within this window.
        is_first: bool,
    },
    #[error("the ID token is not accepted: {0}")]
    OpenId(OpenIdError),
    #[error("the name or the password is wrong")]
    CredentialsWrong,
    #[error("this is not the current password")]
    PasswordWrong,
    #[error("this device is not one of yours")]
    DeviceWrong,
    #[error("this identity is not linked to you")]
    IdentityWrong,
    #[error("a device does not suffice; use your password or a linked identity")]
    ProofInsufficient,
    #[error("banned {0}")]
    Banned(Sanction),
    #[error("this password is too easy to guess; choose another one")]
    PasswordEasy,
    #[error("this name is reserved for the house")]
    NameReserved,
    #[error("the name may be changed again from {:.0} on", clock::to_jiff(*again_at))]
    NameChangedLately { again_at: Timestamp },
    #[error("this name, or one that looks like it, is taken")]
    NameTaken,
    #[error("a password is set; change it instead")]
    PasswordSet,
    #[error("no password is set")]
    PasswordNotSet,
    #[error("the identity is linked to another player")]
    IdentityTaken,
    #[error("another identity of this issuer is linked; unlink it first")]
    IssuerLinked,
    #[error("the device id belongs to another player; draw another id")]
    DeviceTaken,
    #[error("this is the last sign-in method; set a password or link an identity first")]
    LastSignIn,
    #[error("the player has an unfinished game or tournament")]
    InGame,
    #[error("the player has no such session")]
    SessionNotFound,
    #[error("the account was deleted")]
    PlayerGone,
    /// Temporary: the same call may succeed later.
    #[error("accounts are unavailable: {reason}")]
    Unavailable { reason: String },
    /// A bug.
    #[error("accounts failed: {reason}")]
    Broken { reason: String },
}

crate::db::unavailable_or_broken!(AccountError);

crate::db::unavailable_or_broken!(AccountError, LedgerError);

impl Accounts {
    /// Creates the service.
    ///
    /// # Errors
    /// [`HashOptionsError`] if no password can be hashed with the options.
    pub fn new(
        pool: PgPool,
        ledger: Ledger,
        auth: Auth,
        clock: Clock,
        welcome: Coins,
        options: Options,
    ) -> Result<Self, HashOptionsError> {
        let Options { hashes, issuers, grants } = options;
        let hasher = Hasher::new(hashes)?;
        Ok(Self { pool, ledger, auth, clock, welcome, grants, hasher, issuers })
    }

    /// Makes the end of sessions known to this node at once. The others learn of it by polling.
    fn revoke_sessions_on_node(&self, ended: impl IntoIterator<Item = SessionId>, now: Timestamp) {
        self.auth.revocations().insert_all(ended.into_iter().map(|session| (session, now)));
    }

    /// Returns the node's password hasher. All sign-ins share it, so that its bounds hold for the
    /// node as a whole.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }
}

impl Method {
    fn from_column(text: &str) -> Result<Self, AccountError> {
        let broken = || AccountError::Broken { reason: format!("unknown sign-in method: {text}") };
        text.parse().map_err(|_| broken())
    }
}
