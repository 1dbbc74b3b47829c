//! The writer: whatever waits is posted together.
//!
//! A commit waits for the disk, and its statements cost the same for one game as for ten, so one
//! commit for many games is many times cheaper than one each. The writer takes all that waits in
//! its queue, up to a bound, and has a task post it in one transaction (by `attempt`, and when
//! somebody else was faster by `post`) and answer. Meanwhile the next batch gathers, for the pace
//! that it is given or until enough waits, and is posted beside the one before, up to a bound as
//! well; what comes after a pause waits for nothing. So there are few batches while they are done
//! in time, and several at once when they are not. When a batch cannot be written because of one of
//! its members, they are posted singly and only that one fails.
//!
//! A table asks for its next operation when it has the answer to the one before, and nobody sits at
//! two tables, so batches that are written at once have no account in common but by chance.
//!
//! What a lost connection left behind is never guessed: the same requests are run again, and
//! those that were committed answer from their keys.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sqlx::{Acquire as _, PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::LedgerOptions;
use super::optimistic;
use super::chart::Account;
use super::error::LedgerError;
use super::house_projection;
use super::operation::Request;
use super::post::{self, Answer};
use super::write::OPERATIONS_MAX;
use crate::clock::Moment;
use crate::db::{self, Failure};

/// The most operations in one transaction. More gain nothing measurable and make the unlucky
/// wait longer.
const BATCH_MAX: usize = OPERATIONS_MAX;

/// So many operations wait for no others: what a transaction costs by itself is little for each.
const BATCH_ENOUGH: usize = 16;

/// An operation that waits for its batch, and whoever waits for it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// Ids of house accounts. They never change, so each is read once.
#[derive(Clone, Debug, Default)]
pub(super) struct HouseIds(Arc<RwLock<BTreeMap<Account, i64>>>);

impl HouseIds {
    /// Those that these requests need. What is missing is made, outside of any transaction that
    /// could be rolled back while the id stays known here.
    pub(super) async fn resolve(
        &self,
        connection: &mut PgConnection,
        requests: &[&Request],
    ) -> Result<BTreeMap<Account, i64>, sqlx::Error> {
        let needed: BTreeSet<_> =
            requests.iter().filter_map(|request| request.operation.house_account()).collect();
        let mut known = BTreeMap::new();
        let mut missing = BTreeSet::new();
        {
            let ids = self.0.read().unwrap_or_else(PoisonError::into_inner);
            for account in needed {
                match ids.get(&account) {
                    Some(id) => drop(known.insert(account, *id)),
                    None => drop(missing.insert(account)),
                }
            }
        }
        if !missing.is_empty() {
            let made = post::house_ids(connection, &missing).await?;
            let mut ids = self.0.write().unwrap_or_else(PoisonError::into_inner);
            ids.extend(made.clone());
            known.extend(made);
        }
        Ok(known)
    }
}

/// Posts what arrives until the queue is closed and empty, and then what is being written. `stop`
/// closes it. A batch of few begins no earlier than the pace after the one before.
pub(super) async fn run_writer(
    pool: PgPool,
    house_ids: HouseIds,
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
            // Also when the other end is gone.
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
            // When the time is over, what has come is enough.
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
        // A task of its own: a panic in it is a bug in one batch, whose callers hear that there
        // is no answer, and not the end of this writer.
        running.spawn(post_batch(pool.clone(), house_ids.clone(), batch));
    }
    while !running.is_empty() {
        log_panic(running.join_next().await);
    }
}

fn log_panic(ended: Option<Result<(), JoinError>>) {
    if let Some(Err(error)) = ended {
        tracing::error!(%error, "a batch of the ledger broke off");
    }
}

/// Waits until the batch is worth a transaction.
async fn fill_batch(jobs: &mut mpsc::Receiver<Job>, batch: &mut Vec<Job>) {
    while batch.len() < BATCH_ENOUGH {
        if jobs.recv_many(batch, BATCH_MAX - batch.len()).await == 0 {
            return;
        }
    }
}

async fn post_batch(pool: PgPool, house_ids: HouseIds, batch: Vec<Job>) {
    let requests: Vec<_> = batch.iter().map(|job| &job.request).collect();
    let error = match run_batch(&pool, &house_ids, &requests).await {
        Ok(answers) => return reply_all(batch, answers),
        Err(error) => error,
    };
    if batch.len() == 1 || Failure::classify(&error).is_transient() {
        tracing::warn!(%error, operations = batch.len(), "the ledger could not post");
        let answer = Err(LedgerError::from(&error));
        let answers = vec![answer; batch.len()];
        return reply_all(batch, answers);
    }
    for job in batch {
        let answer = run_single(&pool, &house_ids, &job.request).await;
        if let Err(error) = &answer {
            tracing::warn!(%error, key = job.request.key, "the ledger could not post");
        }
        reply_all([job], [answer]);
    }
}

/// A caller that no longer waits can ask again.
fn reply_all(jobs: impl IntoIterator<Item = Job>, answers: impl IntoIterator<Item = Answer>) {
    for (job, answer) in jobs.into_iter().zip(answers) {
        drop(job.reply.send(answer));
    }
}

pub(super) async fn run_single(pool: &PgPool, house_ids: &HouseIds, request: &Request) -> Answer {
    let mut answers = run_batch(pool, house_ids, &[request]).await?;
    answers.pop().unwrap_or_else(|| Err(LedgerError::broken("a batch of one had no answer")))
}

/// Posts a batch, trying again while that can help.
async fn run_batch(
    pool: &PgPool,
    house_ids: &HouseIds,
    requests: &[&Request],
) -> Result<Vec<Answer>, sqlx::Error> {
    db::retry(|| run_batch_once(pool, house_ids, requests)).await
}

async fn run_batch_once(
    pool: &PgPool,
    house_ids: &HouseIds,
    requests: &[&Request],
) -> Result<Vec<Answer>, sqlx::Error> {
    let mut connection = pool.acquire().await?;
    let house_ids = house_ids.resolve(&mut connection, requests).await?;
    if let Some(answers) = optimistic::try_post(&mut connection, &house_ids, requests).await? {
        return Ok(answers);
    }
    let mut tx = connection.begin().await?;
    let answers = post::run_in_tx(&mut tx, &house_ids, requests).await?;
    tx.commit().await?;
    Ok(answers)
}

/// Folds now and then until `stop`.
pub(super) async fn run_house_projection(pool: PgPool, every: Duration, mut stop: watch::Receiver<bool>) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stop.changed() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = house_projection::project_all(&pool).await {
            tracing::warn!(%error, "the house's entries are late");
        }
    }
}
