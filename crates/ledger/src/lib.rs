//! The ledger: a double-entry bookkeeping of every coin, in PostgreSQL.
//!
//! An operation (opening, settling or voiding a game, a grant, a correction, …) is a set of
//! transfers between accounts. Its idempotency key is derived from its content, so it is performed
//! at most once; a repeated request returns the stored answer.
//!
//! - `chart` defines the accounts and the codes of transfers, `operation` the trait of an
//!   operation.
//! - `operations` has one file for each kind of operation, which is decided in memory against
//!   `books`; `openings` reads what only openings of games need.
//! - `posting` collects requests into batches, reads the books, and writes what was decided.
//! - `canonical` is the form of JSON that inputs are hashed in.
//! - `house_projection` updates the balances of house accounts, seals operations (`seal`), and adds
//!   their transfers to `transfer_totals`.
//! - `allowance` bounds winnings at private tables, and `months` names the partitions of tables.
//! - `tournament_accounts` closes the accounts of tournaments.
//! - `read` answers queries, `preview` and `refunds` compute the outcome of a correction and of the
//!   void of a table, `audit` checks the books, `house_bots` sums the coins of house bots, and
//!   `backfill` writes a whole history.
//!
//! Two database functions, `books_of` and `write_books`, read and write the books in one call each
//! (migrations/0008_books.sql). The database decides nothing: its functions compare versions and
//! constraints reject impossible amounts, but every amount is computed here.
//!
//! Deliberately absent: triggers, changes of booked rows, floating-point numbers, and any knowledge
//! of cards. `docs/LEDGER.md` describes the ledger for accountants.

pub mod allowance;
pub mod audit;
mod backfill;
mod books;
mod canonical;
mod chart;
mod error;
mod house_bots;
mod house_projection;
pub mod months;
mod openings;
mod operation;
mod operations;
mod posting;
mod preview;
mod read;
mod refunds;
mod seal;
mod tournament_accounts;
mod transfer_totals;

use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

pub use backfill::{LedgerBackfill, LedgerBatch};
pub use books::Move;
pub use canonical::Document;
pub use chart::{Account, Code, Grant};
pub use error::{GameState, LedgerError, SettlementFault};
pub use house_bots::{BotGrantLock, HouseBotCoins};
pub use openings::lock_wallet_in_tx;
pub use operation::AMOUNT_MAX;
pub use operations::*;
pub use preview::{BookingPreview, CorrectionSubject, WalletPreview};
pub use read::{Entry, EntryFilter, Wallet};
pub use refunds::{PlayerRefund, Refunds, VoidPreview, WalletHolder};
pub use seal::SealHead;

use operation::{Answer, Operation, Request};
use posting::PostingCache;
use posting::account_ids::create_house_accounts;
use posting::locked;
use posting::writer::{self, Job};
use transfer_totals::TransferTotals;

use crate::allowance::Allowance;

/// The maximum time that an operation waits for capacity in a full queue. After it the operation is
/// rejected as [`LedgerError::Unavailable`].
const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

/// The settings of the ledger's tasks.
#[derive(Clone, Copy, Debug)]
pub struct LedgerOptions {
    /// The number of batches that are posted concurrently, each on a connection of its own. Two
    /// keep two cores busy.
    pub batches_at_once: usize,
    /// The capacity of the queue of operations that wait for a batch. A caller waits while the
    /// queue is full.
    pub queue: usize,
    /// The minimum time between the starts of two batches. A batch starts earlier when enough
    /// operations wait. An operation after a pause does not wait; under load an operation waits
    /// half of this time on average and shares a transaction with those that arrived in the
    /// meantime.
    pub pace: Duration,
    /// The interval of the house projection in milliseconds, and so the maximum delay of seals and
    /// of the balances of house accounts.
    pub projection_interval_ms: u64,
    /// The limit of winnings at private tables.
    pub allowance: Allowance,
}

impl Default for LedgerOptions {
    fn default() -> Self {
        let pace = Duration::from_millis(50);
        let allowance = Allowance::default();
        Self { batches_at_once: 2, queue: 2_048, pace, projection_interval_ms: 1_000, allowance }
    }
}

/// A handle to the ledger. Clones share the writer.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The pool of operations that write.
    pool: PgPool,
    /// The pool of queries, so that any number of them takes no connection from operations.
    reads: PgPool,
    cache: PostingCache,
    writer: mpsc::Sender<Job>,
    allowance: Allowance,
    transfer_totals: TransferTotals,
}

/// The ledger's background tasks. After a drop they finish the waiting operations and end by
/// themselves; [`LedgerTasks::stop`] also waits for the end.
#[derive(Debug)]
pub struct LedgerTasks {
    pool: PgPool,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    transfer_totals: TransferTotals,
}

