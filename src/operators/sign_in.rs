//! Authentication of operators: sign-in with name, password and second factor, and sessions.
//!
//! The three credentials are checked together; only the audit log records which one was wrong. Each
//! source, an address or a known browser (`browsers`), may try a name at most five times a minute,
//! and each code is accepted once. Second factors are stored encrypted; a secret under an earlier
//! key, or in plain text, is encrypted anew at its next use. A session ends after [`IDLE_MAX`]
//! without use, after [`SESSION_MAX`] at the latest, and when its operator is disabled. It is
//! looked up at every request, so that its end takes effect on every node at once.

use std::time::Duration;

use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::json;
use sqlx::{PgConnection, PgPool};
use thiserror::Error;
use uuid::Uuid;

use super::audit::{self, Action, Actor, Channel};
use super::browsers::{self, SignInOrigin};
use super::{Operator, OperatorName, SecondFactorMissing};
use crate::accounts::{AccountError, Accounts, AttemptSource, PasswordAttempt, clear_failures};
use crate::auth::{BrowserToken, DeskToken, SealingKeys, SecondFactor};
use crate::clock::{self, Clock, Timestamp};
use crate::db::{self, from_sql, to_sql};
use crate::entropy;
use crate::ids::{OperatorId, OperatorSessionId};

/// The idle timeout of a session.
pub const IDLE_MAX: Duration = Duration::from_mins(30);

/// The longest lifetime of a session: a shift.
pub const SESSION_MAX: Duration = Duration::from_hours(12);

/// The granularity at which the last use of a session is stored.
const SEEN_GRANULARITY: Duration = Duration::from_secs(15);

/// The authentication of operators. Clones share everything.
#[derive(Clone, Debug)]
pub struct OperatorAuth {
    pub(super) pool: PgPool,
    pub(super) accounts: Accounts,
    pub(super) clock: Clock,
    /// The keys under which second factors are stored.
    pub(super) keys: SealingKeys,
}

/// The minimum length of an operator's password, in characters. Players may have shorter ones.
pub const PASSWORD_MIN: usize = 12;

/// The origin of a sign-in or an enrolment.
#[derive(Clone, Debug)]
pub struct SignInClient {
    pub channel: Channel,
    /// The client's address, at the granularity of rate limits.
    pub address: Option<String>,
    /// The token from the browser's cookie.
    pub browser: Option<BrowserToken>,
}

/// A request to sign in.
#[derive(Clone, Debug)]
pub struct SignInRequest {
    /// The name as typed.
    pub name: String,
    pub password: PasswordAttempt,
    pub code: String,
    pub from: SignInClient,
    /// Set if the address has exhausted its rate limit of sign-ins, which does not apply to a known
    /// browser.
    pub rate_limited_for: Option<Duration>,
}

/// The circumstances of a request in a session.
#[derive(Clone, Debug)]
pub struct RequestContext {
    pub channel: Channel,
    /// True for a request that a person has caused. Other requests do not reset the idle timeout.
    pub is_interactive: bool,
    /// The client's address, at the granularity of rate limits.
    pub address: Option<String>,
}

/// A session that was opened. Its tokens are sent to the client once.
#[derive(Clone, Debug)]
pub struct OpenedSession {
    pub token: DeskToken,
    pub operator: OperatorId,
    /// The token of the browser, if the session is one of a browser.
    pub browser: Option<BrowserToken>,
}

/// The reason why an operator is not authenticated or enrolled.
#[derive(Debug, Error)]
pub enum OperatorAuthError {
    #[error("too many sign-ins are in progress; try again in a second")]
    Busy,
    #[error("too many sign-ins under this name have failed; try again in a minute")]
    Locked { retry_after: Duration },
    #[error("name, password and code do not match, or the code was used before")]
    Refused,
    #[error("this enrolment code is unknown, used or expired")]
    EnrolmentUnknown,
    #[error(
        "this browser was not the last one to open the enrolment, so the key that it displayed is \
         invalid; enter the code again for another key, and inform an administrator if somebody \
         else has opened it"
    )]
    EnrolmentElsewhere,
    #[error("too many sign-ins from this address; try again later")]
    RateLimited { retry_after: Duration },
    #[error("this password is easy to guess; choose another one")]
    PasswordEasy,
    #[error("a password at the desk has at least {} characters", PASSWORD_MIN)]
    PasswordShort,
    #[error("this is not the code that the authenticator displays now")]
    CodeWrong,
    #[error("the session has ended; sign in again")]
    SessionEnded,
    /// The request carries a token instead of a session.
    #[error(transparent)]
    NoSession(#[from] SecondFactorMissing),
    /// A transient failure: the same call may succeed later.
    #[error("the desk is unavailable: {reason}")]
    Unavailable { reason: String },
    /// A defect of the service, or a key missing in its settings.
    #[error("the desk is broken: {reason}")]
    Broken { reason: String },
}

impl OperatorAuthError {
    /// Returns the error of a stored second factor that no key of this server opens.
    pub(super) fn key_missing() -> Self {
        let reason = "no key in BAHAY_SECOND_FACTOR_KEYS opens the stored second factor";
        Self::Broken { reason: reason.to_owned() }
    }
}

crate::db::unavailable_or_broken!(OperatorAuthError);

/// Converts the errors of hashing and of counting attempts; the other ones do not occur there.
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

impl OperatorAuth {
    pub fn new(pool: PgPool, accounts: Accounts, clock: Clock, keys: SealingKeys) -> Self {
        Self { pool, accounts, clock, keys }
    }

