//! Players and how they come back: devices, passwords, identities, sessions, profiles, bans, in
//! PostgreSQL.
//!
//! A guest is known by a device. The first sign-in of a device makes a player, an empty profile
//! and the welcome grant in one transaction; the primary key of `devices` decides a race, so
//! there is one player and one grant whoever asks how often. A name with a password, and accounts
//! elsewhere (`identities`), are further ways in to the same player. A network gets so many welcomes a
//! day; a guest that comes when it has had them gets its own on another day (`welcome`).
//!
//! A *session* is one sign-in: a family of refresh tokens of which each replaces the one before.
//! Every transaction that opens, refreshes or ends sessions locks the player's row first (`locks`),
//! so that a sign-in and a ban have one order, on however many nodes.
//!
//! Bounds: a refresh token lives [`REFRESH_TOKEN_LIFE`], a session [`SESSION_LIFE`] at most, and a
//! player has [`SESSIONS_MAX`]; rows that are over are removed by [`crate::retention`]; hashes
//! of passwords are made a few at once (`hashing`), and five a minute may fail for a name
//! (`lockout`). Deliberately absent: any cache. What is asked at every request is in
//! [`crate::auth::Revocations`].

mod transaction;
mod avatar;
mod sanctions;
mod session_lookup;
mod device;
mod devices;
mod emoji;
mod export_and_delete;
mod hashing;
mod house_bots;
mod identities;
mod character_class;
mod lockout;
mod locks;
mod confusables;
mod name;
mod names;
mod nonces;
mod password;
mod passwords;
mod players;
mod proof;
mod reserved;
mod revocations;
mod sessions;
mod welcome_grant;

use std::time::Duration;

use bahay_engine::coins::Coins;
use jiff_sqlx::ToSqlx as _;
use sqlx::PgPool;
use thiserror::Error;

use crate::auth::{AccessToken, Auth, RefreshToken};
use crate::clock::{self, Clock, Timestamp};
use crate::db::Failure;
use crate::grant_limits::{GrantLimits, GrantRecipient};
use crate::ids::{PlayerId, SessionId};
use crate::ledger::{Ledger, LedgerError};
use crate::openid::{Issuers, OpenIdError};

pub use avatar::{AVATARS, Avatar, ParseAvatarError};
pub use sanctions::{
    ParseSanctionError, Sanction, SanctionError, SanctionKind, SanctionReader, SanctionRecord,
    impose_in_tx as impose_sanction_in_tx, lift_in_tx as lift_sanctions_in_tx,
};
pub use session_lookup::session_lookup;
pub use device::{DeviceId, DeviceTimeZone, ParseDeviceIdError, ParseTimeZoneError, TimeZone};
pub use devices::{LiveSession, SessionCursor};
pub use export_and_delete::{DeviceRecord, SessionRecord};
pub use hashing::{HashOptions, Hasher, HashPermit, HashOptionsError};
pub use house_bots::HouseBot;
pub use identities::{LinkedIdentity, OpenIdSignIn, SignInMethods};
pub use lockout::{TRUSTED_ORIGIN_LIFE, AttemptSource, clear_failures, trusted_since};
pub use name::{NAME_TEXT_LENGTH_MAX, Name, ParseNameError};
pub use names::RENAME_INTERVAL;
pub use nonces::{IssuedNonce, NONCE_LIFE};
pub use password::{PasswordAttempt, NewPassword, ParsePasswordError, PASSWORD_LENGTH};
pub use passwords::PasswordSignIn;
pub use players::{ProfileChange, LOOKUP_MAX};
pub use proof::Shown;
pub use revocations::RevocationCursor;
pub use sessions::end_sessions_in_tx;

/// How long a refresh token waits to be used.
pub const REFRESH_TOKEN_LIFE: Duration = Duration::from_hours(30 * 24);

/// How long the device that used a refresh token gets the same successor for it again: longer than
/// clients wait for an answer, and shorter than anybody keeps a stolen token.
pub const REPEAT_PERIOD: Duration = Duration::from_secs(60);

/// How long a session can be kept alive by refreshing it.
pub const SESSION_LIFE: Duration = Duration::from_hours(365 * 24);

/// How many sessions a player has at once. A device that signs in anew each time that it starts
/// leaves its sessions behind, so beyond this the one that was not used for longest ends.
pub const SESSIONS_MAX: usize = 32;

/// The accounts. Clones share everything.
#[derive(Clone, Debug)]
pub struct Accounts {
    pool: PgPool,
    ledger: Ledger,
    auth: Auth,
    clock: Clock,
    /// What a new player starts with. Zero grants nothing.
    welcome: Coins,
    grants: GrantLimits,
    hasher: Hasher,
    issuers: Issuers,
}

/// How players may sign in beside by their devices.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub hashes: HashOptions,
    /// Who else's users are let in.
    pub issuers: Issuers,
    /// How many welcomes a network gets.
    pub grants: GrantLimits,
}

/// What a player is to itself, coins aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub id: PlayerId,
    pub name: String,
    pub avatar: String,
    pub time_zone: Option<String>,
    pub created_at: Timestamp,
    /// From when on the name may be changed; `None` when it never was.
    pub renamable_at: Option<Timestamp>,
}

