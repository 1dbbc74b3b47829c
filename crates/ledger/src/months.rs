//! The months (UTC) by which the tables of the ledger, and of what is derived from it, are
//! partitioned.

use jiff_sqlx::ToSqlx as _;
use sqlx::PgPool;

/// The partitioned tables.
pub const TABLES: [&str; 3] = ["operations", "account_operations", "player_settlements"];

/// Returns the least operation id of the month (UTC) of a time, like the database function of the
/// same name: an operation of that time or later has no lower id.
pub fn first_operation_of(at: jiff::Timestamp) -> i64 {
    let date = at.to_zoned(jiff::tz::TimeZone::UTC).date();
    let month = (i64::from(date.year()) - 2_000) * 100 + i64::from(date.month());
    month.saturating_mul(1_000_000_000_000)
}

/// Creates the partitions of all tables for a range of months, for a backfill. Requires the login
/// that owns the schema, or the role of the service.
pub async fn create_partitions(
    pool: &PgPool,
    from: jiff::Timestamp,
    to: jiff::Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        select count(make_month(t.name, m.month at time zone 'UTC')) as "count!"
        from unnest($1::text[]) as t (name)
        cross join generate_series(
            date_trunc('month', $2::timestamptz at time zone 'UTC'), $3::timestamptz at time zone 'UTC',
            interval '1 month'
        ) as m (month)
        "#,
        &TABLES.map(String::from),
        from.to_sqlx() as _,
        to.to_sqlx() as _
    )
    .fetch_one(pool)
    .await
    .map(|_| ())
}
