//! The ledger: a double-entry bookkeeping of every coin, in PostgreSQL.
//!
//! An operation (opening, settling or voiding a game, a grant, a correction, …) is a set of
//! transfers between accounts. Its idempotency key is derived from its content, so it is performed
//! at most once; a repeated request returns the stored answer.
//!
//! - `chart` defines the accounts and the codes of transfers, `operation` the operations and their
//!   answers.
//! - `open_game`, `settle`, `void`, `grant`, `sweep`, `correct` and `refund_pot` decide an
//!   operation in memory against `books`.
//! - `optimistic` reads the books without locks, `post` reads them under locks, `write` writes a
//!   decided batch, and `writer` collects operations into batches.
//! - `allowance` reads what players may still win at private tables, `room_winnings` what they have
//!   won of each other in rooms; `deleted_players` excludes deleted accounts from new games.
//! - `canonical` is the form of JSON that inputs are hashed in; `recompute` derives the hash of a
//!   stored settlement.
//! - `house_projection` writes the entries of house accounts and seals operations (`seal`).
//! - `read` answers queries, `audit` checks the books, `house_bots` sums the coins of house bots,
//!   and `backfill` writes a whole history.
//!
//! Two database functions, `books_of` and `write_books`, read and write the books in one call each.
//! They contain no decisions (migrations/0008_books.sql).
//!
//! Deliberately absent: triggers, decisions in the database, changes of booked rows, floating-point
//! numbers, and any knowledge of cards. `docs/LEDGER.md` describes the ledger for accountants.

mod allowance;
pub mod audit;
mod backfill;
mod books;
mod canonical;
mod chart;
mod correct;
mod deleted_players;
mod error;
mod grant;
mod house_bots;
mod house_projection;
mod open_game;
mod operation;
mod optimistic;
mod post;
mod read;
mod recompute;
mod refund_pot;
mod room_winnings;
mod seal;
mod settle;
mod sweep;
mod void;
mod write;
mod writer;

use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId};
use serde::de::DeserializeOwned;
use sqlx::{PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use uuid::Uuid;

pub use backfill::{LedgerBackfill, LedgerBatch};
pub use canonical::Document;
pub use chart::{Account, Code, Grant};
pub use correct::{AdjustWallet, BookedCorrection, ReverseOperation};
pub use deleted_players::lock_wallet_in_tx;
pub use error::{GameState, LedgerError, SettlementFault};
pub use house_bots::{BotGrantLock, HouseBotCoins};
pub use operation::{
    AMOUNT_MAX, GrantCoins, GrantOutcome, OpenGame, OpeningOutcome, SettleGame, SettlementOutcome,
    VoidGame, VoidOutcome,
};
pub use read::{Entry, EntryCursor, EntryFilter, ParseEntryCursorError, Wallet};
pub use recompute::{StoredSettlement, settlement_hash};
pub use refund_pot::{IdlePot, PotRefundOutcome, PotRefundRequest};
pub use seal::SealHead;
pub use sweep::SweepWallet;

use operation::{Operation, Request, WinLimit};
use post::Answer;
use writer::{HouseIds, Job};

use crate::allowance::{Allowance, Winnings};
use crate::clock::Timestamp;
use crate::db::Page;
use crate::entropy;
use crate::ids::PRIVATE_ROOM;
use crate::reason::Reason;

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
    /// The interval of the house projection in milliseconds, and so the maximum delay of house
    /// entries.
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
    house_ids: HouseIds,
    writer: mpsc::Sender<Job>,
    allowance: Allowance,
}

/// The ledger's background tasks. After a drop they finish the waiting operations and end by
/// themselves; [`LedgerTasks::stop`] also waits for the end.
#[derive(Debug)]
pub struct LedgerTasks {
    pool: PgPool,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
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
        if let Err(error) = house_projection::project_all(&self.pool).await {
            tracing::warn!(%error, "the projection of house entries failed");
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
        let house_ids = HouseIds::default();
        let (stop, stopped) = watch::channel(false);
        let (writer, waiting) = mpsc::channel(options.queue.max(1));
        let ids = house_ids.clone();
        let writer_task = writer::run_writer(pool.clone(), ids, waiting, options, stopped.clone());
        let every = Duration::from_millis(options.projection_interval_ms.max(1));
        let projection_task = writer::run_house_projection(pool.clone(), every, stopped);
        let tasks = vec![tokio::spawn(writer_task), tokio::spawn(projection_task)];
        let allowance = options.allowance;
        let reads = pool.clone();
        let ledger = Self { pool: pool.clone(), reads, house_ids, writer, allowance };
        (ledger, LedgerTasks { pool, stop, tasks })
    }

    /// Runs queries on `reads`, so that any number of them takes no connection from games that open
    /// and settle.
    pub fn with_read_pool(self, reads: PgPool) -> Self {
        Self { reads, ..self }
    }

    /// Moves antes and stakes out of the wallets, or returns the seats that cannot pay. At a
    /// private table a game that could bring a player more than the player's allowance is refused;
    /// in a room one that could bring coins to a player who has reached a day's limit at this
    /// table. Each such player gets a notice.
    pub async fn open_game(&self, input: OpenGame) -> Result<OpeningOutcome, LedgerError> {
        let game = input.game;
        let players = input.players.clone();
        let is_private = input.room == PRIVATE_ROOM;
        let limit = if is_private { WinLimit::Private(self.allowance) } else { WinLimit::Room };
        let request = Request::new(Operation::Open(input))?.with_limit(limit);
        let opening = self.submit(request).await?;
        if let OpeningOutcome::OverAllowance { seats } = &opening {
            let kind = if is_private { "private_limit" } else { "room_limit" };
            allowance::write_notices(&self.pool, kind, game, &players, *seats).await?;
        }
        Ok(opening)
    }

