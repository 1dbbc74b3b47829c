//! The writer: posts waiting operations together.
//!
//! A commit waits for the disk, and its statements cost the same for one game as for ten, so one
//! commit for many games is many times cheaper than one commit each. The writer takes the
//! operations in its queue, up to a bound, and spawns a task that posts them in one transaction (by
//! `optimistic`, and after a conflict by `locked`) and replies. Meanwhile the next batch collects,
//! until the pace has passed or enough operations wait, and is posted concurrently, up to a bound
//! as well; an operation after a pause waits for nothing. So there are few batches while they are
//! fast, and several concurrent ones when they are not. If a batch cannot be written because of one
//! operation, its operations are posted singly and only that one fails.
//!
//! A table requests its next operation after the answer to the one before, and no player sits at
//! two tables, so concurrent batches share an account only by chance.
//!
//! The result of a transaction on a lost connection is never guessed: the same requests are posted
//! again, and those that were committed answer from their keys.

use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::write::OPERATIONS_MAX;
use super::{PostingCache, locked, optimistic};
use crate::error::LedgerError;
use crate::operation::{Answer, Request};
use crate::transfer_totals::TransferTotals;
use crate::{LedgerOptions, house_projection};
use bahay_base::clock::Moment;
use bahay_db::Failure;

/// The maximum number of operations per transaction. More bring no measurable gain and increase the
/// latency of the slowest.
const BATCH_MAX: usize = OPERATIONS_MAX;

/// The number of operations that are posted without waiting for more: the fixed cost of a
/// transaction is small per operation from here on.
const BATCH_ENOUGH: usize = 16;

/// An operation in the queue, with the channel of its caller.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) request: Request,
    pub(crate) reply: oneshot::Sender<Answer>,
}

/// Posts operations until the queue is closed and empty, and the running batches have ended. `stop`
/// closes the queue. A small batch starts no earlier than the pace after the one before.
pub(crate) async fn run_writer(
    pool: PgPool,
    cache: PostingCache,
    mut jobs: mpsc::Receiver<Job>,
    options: LedgerOptions,
    mut stop: watch::Receiver<bool>,
) {
    let LedgerOptions { batches_at_once, pace, .. } = options;
    let mut begun: Option<Moment> = None;
    let mut running = JoinSet::new();
    loop {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        tokio::select! {
            // A dropped sender stops the writer as well.
            _ = stop.changed(), if !jobs.is_closed() => {
                jobs.close();
                continue;
            }
            count = jobs.recv_many(&mut batch, BATCH_MAX) => {
                if count == 0 {
                    break;
                }
            }
        }
        let early = begun.map_or(Duration::ZERO, |begun| pace.saturating_sub(begun.elapsed()));
        if !early.is_zero() {
            // After the timeout the batch is posted as it is.
            drop(timeout(early, fill_batch(&mut jobs, &mut batch)).await);
        }
        while running.len() >= batches_at_once.max(1) {
            log_panic(running.join_next().await);
        }
        while batch.len() < BATCH_MAX
            && let Ok(job) = jobs.try_recv()
        {
            batch.push(job);
        }
        begun = Some(Moment::now());
        // The batch runs in a task of its own, so that a panic ends only this batch, whose callers
        // get an error, and not the writer.
        running.spawn(post_batch(pool.clone(), cache.clone(), batch));
    }
    while !running.is_empty() {
        log_panic(running.join_next().await);
    }
}

fn log_panic(ended: Option<Result<(), JoinError>>) {
    if let Some(Err(error)) = ended {
        tracing::error!(%error, "a batch of the ledger failed");
    }
}

/// Waits until the batch is large enough.
async fn fill_batch(jobs: &mut mpsc::Receiver<Job>, batch: &mut Vec<Job>) {
    while batch.len() < BATCH_ENOUGH {
        if jobs.recv_many(batch, BATCH_MAX - batch.len()).await == 0 {
            return;
        }
    }
}

async fn post_batch(pool: PgPool, cache: PostingCache, batch: Vec<Job>) {
    let requests: Vec<_> = batch.iter().map(|job| &job.request).collect();
    let error = match run_batch(&pool, &cache, &requests).await {
        Ok(answers) => return reply_all(batch, answers),
        Err(error) => error,
    };
    if batch.len() == 1 || Failure::classify(&error).is_transient() {
        tracing::warn!(%error, operations = batch.len(), "the ledger could not post");
        let answers = vec![Err(LedgerError::from(error)); batch.len()];
        return reply_all(batch, answers);
    }
    for job in batch {
        let answer = run_single(&pool, &cache, &job.request).await;
        if let Err(error) = &answer {
            tracing::warn!(%error, key = job.request.key, "the ledger could not post");
        }
        reply_all([job], [answer]);
    }
}

/// Sends the answers. A caller that no longer waits can retry.
fn reply_all(jobs: impl IntoIterator<Item = Job>, answers: impl IntoIterator<Item = Answer>) {
    for (job, answer) in jobs.into_iter().zip(answers) {
        drop(job.reply.send(answer));
    }
}

pub(crate) async fn run_single(pool: &PgPool, cache: &PostingCache, request: &Request) -> Answer {
    let mut answers = run_batch(pool, cache, &[request]).await?;
    answers.pop().unwrap_or_else(|| Err(LedgerError::broken("a batch of one had no answer")))
}

/// Posts a batch, with retries while they can help.
async fn run_batch(
    pool: &PgPool,
    cache: &PostingCache,
    requests: &[&Request],
) -> Result<Vec<Answer>, sqlx::Error> {
    bahay_db::retry(|| run_batch_once(pool, cache, requests)).await
}

async fn run_batch_once(
    pool: &PgPool,
    cache: &PostingCache,
    requests: &[&Request],
) -> Result<Vec<Answer>, sqlx::Error> {
    let mut connection = pool.acquire().await?;
    let house_ids = cache.account_ids.resolve_house(&mut connection, requests).await?;
    if let Some(answers) =
        optimistic::try_post(&mut connection, cache, &house_ids, requests).await?
    {
        return Ok(answers);
    }
    drop(connection);
    let mut tx = bahay_db::begin(pool).await?;
    let answers = locked::run_in_tx(&mut tx, cache, &house_ids, requests).await?;
    tx.commit().await?;
    Ok(answers)
}

/// Runs the house projection at intervals until `stop`.
pub(crate) async fn run_house_projection(
    pool: PgPool,
    totals: TransferTotals,
    every: Duration,
    mut stop: watch::Receiver<bool>,
) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stop.changed() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = house_projection::seal_all(&pool, &totals).await {
            tracing::warn!(%error, "the house projection failed");
        }
    }
}