impl LedgerTasks {
    /// Closes the queue, posts the waiting operations, runs the house projection once more, and
    /// returns when all of it is done.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for task in self.tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "a task of the ledger failed");
            }
        }
        if let Err(error) = house_projection::seal_all(&self.pool, &self.transfer_totals).await {
            tracing::warn!(%error, "the house projection failed");
        }
    }
}

impl Ledger {
    /// Starts the writer and the house projection. Queries share `pool` with operations unless
    /// [`Ledger::with_read_pool`] sets another one.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn start(pool: PgPool, options: LedgerOptions) -> (Self, LedgerTasks) {
        let cache = PostingCache::default();
        let (stop, stopped) = watch::channel(false);
        let (writer, waiting) = mpsc::channel(options.queue.max(1));
        let shared = cache.clone();
        let writer_task =
            writer::run_writer(pool.clone(), shared, waiting, options, stopped.clone());
        let every = Duration::from_millis(options.projection_interval_ms.max(1));
        let transfer_totals = TransferTotals::default();
        let totals = transfer_totals.clone();
        let projection_task = writer::run_house_projection(pool.clone(), totals, every, stopped);
        let tasks = vec![tokio::spawn(writer_task), tokio::spawn(projection_task)];
        let allowance = options.allowance;
        let reads = pool.clone();
        let tasks = LedgerTasks {
            pool: pool.clone(),
            stop,
            tasks,
            transfer_totals: transfer_totals.clone(),
        };
        (Self { pool, reads, cache, writer, allowance, transfer_totals }, tasks)
    }

    /// Runs queries on `reads`, so that any number of them takes no connection from games that open
    /// and settle.
    pub fn with_read_pool(self, reads: PgPool) -> Self {
        Self { reads, ..self }
    }

    /// Seals the waiting operations and updates the balances of house accounts at once, without
    /// waiting for the interval. Returns the number of sealed operations.
    pub async fn seal_operations(&self) -> Result<u64, LedgerError> {
        Ok(house_projection::seal_all(&self.pool, &self.transfer_totals).await?)
    }

    /// Returns the hundredths of a coin that the operations sealed by this process have moved since
    /// its start, by the code of the transfer.
    pub fn transfer_totals(&self) -> Vec<(&'static str, u64)> {
        self.transfer_totals.by_code()
    }

    /// Runs an operation together with others that wait.
    async fn submit<O: Operation>(&self, operation: O) -> Result<O::Outcome, LedgerError> {
        let request = Request::new(operation)?;
        let (reply, answer) = oneshot::channel();
        let job = Job { request, reply };
        let sent = self.writer.send_timeout(job, QUEUE_TIMEOUT).await;
        sent.map_err(|error| LedgerError::Unavailable { reason: queue_error(&error).into() })?;
        let lost = |_| LedgerError::Unavailable { reason: "the writer gave no answer".into() };
        decode_answer::<O>(answer.await.map_err(lost)?)
    }

    /// Runs an operation in a transaction of its own.
    async fn run_single<O: Operation>(&self, operation: O) -> Result<O::Outcome, LedgerError> {
        let request = Request::new(operation)?;
        decode_answer::<O>(writer::run_single(&self.pool, &self.cache, &request).await)
    }

    /// Runs an operation in the caller's transaction.
    async fn run_in_tx<O: Operation>(
        &self,
        connection: &mut PgConnection,
        operation: O,
    ) -> Result<O::Outcome, LedgerError> {
        let request = Request::new(operation)?;
        let requests = [&request];
        // A migration creates `issue`, and a fee account that pays back exists since the game that
        // paid it. So nothing is created here that a rollback could remove while its id stays
        // cached.
        let house_ids = self.cache.account_ids.resolve_house(connection, &requests).await?;
        let mut answers = locked::run_in_tx(connection, &self.cache, &house_ids, &requests).await?;
        let answer = answers.pop();
        decode_answer::<O>(
            answer.unwrap_or_else(|| Err(LedgerError::broken("an operation had no answer"))),
        )
    }

    /// Creates a house account unless it exists, outside of any transaction.
    async fn create_house_account(&self, account: Account) -> Result<(), LedgerError> {
        let mut connection = self.pool.acquire().await?;
        create_house_accounts(&mut connection, &[account].into()).await?;
        Ok(())
    }
}

fn queue_error(error: &mpsc::error::SendTimeoutError<Job>) -> &'static str {
    match error {
        mpsc::error::SendTimeoutError::Timeout(_) => "too many operations wait",
        mpsc::error::SendTimeoutError::Closed(_) => "the ledger has stopped",
    }
}

/// Decodes a stored answer into the type that it was encoded from.
fn decode_answer<O: Operation>(answer: Answer) -> Result<O::Outcome, LedgerError> {
    serde_json::from_value(answer?).map_err(|error| LedgerError::broken(error.to_string()))
}
