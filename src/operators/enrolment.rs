//! Enrolments: the way by which an operator gets a password and a second factor, the first ones or
//! new ones. An administrator makes an enrolment code and hands it over; with the code the operator
//! chooses a password and is shown the secret for its authenticator.
//!
//! The administrator has seen the code, and may open the enrolment page before the operator does. So
//! each opening draws another secret, which only the browser of that opening may enrol with; an
//! earlier one is worth nothing. Each opening is recorded in the audit and counted on the page, which
//! warns the operator of earlier ones. An administrator that completes an enrolment in its operator's
//! place uses the code up, so the operator finds it spent; until then, and for a day after,
//! `issuance` keeps the two from deciding on each other's corrections.
//!
//! A code is good for [`ENROLMENT_LIFE`] and for one use. Making one ends every session of its
//! operator, its API token, and the credentials that were good before.

use std::time::Duration;

use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use super::audit::{self, Action, Actor, Channel};
use super::sign_in::{OperatorAuth, OperatorAuthError, OpenedSession, SignInSource, end_sessions_in_tx, open_in_tx, to_sql};
use super::second_factor::SecondFactor;
use super::{browsers, issuance};
use crate::accounts::NewPassword;
use crate::auth::{EnrolmentBrowserToken, EnrolmentCode};
use crate::clock::{self, Timestamp};
use crate::db;
use crate::ids::OperatorId;

/// How long a code is good.
pub const ENROLMENT_LIFE: Duration = Duration::from_hours(24);

/// Fewer characters than this are no password of an operator; players may have shorter ones.
pub const PASSWORD_MIN: usize = 12;

/// The openings of the page for one code. More are refused, so that nobody fills the audit by it.
const OPENINGS_MAX: i32 = 50;

/// An enrolment as the page shows it.
#[derive(Clone, Debug)]
pub struct Enrolment {
    pub name: String,
    pub factor: SecondFactor,
    /// The openings of the page for this code, this one included.
    pub openings: u32,
    operator: Uuid,
    /// The factor as it is stored.
    stored: Vec<u8>,
}

/// A request to complete an enrolment.
#[derive(Debug)]
pub struct EnrolmentCompletion<'a> {
    pub code: &'a str,
    /// The token from the cookie of the opening.
    pub browser: Option<&'a EnrolmentBrowserToken>,
    pub password: &'a NewPassword,
    /// The six digits that the authenticator shows.
    pub shown: &'a str,
    pub from: SignInSource,
}

impl OperatorAuth {
    /// Opens an enrolment: draws a second factor, which replaces that of any earlier opening, and
    /// returns it with the token that binds it to the caller's browser.
    ///
    /// # Errors
    /// [`OperatorAuthError::EnrolmentUnknown`].
    pub async fn open_enrolment(
        &self,
        code: &str,
        address: Option<String>,
    ) -> Result<(Enrolment, EnrolmentBrowserToken), OperatorAuthError> {
        let code: EnrolmentCode = code.trim().parse().map_err(|_| OperatorAuthError::EnrolmentUnknown)?;
        let code_hash = code.hash();
        let now = self.clock.now();
        let factor = SecondFactor::random();
        let browser = EnrolmentBrowserToken::random();
        let browser_hash = browser.hash();
        let mut tx = self.pool.begin().await?;
        let row = sqlx::query!(
            r#"
            select e.operator, e.openings + 1 as "openings!", o.name
            from operator_enrolments e
            join operators o on o.id = e.operator
            where e.code_hash = $1 and e.expires_at > $2 and e.openings < $3
                and o.disabled_at is null
            for no key update of e
            "#,
            code_hash.0.as_slice(),
            to_sql(now) as _,
            OPENINGS_MAX
        )
        .fetch_optional(&mut *tx)
        .await?
        .ok_or(OperatorAuthError::EnrolmentUnknown)?;
        let stored = factor.seal(&self.keys, row.operator);
        sqlx::query!(
            r#"
            update operator_enrolments
            set totp_secret = $2, browser_hash = $3, openings = $4
            where operator = $1
            "#,
            row.operator,
            stored,
            browser_hash.0.as_slice(),
            row.openings
        )
        .execute(&mut *tx)
        .await?;
        let actor = Actor { operator: None, channel: Channel::Desk, address };
        let (subject, detail) =
            (format!("operator:{}", row.name), json!({ "openings": row.openings }));
        audit::record_in_tx(&mut tx, &actor, Action::EnrolmentOpened, Some(&subject), detail).await?;
        tx.commit().await?;
        let openings = u32::try_from(row.openings).unwrap_or(u32::MAX);
        let operator = row.operator;
        Ok((Enrolment { name: row.name, factor, openings, operator, stored }, browser))
    }