    /// Returns what a player may still win at private tables.
    pub async fn allowance_left(
        &self,
        player: PlayerId,
        now: Timestamp,
    ) -> Result<Coins, LedgerError> {
        allowance::read_remaining(&self.reads, self.allowance, player, now).await
    }

    /// Returns what a player has won of each other player in rooms within 24 hours.
    pub async fn room_winnings(
        &self,
        player: PlayerId,
        now: Timestamp,
    ) -> Result<Winnings, LedgerError> {
        room_winnings::read_player_winnings(&self.reads, player, now).await
    }

    /// Books a settlement and stores the game's record.
    pub async fn settle_game(&self, input: SettleGame) -> Result<SettlementOutcome, LedgerError> {
        self.submit(Request::new(Operation::Settle(Box::new(input)))?).await
    }

    /// Voids an open game: antes and stakes return to the wallets. `reason` is text for people.
    pub async fn void_game(
        &self,
        game: GameId,
        reason: &Reason,
    ) -> Result<VoidOutcome, LedgerError> {
        self.void_game_by(entropy::uuid(), game, reason).await
    }

    /// Voids an open game like [`Ledger::void_game`]. Returns whether this call voided it, and not
    /// an earlier one.
    pub async fn void_game_first(
        &self,
        game: GameId,
        reason: &Reason,
    ) -> Result<bool, LedgerError> {
        let call = entropy::uuid();
        Ok(self.void_game_by(call, game, reason).await?.call == call)
    }

    async fn void_game_by(
        &self,
        call: Uuid,
        game: GameId,
        reason: &Reason,
    ) -> Result<VoidOutcome, LedgerError> {
        let reason = reason.clone();
        let request = Request::new(Operation::Void(VoidGame { game, reason, call }))?;
        decode_answer(writer::run_single(&self.pool, &self.house_ids, &request).await)
    }

    /// Grants coins to a player. The player must exist; the wallet is created if it does not.
    pub async fn grant(&self, input: GrantCoins) -> Result<GrantOutcome, LedgerError> {
        let request = Request::new(Operation::Grant(input))?;
        decode_answer(writer::run_single(&self.pool, &self.house_ids, &request).await)
    }

    /// Grants coins like [`Ledger::grant`], in the caller's transaction, which holds the wallet's
    /// lock from here on. After a database error the transaction is unusable.
    pub async fn grant_in_tx(
        &self,
        connection: &mut PgConnection,
        input: GrantCoins,
    ) -> Result<GrantOutcome, LedgerError> {
        self.run_in_tx(connection, Operation::Grant(input)).await
    }

    async fn run_in_tx<T: DeserializeOwned>(
        &self,
        connection: &mut PgConnection,
        operation: Operation,
    ) -> Result<T, LedgerError> {
        let request = Request::new(operation)?;
        let requests = [&request];
        // A migration creates `issue`, and a fee account that pays back exists since the game that
        // paid it. So nothing is created here that a rollback could remove while its id stays
        // cached.
        let house_ids = self.house_ids.resolve(connection, &requests).await?;
        let mut answers = post::run_in_tx(connection, &house_ids, &requests).await?;
        let answer = answers.pop();
        decode_answer(
            answer.unwrap_or_else(|| Err(LedgerError::broken("an operation had no answer"))),
        )
    }

    /// Returns a player's wallet. A player without one has a balance of zero.
    pub async fn wallet(&self, player: PlayerId) -> Result<Wallet, LedgerError> {
        read::wallet(&self.reads, player).await
    }

    /// Returns a player's wallet like [`Ledger::wallet`], as the caller's transaction sees it.
    pub async fn wallet_in_tx(
        &self,
        connection: &mut PgConnection,
        player: PlayerId,
    ) -> Result<Wallet, LedgerError> {
        Ok(read::read_wallet_once(connection, player).await?)
    }

    /// Returns a page of the wallet's entries that match the filter, newest first.
    pub async fn entries(
        &self,
        player: PlayerId,
        filter: &EntryFilter,
        cursor: Option<EntryCursor>,
        limit: u32,
    ) -> Result<Page<Entry, EntryCursor>, LedgerError> {
        read::entries(&self.reads, player, filter, cursor, limit).await
    }

    /// Writes the pending house entries at once, without waiting for the interval. Returns the
    /// number of projected operations.
    pub async fn project_house_entries(&self) -> Result<u64, LedgerError> {
        Ok(house_projection::project_all(&self.pool).await?)
    }

    async fn submit<T: DeserializeOwned>(&self, request: Request) -> Result<T, LedgerError> {
        let (reply, answer) = oneshot::channel();
        let job = Job { request, reply };
        let sent = self.writer.send_timeout(job, QUEUE_TIMEOUT).await;
        sent.map_err(|error| LedgerError::Unavailable { reason: queue_error(&error).into() })?;
        let lost = |_| LedgerError::Unavailable { reason: "the writer gave no answer".into() };
        decode_answer(answer.await.map_err(lost)?)
    }
}

fn queue_error(error: &mpsc::error::SendTimeoutError<Job>) -> &'static str {
    match error {
        mpsc::error::SendTimeoutError::Timeout(_) => "too many operations wait",
        mpsc::error::SendTimeoutError::Closed(_) => "the ledger has stopped",
    }
}

/// Decodes a stored answer into the type that it was encoded from.
fn decode_answer<T: DeserializeOwned>(answer: Answer) -> Result<T, LedgerError> {
    serde_json::from_value(answer?).map_err(|error| LedgerError::broken(error.to_string()))
}
