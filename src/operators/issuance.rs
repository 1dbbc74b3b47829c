//! Secrets of operators as they are handed out, and what follows for decisions that need two people.
//!
//! Whoever makes a token or an enrolment code has it first, and could use it in the other's name.
//! So the maker and the operator count as one person until the operator has taken the secret up at
//! the desk, by the second factor, and [`APART_AFTER`] has passed since. That holds in both directions
//! and over others: two whose secrets one third has made are one person too. A real second operator
//! has that long to notice that somebody signs in under its name.
//!
//! The command line stands above all operators, who cannot be told apart there: what it makes ties
//! nobody to anybody.

use std::time::Duration;

use sqlx::PgConnection;
use uuid::Uuid;

use super::desk::to_sql;
use crate::clock::Timestamp;
use crate::entropy;
use crate::ids::OperatorId;

/// How long whoever made a secret and whoever has it count as one person, after it was taken up.
pub const APART_AFTER: Duration = Duration::from_hours(24);

/// What is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Secret {
    Token,
    Enrolment,
}

impl Secret {
    /// As in the column `secret`.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Enrolment => "enrolment",
        }
    }
}

/// Notes in the caller's transaction that a secret was made, which takes the place of the one
/// before.
pub(super) async fn issued_in_tx(
    tx: &mut PgConnection,
    operator: Uuid,
    secret: Secret,
    by: Option<OperatorId>,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    ended_in_tx(tx, operator, Some(secret), now).await?;
    sqlx::query!(
        r#"
        insert into operator_issuances (id, operator, secret, issued_by, issued_at)
        values ($1, $2, $3, $4, $5)
        "#,
        entropy::uuid(),
        operator,
        secret.as_str(),
        by.map(|by| by.0),
        to_sql(now) as _
    )
    .execute(tx)
    .await
    .map(|_| ())
}

/// Notes that a kind of secret is no longer good; without one, that none is.
pub(super) async fn ended_in_tx(
    tx: &mut PgConnection,
    operator: Uuid,
    secret: Option<Secret>,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        update operator_issuances
        set ended_at = $3
        where operator = $1 and ended_at is null and ($2::text is null or secret = $2)
        "#,
        operator,
        secret.map(Secret::as_str),
        to_sql(now) as _
    )
    .execute(tx)
    .await
    .map(|_| ())
}

/// Notes that the operator is at the desk with the second factor, and so has taken up what it was
/// given.
pub(super) async fn taken_up_in_tx(
    tx: &mut PgConnection,
    operator: OperatorId,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        update operator_issuances
        set taken_up_at = $2
        where operator = $1 and taken_up_at is null and ended_at is null
        "#,
        operator.0,
        to_sql(now) as _
    )
    .execute(tx)
    .await
    .map(|_| ())
}

/// Whether two operators could be one person, by who made their secrets: of the first one as it is
/// now, of the second one as it was at an earlier time.
pub(super) async fn could_be_one(
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
                and (
                    i.issued_at > h.at - $5::int8 * interval '1 second'
                    or i.taken_up_at > h.at - $5::int8 * interval '1 second'
                    or (i.taken_up_at is null and (i.ended_at is null or i.ended_at > h.at))
                )
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
        i64::try_from(APART_AFTER.as_secs()).unwrap_or(i64::MAX)
    )
    .fetch_one(connection)
    .await
}
