//! Players and how they come back: devices, sessions, profiles, in PostgreSQL.
//!
//! A guest is known by a device. The first sign-in of a device makes a player, an empty profile
//! and the welcome grant in one transaction; the primary key of `devices` decides a race, so
//! there is one player and one grant whoever asks how often.
//!
//! A *session* is one sign-in: a family of refresh tokens of which each replaces the one before.
//! Every change of a session locks its row first, so that a family has one order of events.
//!
//! Bounds: a refresh token lives [`REFRESH_TOKEN_LIFE`], a session [`SESSION_LIFE`] at most.
//! Deliberately absent: passwords and bans (a later kind of account), and any cache: what is
//! asked at every request is in [`crate::auth::Revocations`].

mod device;
mod name;
mod players;
mod revocations;
mod sessions;

use std::time::Duration;

use bahay_engine::coins::Coins;
use jiff_sqlx::ToSqlx as _;
use sqlx::PgPool;
use thiserror::Error;

use crate::auth::{AccessToken, Auth, RefreshToken};
use crate::clock::{self, Clock, Timestamp};
use crate::db::Failure;
use crate::ids::{PlayerId, SessionId};
use crate::ledger::{Ledger, LedgerError};

pub use device::{DeviceId, NotADeviceId, NotATimeZone, TimeZone};
pub use name::{NAME_TEXT_LENGTH_MAX, Name, NotAName};

/// How long a refresh token waits to be used.
pub const REFRESH_TOKEN_LIFE: Duration = Duration::from_hours(30 * 24);

/// How long a session can be kept alive by refreshing it.
pub const SESSION_LIFE: Duration = Duration::from_hours(365 * 24);

/// The accounts. Clones share everything.
#[derive(Clone, Debug)]
pub struct Accounts {
    pool: PgPool,
    ledger: Ledger,
    auth: Auth,
    clock: Clock,
    /// What a new player starts with. Zero grants nothing.
    welcome: Coins,
}

/// What a player is to others and to itself, coins aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub id: PlayerId,
    pub name: String,
    pub time_zone: Option<String>,
    pub created_at: Timestamp,
}

/// A device asks for its player.
#[derive(Clone, Debug)]
pub struct GuestSignIn {
    pub device: DeviceId,
    /// For a new player; a known one keeps its name.
    pub name: Option<Name>,
    /// For a player that has none yet.
    pub time_zone: Option<TimeZone>,
    /// What the client calls itself. For the player's own list of sessions.
    pub user_agent: Option<String>,
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
        match Failure::of(&error) {
            Failure::Contended | Failure::Lost | Failure::Exhausted => Self::Unavailable { reason },
            Failure::Broken => Self::Broken { reason },
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
    pub fn new(pool: PgPool, ledger: Ledger, auth: Auth, clock: Clock, welcome: Coins) -> Self {
        Self { pool, ledger, auth, clock, welcome }
    }
}

/// As the database takes it.
fn to_sql(time: Timestamp) -> jiff_sqlx::Timestamp {
    clock::to_jiff(time).to_sqlx()
}

fn from_sql(time: jiff_sqlx::Timestamp) -> Timestamp {
    clock::from_jiff(time.to_jiff())
}
