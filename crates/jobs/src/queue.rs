//! The statements of the queue: taking a job, holding it, and ending an attempt.

use std::time::Duration;

use serde_json::Value;
use sqlx::postgres::types::PgInterval;
use sqlx::{PgConnection, PgPool};

/// The time after which the job of a silent process is taken by another one.
pub(crate) const LEASE: Duration = Duration::from_mins(1);

/// One attempt at a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub(crate) job: i64,
    pub(crate) turn: i64,
    /// The number of this attempt since the last success, from 1.
    pub number: i32,
}

/// A job that this process has taken.
#[derive(Debug)]
pub(crate) struct TakenJob {
    pub(crate) name: String,
    pub(crate) payload: Value,
    pub(crate) attempt: Attempt,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The age of the job that has been due for longest; zero without one.
    pub oldest_due: Duration,
    /// The number of dead letters.
    pub dead: u64,
}

/// Takes the job that has been due for longest among those with these names.
pub(crate) async fn take_job(
    pool: &PgPool,
    names: &[String],
) -> Result<Option<TakenJob>, sqlx::Error> {
    let row = sqlx::query!(
        "
        update jobs j
        set run_at = now() + $2, attempts = j.attempts + 1, turn = j.turn + 1
        where j.id = (
            select n.id
            from jobs n
            where n.name = any($1) and n.died_at is null and n.run_at <= now()
            order by n.run_at
            limit 1
            for update skip locked
        )
        returning j.id, j.turn, j.name, j.payload, j.attempts
        ",
        names,
        interval(LEASE)
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| TakenJob {
        name: row.name,
        payload: row.payload,
        attempt: Attempt { job: row.id, turn: row.turn, number: row.attempts },
    }))
}

/// Creates the row of a periodic job, which is due at once. If it exists already and the period has
/// become shorter, its next run comes sooner.
pub(crate) async fn schedule_run(
    pool: &PgPool,
    name: &str,
    period: Duration,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into jobs as j (name, payload, unique_key)
        values ($1, 'null', $1)
        on conflict (unique_key) where died_at is null do update
        set run_at = now() + $2
        where j.attempts = 0 and j.run_at > now() + $2
        ",
        name,
        interval(period)
    )
    .execute(pool)
    .await
    .map(|_| ())
}

pub(crate) async fn read_stats(pool: &PgPool, names: &[String]) -> Result<Stats, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select (
                select extract(epoch from now() - min(j.run_at))::bigint
                from jobs j
                where j.died_at is null and j.run_at <= now() and j.name = any($1)
            ) as oldest_due,
            (select count(*) from jobs j where j.died_at is not null) as "dead!"
        "#,
        names
    )
    .fetch_one(pool)
    .await?;
    let number = |number: i64| u64::try_from(number).unwrap_or_default();
    let oldest_due = Duration::from_secs(row.oldest_due.map_or(0, number));
    Ok(Stats { oldest_due, dead: number(row.dead) })
}

impl Attempt {
    /// Ends the job in the transaction of its work. Returns false if this process has lost its
    /// lease: the caller then rolls back, because another attempt does the work.
    pub async fn finish_in_tx(&self, connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
        sqlx::query!("delete from jobs j where j.id = $1 and j.turn = $2", self.job, self.turn)
            .execute(connection)
            .await
            .map(|done| done.rows_affected() > 0)
    }

    /// Renews the lease. Returns false if it was lost.
    pub(crate) async fn renew(&self, pool: &PgPool) -> Result<bool, sqlx::Error> {
        self.postpone(pool, LEASE, None).await
    }

    /// Ends an attempt; the job is due again after the delay.
    pub(crate) async fn postpone(
        &self,
        pool: &PgPool,
        delay: Duration,
        error: Option<&str>,
    ) -> Result<bool, sqlx::Error> {
        sqlx::query!(
            "
            update jobs j
            set run_at = now() + $3, last_error = coalesce($4, j.last_error)
            where j.id = $1 and j.turn = $2
            ",
            self.job,
            self.turn,
            interval(delay),
            error
        )
        .execute(pool)
        .await
        .map(|done| done.rows_affected() > 0)
    }

    /// Returns the job to the queue, as if this attempt had not begun.
    pub(crate) async fn hand_back(&self, pool: &PgPool) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "
            update jobs j
            set run_at = now(), attempts = j.attempts - 1, turn = j.turn + 1
            where j.id = $1 and j.turn = $2
            ",
            self.job,
            self.turn
        )
        .execute(pool)
        .await
        .map(|_| ())
    }

    /// Schedules the next run of a periodic job, at the beginning of the next period since 1970,
    /// and deletes the dead letter of an earlier run.
    pub(crate) async fn finish_run(
        &self,
        pool: &PgPool,
        period: Duration,
    ) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "
            with done as (
                update jobs j
                set run_at = date_bin($3, now(), 'epoch'::timestamptz) + $3, attempts = 0,
                    last_error = null
                where j.id = $1 and j.turn = $2
                returning j.unique_key
            )
            delete from jobs j
            using done d
            where j.unique_key = d.unique_key and j.died_at is not null
            ",
            self.job,
            self.turn,
            interval(period)
        )
        .execute(pool)
        .await
        .map(|_| ())
    }

    /// Makes the job a dead letter. A periodic job gets a new row for its next run, and has one
    /// dead letter at most.
    pub(crate) async fn bury_job(
        &self,
        pool: &PgPool,
        period: Option<Duration>,
        error: &str,
    ) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "
            with dead as (
                update jobs j
                set died_at = now(), last_error = $4
                where j.id = $1 and j.turn = $2 and j.died_at is null
                returning j.id, j.name, j.payload, j.unique_key
            ), earlier as (
                delete from jobs j
                using dead d
                where j.unique_key = d.unique_key and j.died_at is not null and j.id <> d.id
                    and $3::interval is not null
            )
            insert into jobs (name, payload, unique_key, run_at)
            select d.name, d.payload, d.unique_key,
                date_bin($3, now(), 'epoch'::timestamptz) + $3
            from dead d
            where $3::interval is not null
            ",
            self.job,
            self.turn,
            period.map(interval),
            error
        )
        .execute(pool)
        .await
        .map(|_| ())
    }
}

/// Returns the interval of a duration, in whole microseconds.
fn interval(duration: Duration) -> PgInterval {
    let microseconds = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    PgInterval { months: 0, days: 0, microseconds }
}
