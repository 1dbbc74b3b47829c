//! Operators at the desk: signing in with name, password and second factor, and the sessions of
//! their browsers.
//!
//! All three are checked together, and what was wrong is only told to the audit. A name is tried
//! five times a minute at most from one address, and from one browser that its operator has signed
//! in with before (`browsers`); a code is taken once. Second factors are stored sealed; one that is
//! sealed by an earlier key, or by none, is sealed anew at its next use. A session ends when it was
//! idle for [`IDLE_MAX`], after [`SESSION_MAX`] at the latest, and with its operator; it is looked up
//! at every request, so an end takes effect on every node at once.

use std::time::Duration;

use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx as _};
use serde_json::json;
use sqlx::{PgConnection, PgPool};
use thiserror::Error;
use uuid::Uuid;

use super::audit::{self, Action, Actor, Channel};
use super::browsers::{self, AttemptSource};
use super::second_factor::SecondFactor;
use super::{Operator, OperatorName, Proof, SecondFactorMissing};
use crate::accounts::{AccountError, Accounts, Attempt, Trier, clear_attempts};
use crate::auth::{BrowserToken, DeskToken, SealingKeys};
use crate::clock::{self, Clock, Timestamp};
use crate::db::{self, Failure};
use crate::entropy;
use crate::ids::{OperatorId, OperatorSessionId};

/// How long a session may be idle.
pub const IDLE_MAX: Duration = Duration::from_mins(30);

/// How long a session lasts at most: a shift.
pub const SESSION_MAX: Duration = Duration::from_hours(12);

/// How exactly it is known when a session was used last.
const SEEN_EVERY: Duration = Duration::from_secs(15);

/// The way in to the desk. Clones share everything.
#[derive(Clone, Debug)]
pub struct OperatorAuth {
    pub(super) pool: PgPool,
    pub(super) accounts: Accounts,
    pub(super) clock: Clock,
    /// With which second factors are stored.
    pub(super) keys: SealingKeys,
}

/// The origin of a sign-in or an enrolment.
#[derive(Clone, Debug)]
pub struct SignInSource {
    pub channel: Channel,
    /// As far as limits go.
    pub address: Option<String>,
    /// The token from the browser's cookie.
    pub browser: Option<BrowserToken>,
}

/// A request to sign in.
#[derive(Clone, Debug)]
pub struct SignInRequest {
    /// As it was typed.
    pub name: String,
    pub password: Attempt,
    pub code: String,
    pub from: SignInSource,
    /// Set when the address has used up its rate of sign-ins, which a known browser does not need.
    pub rate_limited_for: Option<Duration>,
}

/// How a request of a session came.
#[derive(Clone, Debug)]
pub struct RequestContext {
    pub channel: Channel,
    /// Whether somebody has asked for it; else it does not keep the session from being idle.
    pub is_interactive: bool,
    /// As far as limits go.
    pub address: Option<String>,
}

/// A session that was opened. The tokens are sent to the browser once.
#[derive(Clone, Debug)]
pub struct OpenedSession {
    pub token: DeskToken,
    pub operator: OperatorId,
    /// Of the browser, if the session is one of a browser.
    pub browser: Option<BrowserToken>,
}

/// Why somebody does not come in.
#[derive(Debug, Error)]
pub enum OperatorAuthError {
    #[error("too many are signing in just now; try again in a second")]
    Busy,
    #[error("too many sign-ins by this name have failed; try again when a minute has passed")]
    Locked { retry_after: Duration },
    #[error("name, password and code do not belong together, or the code was used before")]
    Refused,
    #[error("this enrolment code is not good, or no longer")]
    EnrolmentUnknown,
    #[error(
        "this browser was not the last one to open the enrolment, so the key that it was shown is not \
         good; give the code again for another key, and if somebody else has opened it, tell an \
         administrator"
    )]
    EnrolmentElsewhere,
    #[error("too many sign-ins have come from this address; try again a little later")]
    RateLimited { retry_after: Duration },
    #[error("everybody who guesses tries this password early; take another one")]
    PasswordEasy,
    #[error("a password at the desk has at least {} characters", super::enrolment::PASSWORD_MIN)]
    PasswordShort,
    #[error("this is not the code that the authenticator shows now")]
    CodeWrong,
    #[error("the session has ended; sign in again")]
    SessionEnded,
    /// There is a token, and no session.
    #[error(transparent)]
    NoSession(#[from] SecondFactorMissing),
    /// The same call may pass later.
    #[error("the desk is unavailable: {reason}")]
    Unavailable { reason: String },
    /// A bug, or a key that is missing in the settings.
    #[error("the desk is broken: {reason}")]
    Broken { reason: String },
}

impl OperatorAuthError {
    /// No key of this server opens a second factor that is stored.
    pub(super) fn key_missing() -> Self {
        let reason = "no key in BAHAY_SECOND_FACTOR_KEYS opens a second factor that is stored";
        Self::Broken { reason: reason.to_owned() }
    }
}

