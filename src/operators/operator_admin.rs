//! Administration of operators: adding, disabling and resetting them, and changes of their roles,
//! for `bahay operator` and for administrators at the desk. The enrolment code is the only secret
//! that these functions return; it is displayed once.

use bahay_api::operator::operators::Operator as OperatorSummary;
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::json;
use thiserror::Error;
use uuid::Uuid;

use super::audit::{self, Action, Actor};
use super::{OperatorName, Operators, Role, browsers, enrolment, issuance, sign_in};
use crate::auth::EnrolmentCode;
use crate::clock::Timestamp;
use crate::{db, entropy};

/// The reason why operators remain unchanged.
#[derive(Debug, Error)]
pub enum OperatorAdminError {
    #[error("the operator {name} exists already; names are not reused")]
    NameTaken { name: String },
    #[error("there is no active operator {name}")]
    NoSuchOperator { name: String },
    #[error("administrators cannot disable or reset themselves or change their own role")]
    Own,
    #[error("{name} is the only administrator; give another operator the role admin first")]
    LastAdministrator { name: String },
    #[error("operators cannot be changed: {0}")]
    Database(#[from] sqlx::Error),
}

impl Operators {
    /// Adds an operator and returns its enrolment code. Not retried, because a lost response would
    /// lose the code.
    pub async fn add(
        &self,
        by: &Actor,
        name: &OperatorName,
        role: Role,
        now: Timestamp,
    ) -> Result<EnrolmentCode, OperatorAdminError> {
        let id = entropy::uuid();
        let mut tx = db::begin(&self.pool).await?;
        let inserted = sqlx::query!(
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
        if inserted.rows_affected() == 0 {
            return Err(OperatorAdminError::NameTaken { name: name.as_str().to_owned() });
        }
        let code = enrolment::begin_in_tx(&mut tx, id, by.operator, now).await?;
        let subject = audit_subject(name);
        let detail = json!({ "role": role.as_str() });
        audit::record_in_tx(&mut tx, by, Action::OperatorAdded, Some(&subject), detail).await?;
        tx.commit().await?;
        Ok(code)
    }

    /// Returns all operators, disabled ones included, by name.
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
        let rows = db::retry(once).await?.into_iter().map(|row| OperatorSummary {
            name: row.name,
            role: row.role,
            created_at: db::from_sql(row.created_at).into(),
            disabled_at: row.disabled_at.map(|at| db::from_sql(at).into()),
            is_enrolled: row.is_enrolled,
            token_expires_at: row.token_expires_at.map(|at| db::from_sql(at).into()),
            last_seen_at: row.last_seen_at.map(|at| db::from_sql(at).into()),
        });
        Ok(rows.collect())
    }

    /// Changes the role of an operator, unless it has that role already. Its sessions end and its
    /// token becomes invalid, so that neither a request in progress nor a program, whose token may
    /// have been copied, acts with the other role.
    pub async fn change_role(
        &self,
        by: &Actor,
        name: &OperatorName,
        role: Role,
    ) -> Result<(), OperatorAdminError> {
        let mut tx = db::begin(&self.pool).await?;
        // Changes take turns, so that two administrators cannot demote each other.
        sqlx::query!(r#"select pg_advisory_xact_lock(hashtext('bahay: roles'))::text as "lock""#)
            .fetch_one(&mut *tx)
            .await?;
        let found = sqlx::query!(
            r#"
            select o.id, o.role,
                exists (
                    select from operators a
                    where a.role = 'admin' and a.disabled_at is null and a.id <> o.id
                ) as "has_other_administrator!"
            from operators o
            where o.name = $1 and o.disabled_at is null
            for no key update
            "#,
            name.as_str()
        )
        .fetch_optional(&mut *tx)
        .await?;
        let id = require_other(by, found.as_ref().map(|found| found.id), name)?;
        let Some(found) = found.filter(|found| found.role != role.as_str()) else {
            return Ok(());
        };
        if found.role == Role::Admin.as_str() && !found.has_other_administrator {
            let name = name.as_str().to_owned();
            return Err(OperatorAdminError::LastAdministrator { name });
        }
        sqlx::query!(
            r#"
            update operators set role = $2, token_hash = null, token_expires_at = null
            where id = $1
            "#,
            id,
            role.as_str()
        )
        .execute(&mut *tx)
        .await?;
        sign_in::end_sessions_in_tx(&mut tx, id).await?;
        let subject = audit_subject(name);
        let detail = json!({ "before": found.role, "after": role.as_str() });
        audit::record_in_tx(&mut tx, by, Action::RoleChanged, Some(&subject), detail).await?;
        Ok(tx.commit().await?)
    }

    /// Disables an operator permanently and ends its sessions.
    pub async fn disable(
        &self,
        by: &Actor,
        name: &OperatorName,
        now: Timestamp,
    ) -> Result<(), OperatorAdminError> {
        let mut tx = db::begin(&self.pool).await?;
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
        let id = require_other(by, id, name)?;
        sign_in::end_sessions_in_tx(&mut tx, id).await?;
        browsers::forget_in_tx(&mut tx, id).await?;
        issuance::end_issuance_in_tx(&mut tx, id, now).await?;
        let subject = audit_subject(name);
        let action = Action::OperatorDisabled;
        audit::record_in_tx(&mut tx, by, action, Some(&subject), json!({})).await?;
        Ok(tx.commit().await?)
    }

    /// Resets the sign-in of an operator and returns an enrolment code. The previous password,
    /// second factor and token become invalid, and all sessions end.
    pub async fn reset(
        &self,
        by: &Actor,
        name: &OperatorName,
        now: Timestamp,
    ) -> Result<EnrolmentCode, OperatorAdminError> {
        let mut tx = db::begin(&self.pool).await?;
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
        let id = require_other(by, id, name)?;
        let code = enrolment::begin_in_tx(&mut tx, id, by.operator, now).await?;
        let subject = audit_subject(name);
        let action = Action::SignInReset;
        audit::record_in_tx(&mut tx, by, action, Some(&subject), json!({})).await?;
        tx.commit().await?;
        Ok(code)
    }
}

/// Returns the subject that denotes an operator in the audit log.
fn audit_subject(name: &OperatorName) -> String {
    format!("operator:{}", name.as_str())
}

/// Requires that the operator exists and is not the actor itself.
fn require_other(
    by: &Actor,
    id: Option<Uuid>,
    name: &OperatorName,
) -> Result<Uuid, OperatorAdminError> {
    let missing = || OperatorAdminError::NoSuchOperator { name: name.as_str().to_owned() };
    let id = id.ok_or_else(missing)?;
    if by.operator.is_some_and(|by| by.0 == id) { Err(OperatorAdminError::Own) } else { Ok(id) }
}
