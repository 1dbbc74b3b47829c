//! Making operators, disabling them, and letting them enrol anew: for `bahay operator`, and for
//! administrators at the desk. The enrolment code is the only secret that they hand out; it is shown
//! once.

use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::json;
use thiserror::Error;
use uuid::Uuid;

use super::audit::{self, Action, Actor};
use super::{OperatorName, Operators, Role, browsers, desk, enrolment, issuance};
use crate::auth::EnrolmentCode;
use crate::clock::{self, Timestamp};
use crate::{db, entropy};

/// An operator as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorSummary {
    pub name: String,
    pub role: String,
    pub created_at: Timestamp,
    pub disabled_at: Option<Timestamp>,
    /// Whether there are a password and a second factor.
    pub is_enrolled: bool,
    /// Until when its token is good; `None` when it has none.
    pub token_expires_at: Option<Timestamp>,
    /// When the operator was last at the desk.
    pub last_seen_at: Option<Timestamp>,
}

/// Why operators stay as they are.
#[derive(Debug, Error)]
pub enum OperatorAdminError {
    #[error("there is an operator {name} already; names are not given twice")]
    NameTaken { name: String },
    #[error("there is no operator {name} who is not disabled")]
    NoSuchOperator { name: String },
    #[error("nobody disables or resets itself; another administrator does")]
    Own,
    #[error("operators cannot be changed: {0}")]
    Database(#[from] sqlx::Error),
}

impl Operators {
    /// Makes an operator, and returns the code with which it enrols. Not repeated when an answer is
    /// lost: the code would be, too.
    pub async fn add(
        &self,
        by: &Actor,
        name: &OperatorName,
        role: Role,
        now: Timestamp,
    ) -> Result<EnrolmentCode, OperatorAdminError> {
        let id = entropy::uuid();
        let mut tx = self.pool.begin().await?;
        let made = sqlx::query!(
            r#"
            insert into operators (id, name, role)
            values ($1, $2, $3)
            on conflict (name) do nothing
            "#,
            id,
            name.as_str(),
            role.as_str()
        )
        .execute(&mut *tx)
        .await?;
        if made.rows_affected() == 0 {
            return Err(OperatorAdminError::NameTaken { name: name.as_str().to_owned() });
        }
        let code = enrolment::begin_in_tx(&mut tx, id, by.operator, now).await?;
        let (subject, detail) = (subject(name), json!({ "role": role.as_str() }));
        audit::record_in_tx(&mut tx, by, Action::OperatorAdded, Some(&subject), detail).await?;
        tx.commit().await?;
        Ok(code)
    }

    /// All there ever were, by name.
    pub async fn list(&self) -> Result<Vec<OperatorSummary>, OperatorAdminError> {
        let once = || {
            sqlx::query!(
                r#"
                select o.name, o.role, o.created_at as "created_at: SqlTimestamp",
                    o.disabled_at as "disabled_at: SqlTimestamp",
                    c.operator is not null as "is_enrolled!",
                    o.token_expires_at as "token_expires_at: SqlTimestamp",
                    (
                        select max(s.last_seen_at) from operator_sessions s
                        where s.operator = o.id
                    ) as "last_seen_at: SqlTimestamp"
                from operators o
                left join operator_credentials c on c.operator = o.id
                order by o.name
                "#
            )
            .fetch_all(&self.pool)
        };
        let from_sql = |time: SqlTimestamp| clock::from_jiff(time.to_jiff());
        let rows = db::retry(once).await?.into_iter().map(|row| OperatorSummary {
            name: row.name,
            role: row.role,
            created_at: from_sql(row.created_at),
            disabled_at: row.disabled_at.map(from_sql),
            is_enrolled: row.is_enrolled,
            token_expires_at: row.token_expires_at.map(from_sql),
            last_seen_at: row.last_seen_at.map(from_sql),
        });
        Ok(rows.collect())
    }

    /// Ends what an operator may do, for good, and its sessions.
    pub async fn disable(
        &self,
        by: &Actor,
        name: &OperatorName,
        now: Timestamp,
    ) -> Result<(), OperatorAdminError> {
        let mut tx = self.pool.begin().await?;
        let id = sqlx::query_scalar!(
            r#"
            update operators
            set disabled_at = now(), token_hash = null, token_expires_at = null
            where name = $1 and disabled_at is null
            returning id
            "#,
            name.as_str()
        )
        .fetch_optional(&mut *tx)
        .await?;
        let id = another(by, id, name)?;
        sign_in::end_sessions_in_tx(&mut tx, id).await?;
        browsers::forget_in_tx(&mut tx, id).await?;
        issuance::end_issuance_in_tx(&mut tx, id, now).await?;
        let (action, subject) = (Action::OperatorDisabled, subject(name));
        audit::record_in_tx(&mut tx, by, action, Some(&subject), json!({})).await?;
        Ok(tx.commit().await?)
    }

    /// Lets an operator set another password and another second factor; those before are no longer
    /// good, nor is its token, and its sessions end.
    pub async fn reset(
        &self,
        by: &Actor,
        name: &OperatorName,
        now: Timestamp,
    ) -> Result<EnrolmentCode, OperatorAdminError> {
        let mut tx = self.pool.begin().await?;
        let id = sqlx::query_scalar!(
            r#"
            update operators set token_hash = null, token_expires_at = null
            where name = $1 and disabled_at is null
            returning id
            "#,
            name.as_str()
        )
        .fetch_optional(&mut *tx)
        .await?;
        let id = another(by, id, name)?;
        let code = enrolment::begin_in_tx(&mut tx, id, by.operator, now).await?;
        let (action, subject) = (Action::SignInReset, subject(name));
        audit::record_in_tx(&mut tx, by, action, Some(&subject), json!({})).await?;
        tx.commit().await?;
        Ok(code)
    }
}

/// As the audit names an operator.
fn subject(name: &OperatorName) -> String {
    format!("operator:{}", name.as_str())
}

/// The operator, who is there and is not whoever asks.
fn another(by: &Actor, id: Option<Uuid>, name: &OperatorName) -> Result<Uuid, OperatorAdminError> {
    let missing = || OperatorAdminError::NoSuchOperator { name: name.as_str().to_owned() };
    let id = id.ok_or_else(missing)?;
    if by.operator.is_some_and(|by| by.0 == id) { Err(OperatorAdminError::Own) } else { Ok(id) }
}
