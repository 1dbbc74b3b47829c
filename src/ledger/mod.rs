//! The ledger: every coin, in PostgreSQL, by double entry.
//!
//! An operation (opening a game, settling it, voiding it, a grant, a correction) is a set of
//! transfers between accounts, done once under a key derived from what it does; asking again gives
//! the stored answer. `chart` names accounts and transfers, `operation` what can be asked,
//! `open_game`, `settle`, `void`, `grant` and `correct` decide in memory against `books`, which
//! `attempt` reads without locks and `post` under them, `write` writes what was decided, `writer`
//! gathers batches, `allowance` reads what players may win at private tables, `room_winnings`
//! what they have won of one another in rooms, `gone` keeps those
//! who delete their accounts out of games, `canonical` is the form in which inputs are hashed, `fold` writes the house's entries and seals what was booked (`seal`), `read`
//! answers questions, `audit` looks for anything that does not add up, `recompute` says what a
//! stored document must have been asked for with, and `backfill` books a whole history.
//!
//! Two functions of the database, `books_of` and `write_books`, read and write the books in one call
//! each, and decide nothing (migrations/0008_books.sql).
//!
//! Absent on purpose: triggers; decisions in the database; changes of what was once booked;
//! floating-point numbers; any knowledge of cards. `docs/LEDGER.md` tells it to accountants.

mod allowance;
mod optimistic;
pub mod audit;
mod backfill;
mod books;
mod canonical;
mod chart;
mod correct;
mod error;
mod house_projection;
mod deleted_players;
mod grant;
mod house_bots;
mod open_game;
mod operation;
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
pub use error::{GameState, LedgerError, SettlementFault};
pub use deleted_players::lock_wallet_in_tx;
pub use house_bots::{BotGrantLock, HouseBotCoins};
pub use operation::{
    AMOUNT_MAX, GrantCoins, GrantOutcome, OpenGame, OpeningOutcome, SettleGame, SettlementOutcome, VoidGame, VoidOutcome,
};
pub use read::{Entry, EntryCursor, ParseEntryCursorError, EntryFilter, Wallet};
pub use recompute::{StoredSettlement, settlement_hash};
pub use refund_pot::{PotRefundRequest, IdlePot, PotRefundOutcome};
pub use seal::SealHead;
pub use sweep::SweepWallet;

use operation::{WinLimit, Operation, Request};
use post::Answer;
use writer::{HouseIds, Job};

use crate::allowance::{Allowance, Winnings};
use crate::clock::Timestamp;
use crate::db::Page;
use crate::entropy;
use crate::ids::PRIVATE_ROOM;
use crate::reason::Reason;

/// How long an operation waits for room in a full queue before it is refused as unavailable.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

/// How the ledger's tasks behave.
#[derive(Clone, Copy, Debug)]
pub struct LedgerOptions {
    /// Batches that are posted at the same time, each on a connection of its own. Two keep two
    /// cores busy.
    pub batches_at_once: usize,
    /// How many operations may wait for a batch. Beyond that, callers wait for room.
    pub queue: usize,
    /// How far apart batches begin at least, unless enough waits for one. An operation that
    /// comes after a pause does not wait; under load each waits half of this on average, and shares
    /// a transaction with those that came meanwhile.
    pub pace: Duration,
    /// How late the house's own entries may be.
    pub projection_interval_ms: u64,
    /// What players may win at private tables.
    pub allowance: Allowance,
}

impl Default for LedgerOptions {
    fn default() -> Self {
        let pace = Duration::from_millis(50);
        let allowance = Allowance::default();
        Self { batches_at_once: 2, queue: 2_048, pace, projection_interval_ms: 1_000, allowance }
    }
}

/// A handle on the ledger. Clones share the writer.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// For whatever books.
    pool: PgPool,
    /// For what others ask the books, as many of them as there are.
    reads: PgPool,
    house_ids: HouseIds,
    writer: mpsc::Sender<Job>,
    allowance: Allowance,
}