impl From<sqlx::Error> for OperatorAuthError {
    fn from(error: sqlx::Error) -> Self {
        let reason = error.to_string();
        if Failure::classify(&error).is_transient() {
            Self::Unavailable { reason }
        } else {
            Self::Broken { reason }
        }
    }
}

/// What hashing and counting attempts may come to; the rest is not asked of it.
impl From<AccountError> for OperatorAuthError {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::Busy => Self::Busy,
            AccountError::Locked { retry_after, .. } => Self::Locked { retry_after },
            AccountError::Unavailable { reason } => Self::Unavailable { reason },
            other => Self::Broken { reason: other.to_string() },
        }
    }
}

/// What is stored of an operator who may sign in.
struct OperatorCredentialsRow {
    operator: Uuid,
    password_hash: String,
    totp_secret: Vec<u8>,
}

impl OperatorAuth {
    pub fn new(pool: PgPool, accounts: Accounts, clock: Clock, keys: SealingKeys) -> Self {
        Self { pool, accounts, clock, keys }
    }

    /// Opens a session.
    ///
    /// # Errors
    /// [`OperatorAuthError::Busy`], [`OperatorAuthError::Locked`], [`OperatorAuthError::RateLimited`],
    /// [`OperatorAuthError::Refused`].
    pub async fn sign_in(&self, request: &SignInRequest) -> Result<OpenedSession, OperatorAuthError> {
        let now = self.clock.now();
        // What is no name is nobody's, and is refused as any other.
        let name: Option<OperatorName> = request.name.parse().ok();
        let counted = counted_as(&request.name);
        let SignInSource { address, browser, .. } = &request.from;
        let address = address.as_deref().unwrap_or_default();
        let found =
            browsers::find_attempt_source(&self.pool, name.as_ref(), browser.as_ref(), address, now).await?;
        if let Some(retry_after) = request.rate_limited_for.filter(|_| !found.is_browser) {
            return Err(OperatorAuthError::RateLimited { retry_after });
        }
        let AttemptSource { from, is_known, token: browser, .. } = found;
        let place = self.accounts.hasher().enter()?;
        let trier = Trier { look: &counted, from: &from, is_known };
        if let Err(error) = self.accounts.count_attempt(&trier, now).await {
            // Once a minute: whoever goes on trying does not fill the audit.
            if matches!(error, AccountError::Locked { is_first: true, .. }) {
                self.note_refusal(request, None, "locked").await?;
            }
            return Err(error.into());
        }
        let once = || {
            sqlx::query_as!(
                OperatorCredentialsRow,
                r#"
                select c.operator, c.password_hash, c.totp_secret
                from operators o
                join operator_credentials c on c.operator = o.id
                where o.name = $1 and o.disabled_at is null
                "#,
                name.as_ref().map(OperatorName::as_str)
            )
            .fetch_optional(&self.pool)
        };
        let stored = db::retry(once).await?;
        let hash = stored.as_ref().map(|stored| stored.password_hash.as_str());
        let is_right = place.is_right(request.password.as_bytes(), hash).await?;
        drop(place);
        let Some(stored) = stored else {
            // Names that nobody has are without number.
            match self.accounts.count_written(address, now).await {
                Ok(()) => self.note_refusal(request, None, "name").await?,
                Err(AccountError::Locked { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            return Err(OperatorAuthError::Refused);
        };
        let operator = OperatorId(stored.operator);
        if !is_right {
            self.note_refusal(request, Some(operator), "password").await?;
            return Err(OperatorAuthError::Refused);
        }
        let factor = SecondFactor::unseal(&stored.totp_secret, &self.keys, stored.operator);
        let (factor, is_current) = factor.ok_or_else(OperatorAuthError::key_missing)?;
        let Some(step) = factor.find_step(&request.code, now) else {
            self.note_refusal(request, Some(operator), "code").await?;
            return Err(OperatorAuthError::Refused);
        };
        // Not tried again when an answer is lost: the code would be found used.
        let mut tx = self.pool.begin().await?;
        let taken = sqlx::query!(
            r#"
            update operator_credentials
            set totp_step = $3, totp_secret = coalesce($4, totp_secret)
            where operator = $1 and password_hash = $2 and totp_step < $3
            "#,
            stored.operator,
            stored.password_hash,
            step,
            (!is_current).then(|| factor.seal(&self.keys, stored.operator))
        );
        if taken.execute(&mut *tx).await?.rows_affected() == 0 {
            tx.rollback().await?;
            self.note_refusal(request, Some(operator), "code used").await?;
            return Err(OperatorAuthError::Refused);
        }
        clear_attempts(&mut tx, &trier).await?;
        let from = SignInSource { browser, ..request.from.clone() };
        let opened = open_in_tx(&mut tx, operator, from, Action::SignedIn, now).await?;
        tx.commit().await?;
        Ok(opened)
    }

    /// The operator whose session has this token, now.
    ///
    /// # Errors
    /// [`OperatorAuthError::SessionEnded`].
    pub async fn authenticate(
        &self,
        token: &DeskToken,
        RequestContext { channel, is_interactive, address }: RequestContext,
    ) -> Result<Operator, OperatorAuthError> {
        let now = self.clock.now();
        let hash = token.hash();
        let once = || {
            sqlx::query!(
                r#"
                select s.id, s.last_seen_at as "last_seen_at: SqlTimestamp",
                    o.id as operator, o.name, o.role
                from operator_sessions s
                join operators o on o.id = s.operator
                where s.token_hash = $1 and s.ended_at is null and o.disabled_at is null
                    and s.last_seen_at > $2 and s.opened_at > $3
                "#,
                hash.0.as_slice(),
                to_sql(clock::before(now, IDLE_MAX)) as _,
                to_sql(clock::before(now, SESSION_MAX)) as _
            )
            .fetch_optional(&self.pool)
        };
        let row = db::retry(once).await?.ok_or(OperatorAuthError::SessionEnded)?;
        let role = row.role.parse().map_err(|_| OperatorAuthError::SessionEnded)?;
        let seen = clock::from_jiff(row.last_seen_at.to_jiff());
        if is_interactive && clock::after(seen, SEEN_EVERY) <= now {
            let once = || {
                sqlx::query!(
                    r#"
                    update operator_sessions set last_seen_at = $2
                    where id = $1 and last_seen_at < $2
                    "#,
                    row.id,
                    to_sql(now) as _
                )
                .execute(&self.pool)
            };
            db::retry(once).await?;
        }
        let (id, name) = (OperatorId(row.operator), row.name);
        let session = Some(OperatorSessionId(row.id));
        let operator = Operator { id, name, role, channel, address, session, proof: Proof };
        Ok(operator)
    }

    /// Ends the session with which an operator has come.
    ///
    /// # Errors
    /// [`OperatorAuthError::NoSession`].
    pub async fn sign_out(&self, operator: &Operator) -> Result<(), OperatorAuthError> {
        let session = operator.session.ok_or(SecondFactorMissing)?;
        let now = self.clock.now();
        let once = || async {
            let mut tx = self.pool.begin().await?;
            let ended = sqlx::query!(
                "update operator_sessions set ended_at = $2 where id = $1 and ended_at is null",
                session.0,
                to_sql(now) as _
            );
            if ended.execute(&mut *tx).await?.rows_affected() == 1 {
                let actor = operator.actor();
                let (action, detail) = (Action::SignedOut, json!({}));
                audit::record_in_tx(&mut tx, &actor, action, None, detail).await?;
            }
            tx.commit().await
        };
        Ok(db::retry(once).await?)
    }

    /// Records in the audit alone what was wrong. A name that no operator has is not recorded: it may
    /// be a password that was typed into the wrong field.
    async fn note_refusal(
        &self,
        request: &SignInRequest,
        operator: Option<OperatorId>,
        wrong: &str,
    ) -> Result<(), OperatorAuthError> {
        let SignInSource { channel, address, .. } = &request.from;
        let actor = Actor { operator, channel: *channel, address: address.clone() };
        let mut connection = self.pool.acquire().await?;
        let (action, detail) = (Action::SignInRefused, json!({ "wrong": wrong }));
        Ok(audit::record_in_tx(&mut connection, &actor, action, None, detail).await?)
    }
}

/// Opens a session in the caller's transaction, remembers the browser, and records both in the audit.
pub(super) async fn open_in_tx(
    tx: &mut PgConnection,
    operator: OperatorId,
    SignInSource { channel, address, browser }: SignInSource,
    action: Action,
    now: Timestamp,
) -> Result<OpenedSession, sqlx::Error> {
    let actor = Actor { operator: Some(operator), channel, address };
    let token = DeskToken::random();
    let hash = token.hash();
    sqlx::query!(
        r#"
        insert into operator_sessions (id, operator, token_hash, opened_at, last_seen_at, address)
        values ($1, $2, $3, $4, $4, $5)
        "#,
        entropy::uuid(),
        operator.0,
        hash.0.as_slice(),
        to_sql(now) as _,
        actor.address
    )
    .execute(&mut *tx)
    .await?;
    let browser = (channel == Channel::Desk).then(|| browser.unwrap_or_else(BrowserToken::random));
    if let Some(browser) = &browser {
        browsers::remember_in_tx(tx, operator, browser, now).await?;
    }
    audit::record_in_tx(tx, &actor, action, None, json!({})).await?;
    Ok(OpenedSession { token, operator, browser })
}

/// Ends all sessions of an operator in the caller's transaction.
pub(super) async fn end_sessions_in_tx(
    tx: &mut PgConnection,
    operator: Uuid,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update operator_sessions set ended_at = now() where operator = $1 and ended_at is null",
        operator
    )
    .execute(tx)
    .await
    .map(|_| ())
}

/// The name by which attempts are counted, apart from all names of players.
fn counted_as(name: &str) -> String {
    format!("operator {name}")
}

pub(super) fn to_sql(time: Timestamp) -> SqlTimestamp {
    clock::to_jiff(time).to_sqlx()
}