    /// Returns the enrolment that a browser has opened.
    ///
    /// # Errors
    /// [`OperatorAuthError::EnrolmentUnknown`]; [`OperatorAuthError::EnrolmentElsewhere`] when another browser has
    /// opened it later.
    pub async fn find_enrolment(
        &self,
        code: &str,
        browser: Option<&EnrolmentBrowserToken>,
    ) -> Result<Enrolment, OperatorAuthError> {
        let code: EnrolmentCode = code.trim().parse().map_err(|_| OperatorAuthError::EnrolmentUnknown)?;
        let (hash, now) = (code.hash(), self.clock.now());
        let once = || {
            sqlx::query!(
                r#"
                select e.operator, e.totp_secret, e.browser_hash, e.openings, o.name
                from operator_enrolments e
                join operators o on o.id = e.operator
                where e.code_hash = $1 and e.expires_at > $2 and o.disabled_at is null
                "#,
                hash.0.as_slice(),
                to_sql(now) as _
            )
            .fetch_optional(&self.pool)
        };
        let row = db::retry(once).await?.ok_or(OperatorAuthError::EnrolmentUnknown)?;
        let stored = match (browser, row.browser_hash, row.totp_secret) {
            (Some(browser), Some(opened_by), Some(stored))
                if opened_by == browser.hash().0.as_slice() =>
            {
                stored
            }
            _ => return Err(OperatorAuthError::EnrolmentElsewhere),
        };
        let Some((factor, _)) = SecondFactor::unseal(&stored, &self.keys, row.operator) else {
            return Err(OperatorAuthError::key_missing());
        };
        let openings = u32::try_from(row.openings).unwrap_or(u32::MAX);
        Ok(Enrolment { name: row.name, factor, openings, operator: row.operator, stored })
    }

    /// Completes an enrolment: uses the code up, sets password and second factor, and opens a session.
    ///
    /// # Errors
    /// As [`OperatorAuth::find_enrolment`]; [`OperatorAuthError::PasswordShort`], [`OperatorAuthError::PasswordEasy`],
    /// [`OperatorAuthError::CodeWrong`].
    pub async fn enrol(&self, request: EnrolmentCompletion<'_>) -> Result<OpenedSession, OperatorAuthError> {
        let EnrolmentCompletion { code, browser, password, shown, from } = request;
        let Enrolment { name, factor, operator, stored, .. } =
            self.find_enrolment(code, browser).await?;
        if password.characters() < PASSWORD_MIN {
            return Err(OperatorAuthError::PasswordShort);
        }
        if password.is_easy(&name) {
            return Err(OperatorAuthError::PasswordEasy);
        }
        let now = self.clock.now();
        let step = factor.find_step(shown, now).ok_or(OperatorAuthError::CodeWrong)?;
        let place = self.accounts.hasher().enter()?;
        let hash = place.hash(password.as_bytes()).await?;
        drop(place);
        // A cookie that was planted in the browser is not adopted.
        let place = browsers::find_attempt_source(&self.pool, None, from.browser.as_ref(), "", now).await?;
        let from = SignInSource { browser: place.token, ..from };
        let mut tx = self.pool.begin().await?;
        // An opening by another browser has put another secret there.
        let used = sqlx::query!(
            "delete from operator_enrolments where operator = $1 and totp_secret = $2",
            operator,
            stored
        );
        if used.execute(&mut *tx).await?.rows_affected() == 0 {
            return Err(OperatorAuthError::EnrolmentElsewhere);
        }
        issuance::end_issuance_in_tx(&mut tx, operator, now).await?;
        sqlx::query!(
            r#"
            insert into operator_credentials (
                operator, password_hash, totp_secret, totp_step, set_at
            )
            values ($1, $2, $3, $4, $5)
            on conflict (operator) do update
            set password_hash = excluded.password_hash, totp_secret = excluded.totp_secret,
                totp_step = excluded.totp_step, set_at = excluded.set_at
            "#,
            operator,
            hash,
            factor.seal(&self.keys, operator),
            step,
            to_sql(now) as _
        )
        .execute(&mut *tx)
        .await?;
        end_sessions_in_tx(&mut tx, operator).await?;
        let opened = open_in_tx(&mut tx, OperatorId(operator), from, Action::Enrolled, now).await?;
        tx.commit().await?;
        Ok(opened)
    }
}

/// Makes an enrolment in the caller's transaction. Ends the credentials and sessions of its operator,
/// and forgets its browsers.
pub(super) async fn begin_in_tx(
    tx: &mut PgConnection,
    operator: Uuid,
    by: Option<OperatorId>,
    now: Timestamp,
) -> Result<EnrolmentCode, sqlx::Error> {
    let code = EnrolmentCode::random();
    let hash = code.hash();
    let expires_at = clock::after(now, ENROLMENT_LIFE);
    sqlx::query!("delete from operator_credentials where operator = $1", operator)
        .execute(&mut *tx)
        .await?;
    sqlx::query!(
        r#"
        insert into operator_enrolments (operator, code_hash, expires_at)
        values ($1, $2, $3)
        on conflict (operator) do update
        set code_hash = excluded.code_hash, totp_secret = null, browser_hash = null, openings = 0,
            expires_at = excluded.expires_at
        "#,
        operator,
        hash.0.as_slice(),
        to_sql(expires_at) as _
    )
    .execute(&mut *tx)
    .await?;
    end_sessions_in_tx(tx, operator).await?;
    browsers::forget_in_tx(tx, operator).await?;
    issuance::record_issuance_in_tx(tx, operator, by, now, expires_at).await?;
    Ok(code)
}
