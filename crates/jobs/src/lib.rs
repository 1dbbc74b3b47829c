//! A queue of jobs in PostgreSQL: work that is enqueued in the transaction that causes it, and is
//! performed later, at least once, by any process.
//!
//! - A [`Job`] is a value with a name. [`enqueue`] stores it in the caller's transaction, so a
//!   rollback leaves nothing; a unique key keeps equal jobs from waiting twice.
//! - A [`Worker`] takes due jobs with `for update skip locked` and holds each by a lease of a minute,
//!   which it renews every 20 seconds while the job runs, for however long. The job of a killed
//!   process is taken again when its lease has ended. A process that was paused for longer notices
//!   that its lease is lost: it drops the job where it waits, and does not end it.
//! - A failed job is repeated with exponential back-off ([`Retries`]). After the last attempt it is
//!   a dead letter ([`list_dead`]), which an operator retries or discards.
//! - A periodic job ([`Worker::every`]) is one row, whose next run is scheduled in the transaction
//!   that ends the last one. So it runs once in a period, on whichever node takes it. A later run
//!   replaces its dead letter.
//!
//! A job may run twice, because its process may die between the work and its end. A handler is
//! therefore idempotent, or ends its job in the transaction of its work
//! ([`Attempt::finish_in_tx`]). PostgreSQL's clock decides which jobs are due. Deliberately absent:
//! any knowledge of the jobs.

mod dead;
mod queue;
mod worker;

use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::PgConnection;

pub use dead::{DeadJob, DiscardedJob, discard_dead_in_tx, list_dead, retry_dead_in_tx};
pub use queue::{Attempt, Stats};
pub use worker::{Outcome, Retries, Worker};

/// A job: the payload of one piece of work.
///
/// The name and the JSON of a payload are stored, so a later program still has to read those of an
/// earlier one.
pub trait Job: Serialize + DeserializeOwned + Send + 'static {
    /// The name: lower-case letters, digits and underscores.
    const NAME: &'static str;
}

/// The options of [`enqueue_with`].
#[derive(Clone, Copy, Debug, Default)]
pub struct EnqueueOptions<'a> {
    /// At most one job of a key waits or runs at a time.
    pub unique_key: Option<&'a str>,
    /// The time from which the job is due; now without one.
    pub run_at: Option<jiff::Timestamp>,
}

/// Enqueues a job in the caller's transaction.
pub async fn enqueue<J: Job>(connection: &mut PgConnection, job: &J) -> Result<(), sqlx::Error> {
    enqueue_with(connection, job, EnqueueOptions::default()).await.map(|_| ())
}

/// Enqueues a job in the caller's transaction. Returns false, without enqueueing it, if another one
/// with its unique key waits or runs.
pub async fn enqueue_with<J: Job>(
    connection: &mut PgConnection,
    job: &J,
    options: EnqueueOptions<'_>,
) -> Result<bool, sqlx::Error> {
    let payload = serde_json::to_value(job).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let inserted = sqlx::query!(
        "
        insert into jobs (name, payload, unique_key, run_at)
        values ($1, $2, $3, coalesce($4, now()))
        on conflict (unique_key) where died_at is null do nothing
        ",
        J::NAME,
        payload,
        options.unique_key,
        options.run_at.map(|at| -> SqlTimestamp { at.to_sqlx() }) as _
    )
    .execute(connection)
    .await?;
    Ok(inserted.rows_affected() > 0)
}