/// What a player is to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicProfile {
    pub id: PlayerId,
    pub name: String,
    pub avatar: String,
    /// A bot of the house, and nobody's account.
    pub is_bot: bool,
    pub created_at: Timestamp,
}

/// Where a request comes from, for the player's own list of sessions.
#[derive(Clone, Debug, Default)]
pub struct Visitor {
    /// What the client calls itself.
    pub user_agent: Option<String>,
    /// As far as limits go.
    pub address: Option<String>,
    /// By which grants are counted.
    pub network: Option<String>,
    pub device: Option<DeviceId>,
}

impl Visitor {
    /// For whom grants are counted that it gets.
    pub(super) fn recipient(&self) -> GrantRecipient<'_> {
        self.network.as_deref().map_or(GrantRecipient::Unknown, GrantRecipient::Network)
    }
}

/// How a session was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Guest,
    Password,
    OpenId,
}

/// A device asks for its player.
#[derive(Clone, Debug)]
pub struct GuestSignIn {
    pub device: DeviceId,
    /// For a new player; a known one keeps its name.
    pub name: Option<Name>,
    /// For a player that has none yet.
    pub time_zone: Option<TimeZone>,
    pub visitor: Visitor,
}

/// The tokens of a session, to be told to the client once.
#[derive(Clone, Debug)]
pub struct Tokens {
    pub session: SessionId,
    pub access: AccessToken,
    pub refresh: RefreshToken,
    pub refresh_expires_at: Timestamp,
}

/// Why an account did not do what it was asked, in order of precedence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AccountError {
    #[error("no session has this refresh token")]
    RefreshTokenUnknown,
    #[error("the session has ended; sign in again")]
    SessionEnded,
    /// Somebody has a copy of the token; which of the two is the thief is not known.
    #[error("the refresh token was used before; its session has ended for safety")]
    RefreshTokenReused,
    #[error("the refresh token has expired; sign in again")]
    RefreshTokenExpired,
    #[error("too many are signing in just now; try again in a second")]
    Busy,
    #[error("too many sign-ins by this name have failed; try again when a minute has passed")]
    Locked {
        retry_after: Duration,
        /// It is the first that is refused in this minute.
        is_first: bool,
    },
    #[error("the ID token is not accepted: {0}")]
    OpenId(OpenIdError),
    #[error("the name and the password do not belong together")]
    CredentialsWrong,
    #[error("this is not the current password")]
    PasswordWrong,
    #[error("this device does not sign you in")]
    DeviceWrong,
    #[error("this identity is not linked to you")]
    IdentityWrong,
    #[error("you have a password or an identity; show that one")]
    ProofInsufficient,
    #[error("banned {0}")]
    Banned(Sanction),
    #[error("everybody who guesses tries this password early; take another one")]
    PasswordEasy,
    #[error("names by which the house is meant are not given away")]
    NameReserved,
    #[error("the name may be changed again from {:.0} on", clock::to_jiff(*again_at))]
    NameChangedLately { again_at: Timestamp },
    #[error("somebody has this name, or one that looks like it")]
    NameTaken,
    #[error("a password is set; change it instead")]
    PasswordSet,
    #[error("no password is set")]
    PasswordNotSet,
    #[error("the identity is linked to another player")]
    IdentityTaken,
    #[error("another identity of this issuer is linked; unlink it first")]
    IssuerLinked,
    #[error("the device signs in another player; draw another id")]
    DeviceTaken,
    #[error("there would be no way left to sign in; set a password or link an identity first")]
    LastSignIn,
    #[error("a game of the player is not finished")]
    InGame,
    #[error("the player has no such session")]
    SessionNotFound,
    #[error("the account was deleted")]
    PlayerGone,
    /// The same call may pass later.
    #[error("accounts are unavailable: {reason}")]
    Unavailable { reason: String },
    /// A bug.
    #[error("accounts are broken: {reason}")]
    Broken { reason: String },
}

impl From<sqlx::Error> for AccountError {
    fn from(error: sqlx::Error) -> Self {
        let reason = error.to_string();
        if Failure::classify(&error).is_transient() {
            Self::Unavailable { reason }
        } else {
            Self::Broken { reason }
        }
    }
}

impl From<LedgerError> for AccountError {
    fn from(error: LedgerError) -> Self {
        let reason = error.to_string();
        if error.is_transient() { Self::Unavailable { reason } } else { Self::Broken { reason } }
    }
}

impl Accounts {
    /// # Errors
    /// Options by which no password can be hashed.
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

    /// What makes and checks all hashes of passwords on this node, so that its bounds hold for
    /// whoever signs in.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }
}

impl Method {
    pub const ALL: [Self; 3] = [Self::Guest, Self::Password, Self::OpenId];

    /// As in the column `method` and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Password => "password",
            Self::OpenId => "openid",
        }
    }

    fn from_column(text: &str) -> Result<Self, AccountError> {
        let broken = || AccountError::Broken { reason: format!("no way to sign in: {text}") };
        Self::ALL.into_iter().find(|method| method.as_str() == text).ok_or_else(broken)
    }
}

/// As the database takes it.
fn to_sql(time: Timestamp) -> jiff_sqlx::Timestamp {
    clock::to_jiff(time).to_sqlx()
}

fn from_sql(time: jiff_sqlx::Timestamp) -> Timestamp {
    clock::from_jiff(time.to_jiff())
}