/// The ledger's tasks. Dropped, they end by themselves after what waits; [`LedgerTasks::stop`]
/// also waits for that.
#[derive(Debug)]
pub struct LedgerTasks {
    pool: PgPool,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl LedgerTasks {
    /// Takes nothing more, posts what waits, folds, and returns when all is done.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for task in self.tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "a task of the ledger broke off");
            }
        }
        if let Err(error) = house_projection::project_all(&self.pool).await {
            tracing::warn!(%error, "the house's entries are late");
        }
    }
}

impl Ledger {
    /// Starts the writer and the folding. Must be called within a tokio runtime. Questions take
    /// connections of the same pool, unless [`Ledger::with_read_pool`] names another.
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

    /// The same ledger, with questions on connections of this pool: so those who ask, however many,
    /// take none from games that open and settle.
    pub fn with_read_pool(self, reads: PgPool) -> Self {
        Self { reads, ..self }
    }

    /// Takes antes and stakes, or says who cannot pay them. At a private table nobody may win more
    /// than its allowance, and in a room nobody who has reached a bound of a day at the table; whoever
    /// could finds a notice.
    pub async fn open_game(&self, input: OpenGame) -> Result<OpeningOutcome, LedgerError> {
        let (game, players) = (input.game, input.players.clone());
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

    /// What a player may still win at private tables.
    pub async fn allowance_left(
        &self,
        player: PlayerId,
        now: Timestamp,
    ) -> Result<Coins, LedgerError> {
        allowance::read_remaining(&self.reads, self.allowance, player, now).await
    }

    /// Returns what a player has won of others in rooms within a day.
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

    /// Gives back the antes and stakes of an open game. The reason is for people to read.
    pub async fn void_game(&self, game: GameId, reason: &Reason) -> Result<VoidOutcome, LedgerError> {
        self.void_game_by(entropy::uuid(), game, reason).await
    }

    /// The same. Says whether this call did it, and not one before.
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

    /// Gives coins to a player, who must exist; the wallet need not.
    pub async fn grant(&self, input: GrantCoins) -> Result<GrantOutcome, LedgerError> {
        let request = Request::new(Operation::Grant(input))?;
        decode_answer(writer::run_single(&self.pool, &self.house_ids, &request).await)
    }

    /// As [`Ledger::grant`], in the caller's transaction, which holds the wallet's lock from
    /// here on and which is lost when this fails with a database error.
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
        // `issue` was made by a migration, and a fee account that pays back by the game that
        // paid it, so nothing is made here that could be rolled back.
        let house_ids = self.house_ids.resolve(connection, &requests).await?;
        let mut answers = post::run_in_tx(connection, &house_ids, &requests).await?;
        let answer = answers.pop();
        decode_answer(answer.unwrap_or_else(|| Err(LedgerError::broken("an operation had no answer"))))
    }

    /// What a player has. A player without a wallet has nothing.
    pub async fn wallet(&self, player: PlayerId) -> Result<Wallet, LedgerError> {
        read::wallet(&self.reads, player).await
    }

    /// As [`Ledger::wallet`], as the caller's transaction sees it.
    pub async fn wallet_in_tx(
        &self,
        connection: &mut PgConnection,
        player: PlayerId,
    ) -> Result<Wallet, LedgerError> {
        Ok(read::read_wallet_once(connection, player).await?)
    }

    /// A wallet's entries that pass the filter, newest first.
    pub async fn entries(
        &self,
        player: PlayerId,
        filter: &EntryFilter,
        cursor: Option<EntryCursor>,
        limit: u32,
    ) -> Result<Page<Entry, EntryCursor>, LedgerError> {
        read::entries(&self.reads, player, filter, cursor, limit).await
    }

    /// Writes the house's entries that are due, as otherwise happens every now and then. Says of
    /// how many operations.
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

/// A stored answer is read back as what it was written from.
fn decode_answer<T: DeserializeOwned>(answer: Answer) -> Result<T, LedgerError> {
    serde_json::from_value(answer?).map_err(|error| LedgerError::broken(error.to_string()))
}
