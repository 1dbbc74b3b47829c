//! Dead letters: jobs whose attempts are used up.

use jiff_sqlx::Timestamp as SqlTimestamp;
use serde::Serialize;
use serde_json::Value;
use sqlx::{PgConnection, PgPool};

use bahay_db as db;

/// A job whose attempts are used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadJob {
    pub id: i64,
    pub name: String,
    pub attempts: i32,
    pub last_error: String,
    pub created_at: jiff::Timestamp,
    pub died_at: jiff::Timestamp,
}

/// A dead job that was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiscardedJob {
    pub name: String,
    pub payload: Value,
    pub last_error: String,
}

/// Returns dead letters with an id below `below`, newest first.
pub async fn list_dead(
    pool: &PgPool,
    below: Option<i64>,
    limit: i64,
) -> Result<Vec<DeadJob>, sqlx::Error> {
    let once = || {
        sqlx::query_as!(
            DeadJob,
            r#"
            select j.id, j.name, j.attempts, j.last_error as "last_error!",
                j.created_at as "created_at: SqlTimestamp", j.died_at as "died_at!: SqlTimestamp"
            from jobs j
            where j.died_at is not null and ($1::bigint is null or j.id < $1)
            order by j.id desc
            limit $2
            "#,
            below,
            limit
        )
        .fetch_all(pool)
    };
    db::retry(once).await
}

/// Makes a dead job due again, with all its attempts. If another job with its unique key waits,
/// that one becomes due instead. Returns the job's name, or `None` if no dead job has this id.
pub async fn retry_dead_in_tx(
    connection: &mut PgConnection,
    id: i64,
) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        with dead as (
            delete from jobs j
            where j.id = $1 and j.died_at is not null
            returning j.name, j.payload, j.unique_key
        )
        insert into jobs as j (name, payload, unique_key)
        select d.name, d.payload, d.unique_key
        from dead d
        on conflict (unique_key) where died_at is null do update
        set run_at = case when j.attempts = 0 then least(j.run_at, now()) else j.run_at end
        returning j.name
        "#,
        id
    )
    .fetch_optional(connection)
    .await
}

/// Deletes a dead job. Returns what was deleted, or `None` if no dead job has this id.
pub async fn discard_dead_in_tx(
    connection: &mut PgConnection,
    id: i64,
) -> Result<Option<DiscardedJob>, sqlx::Error> {
    sqlx::query_as!(
        DiscardedJob,
        r#"
        delete from jobs j
        where j.id = $1 and j.died_at is not null
        returning j.name, j.payload, j.last_error as "last_error!"
        "#,
        id
    )
    .fetch_optional(connection)
    .await
}