    /// Opens a session.
    ///
    /// # Errors
    /// [`OperatorAuthError::Busy`], [`OperatorAuthError::Locked`],
    /// [`OperatorAuthError::RateLimited`], [`OperatorAuthError::Refused`].
    pub async fn sign_in(
        &self,
        request: &SignInRequest,
    ) -> Result<OpenedSession, OperatorAuthError> {
        let now = self.clock.now();
        // An invalid name is refused like a name that no operator has.
        let name: Option<OperatorName> = request.name.parse().ok();
        let attempt_key = attempt_key(&request.name);
        let SignInClient { address, browser, .. } = &request.from;
        let address = address.as_deref().unwrap_or_default();
        let found = browsers::find_sign_in_origin(
            &self.pool,
            name.as_ref(),
            browser.as_ref(),
            address,
            now,
        )
        .await?;
        if let Some(retry_after) = request.rate_limited_for.filter(|_| !found.is_browser) {
            return Err(OperatorAuthError::RateLimited { retry_after });
        }
        let SignInOrigin { from, is_known, token: browser, .. } = found;
        let permit = self.accounts.hasher().acquire()?;
        let source = AttemptSource { skeleton: &attempt_key, origin: &from, is_trusted: is_known };
        if let Err(error) = self.accounts.count_attempt(&source, now).await {
            // Recorded once a minute, so that a persistent client does not fill the audit log.
            if matches!(error, AccountError::Locked { is_first: true, .. }) {
                self.record_refusal(request, None, "locked").await?;
            }
            return Err(error.into());
        }
        let once = || {
            sqlx::query!(
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
        let is_right = permit.verify(request.password.as_bytes(), hash).await?;
        drop(permit);
        let Some(stored) = stored else {
            // The number of unknown names is unbounded, so their refusals are recorded under a rate
            // limit.
            match self.accounts.count_logged_refusal(address, now).await {
                Ok(()) => self.record_refusal(request, None, "name").await?,
                Err(AccountError::Locked { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            return Err(OperatorAuthError::Refused);
        };
        let operator = OperatorId(stored.operator);
        if !is_right {
            self.record_refusal(request, Some(operator), "password").await?;
            return Err(OperatorAuthError::Refused);
        }
        let factor = SecondFactor::unseal(&stored.totp_secret, &self.keys, stored.operator);
        let (factor, is_current) = factor.ok_or_else(OperatorAuthError::key_missing)?;
        let Some(step) = factor.find_step(&request.code, now) else {
            self.record_refusal(request, Some(operator), "code").await?;
            return Err(OperatorAuthError::Refused);
        };
        // Not retried: after a lost response the code would be found used.
        let mut tx = db::begin(&self.pool).await?;
        let update = sqlx::query!(
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
        if update.execute(&mut *tx).await?.rows_affected() == 0 {
            tx.rollback().await?;
            self.record_refusal(request, Some(operator), "code used").await?;
            return Err(OperatorAuthError::Refused);
        }
        clear_failures(&mut tx, &source).await?;
        let from = SignInClient { browser, ..request.from.clone() };
        let opened = open_in_tx(&mut tx, operator, from, Action::SignedIn, now).await?;
        tx.commit().await?;
        Ok(opened)
    }

    /// Returns the operator to whom a session's token belongs.
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
                to_sql(clock::subtract(now, IDLE_MAX)) as _,
                to_sql(clock::subtract(now, SESSION_MAX)) as _
            )
            .fetch_optional(&self.pool)
        };
        let row = db::retry(once).await?.ok_or(OperatorAuthError::SessionEnded)?;
        let role = row.role.parse().map_err(|_| OperatorAuthError::SessionEnded)?;
        let seen = from_sql(row.last_seen_at);
        if is_interactive && clock::add(seen, SEEN_GRANULARITY) <= now {
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
        Ok(Operator {
            id: OperatorId(row.operator),
            name: row.name,
            role,
            channel,
            address,
            session: Some(OperatorSessionId(row.id)),
        })
    }

    /// Ends the session of an operator's request.
    ///
    /// # Errors
    /// [`OperatorAuthError::NoSession`].
    pub async fn sign_out(&self, operator: &Operator) -> Result<(), OperatorAuthError> {
        let session = operator.session.ok_or(SecondFactorMissing)?;
        let now = self.clock.now();
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            let ended = sqlx::query!(
                "update operator_sessions set ended_at = $2 where id = $1 and ended_at is null",
                session.0,
                to_sql(now) as _
            );
            if ended.execute(&mut *tx).await?.rows_affected() == 1 {
                let actor = operator.actor();
                audit::record_in_tx(&mut tx, &actor, Action::SignedOut, None, json!({})).await?;
            }
            tx.commit().await
        };
        Ok(db::retry(once).await?)
    }

    /// Records in the audit log which credential was wrong. A name that no operator has is not
    /// recorded, because it may be a password that was typed into the wrong field.
    async fn record_refusal(
        &self,
        request: &SignInRequest,
        operator: Option<OperatorId>,
        wrong: &str,
    ) -> Result<(), OperatorAuthError> {
        let SignInClient { channel, address, .. } = &request.from;
        let actor = Actor { operator, channel: *channel, address: address.clone() };
        let mut connection = self.pool.acquire().await?;
        let detail = json!({ "wrong": wrong });
        let action = Action::SignInRefused;
        Ok(audit::record_in_tx(&mut connection, &actor, action, None, detail).await?)
    }
}

/// Opens a session within the caller's transaction, remembers the browser, and records the sign-in
/// in the audit log.
pub(super) async fn open_in_tx(
    tx: &mut PgConnection,
    operator: OperatorId,
    SignInClient { channel, address, browser }: SignInClient,
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

/// Ends all sessions of an operator within the caller's transaction.
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

/// Returns the key under which attempts are counted, distinct from all names of players.
fn attempt_key(name: &str) -> String {
    format!("operator {name}")
}
