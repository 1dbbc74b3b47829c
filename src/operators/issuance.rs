//! Issuers of enrolment codes, and the independence that the four-eyes principle requires.
//!
//! An administrator who issues an enrolment code has seen it and could use it in its owner's place.
//! The issuer and the owner therefore count as one person until [`INDEPENDENT_AFTER`] has passed
//! since the code ended: since it was used, replaced, revoked, or expired. Signing in with another
//! credential does not shorten this time, because it does not show that nobody else holds the code.
//! The relation is symmetric and extends over third operators: two operators whose codes were
//! issued by the same one count as one person as well. A legitimate owner has that long to notice
//! an enrolment by somebody else.
//!
//! API tokens, passwords, second factors and sessions are seen by their owner only and create no
//! such relation. Neither do codes issued on the command line, which has authority over all
//! operators and cannot tell its users apart.

use std::time::Duration;

use sqlx::PgConnection;
use uuid::Uuid;

use super::{SignedIn, tokens};
use crate::clock::Timestamp;
use crate::db::to_sql;
use crate::entropy;
use crate::ids::OperatorId;

/// The time after the end of a code during which its issuer and its owner count as one person.
pub const INDEPENDENT_AFTER: Duration = Duration::from_hours(24);

/// Records within the caller's transaction that an enrolment code was issued. The code replaces the
/// previous one.
pub(super) async fn record_issuance_in_tx(
    tx: &mut PgConnection,
    operator: Uuid,
    by: Option<OperatorId>,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), sqlx::Error> {
    end_issuance_in_tx(tx, operator, now).await?;
    sqlx::query!(
        r#"
        insert into operator_issuances (id, operator, issued_by, issued_at, expires_at)
        values ($1, $2, $3, $4, $5)
        "#,
        entropy::uuid(),
        operator,
        by.map(|by| by.0),
        to_sql(now) as _,
        to_sql(expires_at) as _
    )
    .execute(tx)
    .await
    .map(|_| ())
}

/// Records within the caller's transaction that an operator's code was used or became invalid.
pub(super) async fn end_issuance_in_tx(
    tx: &mut PgConnection,
    operator: Uuid,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update operator_issuances set ended_at = $2 where operator = $1 and ended_at is null",
        operator,
        to_sql(now) as _
    )
    .execute(tx)
    .await
    .map(|_| ())
}

impl<C> SignedIn<C> {
    /// Returns whether the operator's session is open, and keeps it open until the caller's
    /// transaction ends.
    pub async fn holds_session_in_tx(&self, tx: &mut PgConnection) -> Result<bool, sqlx::Error> {
        tokens::holds_session_in_tx(tx, self.id, self.session).await
    }

    /// Returns whether the operator, at present, and the author of an earlier request may be one
    /// person.
    pub async fn is_dependent_on_in_tx(
        &self,
        tx: &mut PgConnection,
        now: Timestamp,
        author: (OperatorId, Timestamp),
    ) -> Result<bool, sqlx::Error> {
        is_dependent(tx, (self.id, now), author).await
    }
}

/// Returns whether two operators may be one person, judged by the issuers of their codes: those of
/// the first operator at present, those of the second at an earlier time.
pub(super) async fn is_dependent(
    connection: &mut PgConnection,
    (one, now): (OperatorId, Timestamp),
    (other, then): (OperatorId, Timestamp),
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        with recursive asked as (
            select 1 as side, $1::uuid as operator, $2::timestamptz as at
            union all
            select 2, $3::uuid, $4::timestamptz
        ), hands as (
            select a.side, a.operator, a.at from asked a
            union
            select h.side, i.issued_by, h.at
            from hands h
            join operator_issuances i on i.operator = h.operator
            where i.issued_by is not null and i.issued_at <= h.at
                and least(i.ended_at, i.expires_at) > h.at - $5::int8 * interval '1 second'
        )
        select exists (
            select from hands a join hands b on b.operator = a.operator
            where a.side = 1 and b.side = 2
        ) as "exists!"
        "#,
        one.0,
        to_sql(now) as _,
        other.0,
        to_sql(then) as _,
        i64::try_from(INDEPENDENT_AFTER.as_secs()).unwrap_or(i64::MAX)
    )
    .fetch_one(connection)
    .await
}
