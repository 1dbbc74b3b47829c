//! Enrolments: the way by which an operator gets a password and a second factor, the first ones or
//! new ones. Whoever makes an enrolment learns a code and hands it over; the operator alone chooses
//! the password and sees the secret of the authenticator.
//!
//! The secret is drawn when the operator is shown it first, so whoever makes an enrolment never has
//! it. A code is good for [`ENROLMENT_LIFE`] and for one use. Making one ends every session of its
//! operator and what could be signed in with before.

use std::time::Duration;

use sqlx::PgConnection;
use uuid::Uuid;

use super::audit::{Action, Trail, Way};
use super::desk::{Desk, DeskError, Opened, end_all_in_tx, open_in_tx, to_sql};
use super::issuance::{self, Secret};
use super::second_factor::SecondFactor;
use crate::accounts::NewPassword;
use crate::auth::{EnrolmentCode, SecretHash};
use crate::clock::{self, Timestamp};
use crate::db;
use crate::ids::OperatorId;

/// How long a code is good.
pub const ENROLMENT_LIFE: Duration = Duration::from_hours(24);

/// Fewer characters than this are no password of an operator; players may have shorter ones.
pub const PASSWORD_MIN: usize = 12;

/// What an operator who enrols is shown.
#[derive(Clone, Debug)]
pub struct Enrolment {
    pub name: String,
    pub factor: SecondFactor,
    operator: Uuid,
    /// The factor as it is stored.
    stored: Vec<u8>,
}

impl Desk {
    /// What a code is for.
    ///
    /// # Errors
    /// [`DeskError::EnrolmentUnknown`].
    pub async fn enrolment(&self, code: &str) -> Result<Enrolment, DeskError> {
        let code: EnrolmentCode = code.trim().parse().map_err(|_| DeskError::EnrolmentUnknown)?;
        let (hash, now) = (code.hash(), self.clock.now());
        let once = || {
            sqlx::query!(
                r#"
                select e.operator, e.totp_secret, o.name
                from operator_enrolments e
                join operators o on o.id = e.operator
                where e.code_hash = $1 and e.expires_at > $2 and o.disabled_at is null
                "#,
                hash.0.as_slice(),
                to_sql(now) as _
            )
            .fetch_optional(&self.pool)
        };
        let row = db::retry(once).await?.ok_or(DeskError::EnrolmentUnknown)?;
        let stored = match row.totp_secret {
            Some(stored) => stored,
            None => self.draw(row.operator, hash).await?,
        };
        let Some((factor, _)) = SecondFactor::stored(&stored, &self.keys, row.operator) else {
            return Err(DeskError::key_missing());
        };
        Ok(Enrolment { name: row.name, factor, operator: row.operator, stored })
    }

    /// Draws the second factor of an enrolment, unless somebody else just did. Gives it as stored.
    async fn draw(&self, operator: Uuid, code_hash: SecretHash) -> Result<Vec<u8>, DeskError> {
        let sealed = SecondFactor::random().sealed(&self.keys, operator);
        let once = || {
            sqlx::query_scalar!(
                r#"
                update operator_enrolments
                set totp_secret = coalesce(totp_secret, $3)
                where operator = $1 and code_hash = $2
                returning totp_secret as "totp_secret!"
                "#,
                operator,
                code_hash.0.as_slice(),
                sealed
            )
            .fetch_optional(&self.pool)
        };
        db::retry(once).await?.ok_or(DeskError::EnrolmentUnknown)
    }

    /// Uses a code up: sets password and second factor, and opens a session.
    ///
    /// # Errors
    /// [`DeskError::EnrolmentUnknown`], [`DeskError::PasswordShort`], [`DeskError::PasswordEasy`],
    /// [`DeskError::CodeWrong`].
    pub async fn enrol(
        &self,
        code: &str,
        password: &NewPassword,
        shown: &str,
        address: Option<String>,
    ) -> Result<Opened, DeskError> {
        let Enrolment { name, factor, operator, stored } = self.enrolment(code).await?;
        if password.characters() < PASSWORD_MIN {
            return Err(DeskError::PasswordShort);
        }
        if password.is_easy(&name) {
            return Err(DeskError::PasswordEasy);
        }
        let now = self.clock.now();
        let step = factor.step_of(shown, now).ok_or(DeskError::CodeWrong)?;
        let place = self.accounts.hasher().enter()?;
        let hash = place.hash(password.as_bytes()).await?;
        drop(place);
        let mut tx = self.pool.begin().await?;
        let used = sqlx::query!(
            "delete from operator_enrolments where operator = $1 and totp_secret = $2",
            operator,
            stored
        );
        if used.execute(&mut *tx).await?.rows_affected() == 0 {
            return Err(DeskError::EnrolmentUnknown);
        }
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
            factor.sealed(&self.keys, operator),
            step,
            to_sql(now) as _
        )
        .execute(&mut *tx)
        .await?;
        end_all_in_tx(&mut tx, operator).await?;
        let operator = OperatorId(operator);
        let trail = Trail { operator: Some(operator), way: Way::Desk, address };
        let opened = open_in_tx(&mut tx, operator, &trail, Action::Enrolled, now).await?;
        tx.commit().await?;
        Ok(opened)
    }
}

/// Makes an enrolment in the caller's transaction. What the operator could sign in with before is
/// no longer good, nor are its sessions.
pub(super) async fn begin_in_tx(
    tx: &mut PgConnection,
    operator: Uuid,
    by: Option<OperatorId>,
    now: Timestamp,
) -> Result<EnrolmentCode, sqlx::Error> {
    let code = EnrolmentCode::random();
    let hash = code.hash();
    sqlx::query!("delete from operator_credentials where operator = $1", operator)
        .execute(&mut *tx)
        .await?;
    sqlx::query!(
        r#"
        insert into operator_enrolments (operator, code_hash, expires_at)
        values ($1, $2, $3)
        on conflict (operator) do update
        set code_hash = excluded.code_hash, totp_secret = null, expires_at = excluded.expires_at
        "#,
        operator,
        hash.0.as_slice(),
        to_sql(clock::after(now, ENROLMENT_LIFE)) as _
    )
    .execute(&mut *tx)
    .await?;
    end_all_in_tx(tx, operator).await?;
    issuance::issued_in_tx(tx, operator, Secret::Enrolment, by, now).await?;
    Ok(code)
}
