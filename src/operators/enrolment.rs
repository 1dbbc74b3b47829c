//! Enrolment: the procedure by which an operator sets a password and a second factor, initially or
//! anew. An administrator issues an enrolment code and hands it over; with the code the operator
//! chooses a password and receives the secret for its authenticator.
//!
//! The administrator has seen the code and may open the enrolment page before the operator does.
//! Each opening therefore draws a new secret, with which only the browser of that opening can
//! enrol; earlier secrets become worthless. Each opening is recorded in the audit log and counted
//! on the page, which warns the operator of earlier ones. An administrator who completes an
//! enrolment in the operator's place uses the code up, so that the operator finds it spent; until
//! then, and for a day afterwards, `issuance` keeps the two from deciding on each other's
//! corrections.
//!
//! A code is valid for [`ENROLMENT_LIFE`] and for a single use. Issuing one ends every session of
//! its operator and invalidates its API token and its previous credentials.

use std::time::Duration;

use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use super::audit::{self, Action, Actor, Channel};
use crate::db::to_sql;

use super::sign_in::{
    OpenedSession, OperatorAuth, OperatorAuthError, PASSWORD_MIN, SignInClient, end_sessions_in_tx,
    open_in_tx,
};
use super::{browsers, issuance};
use crate::accounts::NewPassword;
use crate::auth::{EnrolmentBrowserToken, EnrolmentCode, SecondFactor};
use crate::clock::{self, Timestamp};
use crate::db;
use crate::ids::OperatorId;

/// The validity of a code.
pub const ENROLMENT_LIFE: Duration = Duration::from_hours(24);

/// The limit of openings for one code, which bounds the rows that they add to the audit log.
const OPENINGS_MAX: i32 = 50;

/// An enrolment as its page displays it.
#[derive(Clone, Debug)]
pub struct Enrolment {
    pub name: String,
    pub factor: SecondFactor,
    /// The number of openings of the page with this code, the present one included.
    pub openings: u32,
    operator: Uuid,
    /// The sealed secret, as stored.
    stored: Vec<u8>,
}

/// A request to complete an enrolment.
#[derive(Debug)]
pub struct EnrolmentCompletion<'a> {
    pub code: &'a str,
    /// The token from the cookie of the opening.
    pub browser: Option<&'a EnrolmentBrowserToken>,
    pub password: &'a NewPassword,
    /// The six digits that the authenticator displays.
    pub authenticator_code: &'a str,
    pub from: SignInClient,
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
        let code_hash = parse_code(code)?.hash();
        let now = self.clock.now();
        let factor = SecondFactor::random();
        let browser = EnrolmentBrowserToken::random();
        let browser_hash = browser.hash();
        let mut tx = db::begin(&self.pool).await?;
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
        let subject = format!("operator:{}", row.name);
        let detail = json!({ "openings": row.openings });
        audit::record_in_tx(&mut tx, &actor, Action::EnrolmentOpened, Some(&subject), detail)
            .await?;
        tx.commit().await?;
        let openings = u32::try_from(row.openings).unwrap_or(u32::MAX);
        let operator = row.operator;
        Ok((Enrolment { name: row.name, factor, openings, operator, stored }, browser))
    }

    /// Returns the enrolment that a browser has opened.
    ///
    /// # Errors
    /// [`OperatorAuthError::EnrolmentUnknown`]; [`OperatorAuthError::EnrolmentElsewhere`] if
    /// another browser has opened it later.
    pub async fn find_enrolment(
        &self,
        code: &str,
        browser: Option<&EnrolmentBrowserToken>,
    ) -> Result<Enrolment, OperatorAuthError> {
        let hash = parse_code(code)?.hash();
        let now = self.clock.now();
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

    /// Completes an enrolment: uses the code up, sets the password and the second factor, and opens
    /// a session.
    ///
    /// # Errors
    /// Those of [`OperatorAuth::find_enrolment`]; [`OperatorAuthError::PasswordShort`],
    /// [`OperatorAuthError::PasswordEasy`], [`OperatorAuthError::CodeWrong`].
    pub async fn enrol(
        &self,
        request: EnrolmentCompletion<'_>,
    ) -> Result<OpenedSession, OperatorAuthError> {
        let EnrolmentCompletion { code, browser, password, authenticator_code, from } = request;
        let Enrolment { name, factor, operator, stored, .. } =
            self.find_enrolment(code, browser).await?;
        if password.length() < PASSWORD_MIN {
            return Err(OperatorAuthError::PasswordShort);
        }
        if password.is_easy(&name) {
            return Err(OperatorAuthError::PasswordEasy);
        }
        let now = self.clock.now();
        let step = factor.find_step(authenticator_code, now).ok_or(OperatorAuthError::CodeWrong)?;
        let permit = self.accounts.hasher().acquire()?;
        let hash = permit.hash(password.as_bytes()).await?;
        drop(permit);
        // A browser token that no operator has signed in with is not adopted, because it may have
        // been planted.
        let origin =
            browsers::find_sign_in_origin(&self.pool, None, from.browser.as_ref(), "", now).await?;
        let from = SignInClient { browser: origin.token, ..from };
        let mut tx = db::begin(&self.pool).await?;
        // An opening by another browser has replaced the secret.
        let deletion = sqlx::query!(
            "delete from operator_enrolments where operator = $1 and totp_secret = $2",
            operator,
            stored
        );
        if deletion.execute(&mut *tx).await?.rows_affected() == 0 {
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

fn parse_code(code: &str) -> Result<EnrolmentCode, OperatorAuthError> {
    code.trim().parse().map_err(|_| OperatorAuthError::EnrolmentUnknown)
}

/// Issues an enrolment code within the caller's transaction. Deletes the operator's credentials,
/// ends its sessions, and forgets its browsers.
pub(super) async fn begin_in_tx(
    tx: &mut PgConnection,
    operator: Uuid,
    by: Option<OperatorId>,
    now: Timestamp,
) -> Result<EnrolmentCode, sqlx::Error> {
    let code = EnrolmentCode::random();
    let hash = code.hash();
    let expires_at = clock::add(now, ENROLMENT_LIFE);
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
