//! Issuers of enrolment codes, and the independence that decisions by two people need.
//!
//! An administrator who makes an enrolment code has seen it, and could use it in its owner's place. So
//! issuer and owner count as one person until [`INDEPENDENT_AFTER`] has passed since that code ended: since
//! it was used, replaced, revoked, or expired. Another credential changes nothing about it: an owner
//! who signs in by a password has not shown that nobody else holds the code. The relation holds in both
//! directions and over others: two operators whose codes a third one has issued are one person too. A
//! real second operator has that long to notice that somebody enrolled under its name.
//!
//! Nobody but its owner sees an API token, a password, a second factor or a session, so that these tie
//! nobody. The command line stands above all operators, who cannot be told apart there: its codes
//! tie nobody either.

use std::time::Duration;

use sqlx::PgConnection;
use uuid::Uuid;

use super::sign_in::to_sql;
use crate::clock::Timestamp;
use crate::entropy;
use crate::ids::OperatorId;

/// The time after the end of a code during which its issuer and its owner count as one person.
pub const INDEPENDENT_AFTER: Duration = Duration::from_hours(24);

/// Records in the caller's transaction that an enrolment code was issued, which replaces the one
/// before.
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

/// Records in the caller's transaction that an operator's code was used, or is no longer good.
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

/// Returns whether two operators could be one person, by the issuers of their codes: of the first one
/// as it is now, of the second one as it was at an earlier time.
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
