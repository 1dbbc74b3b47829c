//! Searches for open games in the ledger whose table is gone, as the shell defines it. Every node
//! searches, at its own times. Also releases tables that an error of a store has halted, once that
//! store responds again.
//!
//! Bounds: pages of 100 games; [`FULL_READS_PER_ROUND`] tables are read in full per round, in turn;
//! for the others only their existence is checked.
//!
//! The rest of a lost table's POT, from earlier games, is refunded too, but only by an operator's
//! order: nobody waits for it, and a table is lost for good only if its Redis is.

use std::time::Duration;

use bahay_bots::Ai;
use bahay_engine::table::{GameId, Readable, TableId};
use bahay_shell::{Halt, LostGames, STORE_FAULT};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::archive::{self, OpenGame, halted};
use crate::clock;
use crate::db;
use crate::entropy;
use crate::ledger::{IdlePot, LedgerError, PotRefundOutcome};
use crate::reason::Reason;
use crate::tables::counts::increment;
use crate::tables::{OperateError, Tables};

/// The interval of a node's rounds.
const INTERVAL: Duration = Duration::from_secs(5);

/// The age from which a game is checked.
const MIN_AGE: Duration = Duration::from_secs(10);

/// The number of tables that are read in full per round.
const FULL_READS_PER_ROUND: usize = 16;

const PAGE: u32 = 100;

/// The number of tables per existence check of Redis.
const EXISTENCE_CHECKS_PER_CALL: usize = 500;

/// The reason of a void, for the ledger and operators.
static REASON: Reason = Reason::from_static("live state lost");

/// The state kept between two rounds.
#[derive(Debug, Default)]
struct Rounds {
    lost: LostGames,
    /// The last game whose table was read in full.
    read: Option<GameId>,
}

impl<G: Ai + Readable> Tables<G> {
    /// Searches for lost games until it is dropped.
    pub async fn find_lost(self) {
        sleep(entropy::random_duration(INTERVAL)).await;
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut rounds = Rounds::default();
        loop {
            ticks.tick().await;
            if let Err(error) = self.void_lost_round(&mut rounds).await {
                // Nothing may be concluded from an aborted round.
                rounds.lost.abort_round();
                tracing::debug!(%error, "a round of the search for lost games was aborted");
            }
            if let Err(error) = self.record_missed_halts().await {
                tracing::debug!(%error, "recording halted tables is retried later");
            }
            if let Err(error) = self.release_recovered().await {
                tracing::debug!(%error, "releasing halted tables is retried later");
            }
        }
    }

    async fn void_lost_round(&self, rounds: &mut Rounds) -> Result<(), OperateError> {
        let mut lost = Vec::new();
        let mut to_read = FULL_READS_PER_ROUND;
        let mut after = None;
        loop {
            let page = archive::list_open_games(&self.inner.pool, after, PAGE).await?;
            let is_old = |game: &OpenGame| {
                let now = self.clock_of(game.table).now();
                game.opened_at_ms <= clock::subtract(now, MIN_AGE).ms()
            };
            let games: Vec<_> = page.items.into_iter().filter(is_old).collect();
            let tables: Vec<_> = games.iter().map(|game| game.table).collect();
            let exist = self.inner.live.tables_exist(&tables).await;
            for (game, exists) in games.into_iter().zip(exist) {
                // Without a response, nothing is concluded.
                let Ok(exists) = exists else { continue };
                if !exists {
                    lost.push(game);
                } else if to_read > 0 && rounds.read.is_none_or(|read| game.game > read) {
                    to_read -= 1;
                    rounds.read = Some(game.game);
                    if !self.is_played(&game).await {
                        lost.push(game);
                    }
                } else if rounds.lost.was_missing(game.game) && !self.is_played(&game).await {
                    lost.push(game);
                }
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if to_read > 0 {
            rounds.read = None;
        }
        for game in lost {
            if rounds.lost.mark_missing(game.game) {
                self.void_lost(game.table, game.game).await;
            }
        }
        rounds.lost.finish_round();
        Ok(())
    }

    /// Returns true if the table is in this game, or if this node cannot read the table.
    async fn is_played(&self, game: &OpenGame) -> bool {
        match self.read_table(game.table).await {
            Ok(Some(table)) => table.phase().game() == Some(game.game),
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// Voids a game that has lost its table.
    pub(super) async fn void_lost(&self, table: TableId, game: GameId) {
        match self.inner.ledger.void_game_first(game, &REASON).await {
            Ok(true) => {
                increment(&self.inner.counts.voided_lost);
                tracing::error!(%table, %game, "a game was voided: its live state was lost");
            }
            Ok(false) | Err(LedgerError::GameNotOpen { .. }) => {}
            Err(error) => {
                tracing::warn!(%table, %game, %error, "a lost game could not be voided yet");
            }
        }
    }

    /// Returns the POTs of tables that no longer exist, longest idle first.
    pub async fn lost_pots(&self) -> Result<Vec<IdlePot>, OperateError> {
        let idle = self.inner.ledger.idle_pots().await?;
        let mut lost = Vec::new();
        for chunk in idle.chunks(EXISTENCE_CHECKS_PER_CALL) {
            let tables: Vec<_> = chunk.iter().map(|idle| idle.table).collect();
            for (idle, exists) in chunk.iter().zip(self.inner.live.tables_exist(&tables).await) {
                if !exists? {
                    lost.push(*idle);
                }
            }
        }
        Ok(lost)
    }

    /// Refunds the POT of a table that no longer exists to those who paid it.
    pub async fn refund_pot(&self, table: TableId) -> Result<PotRefundOutcome, OperateError> {
        for exists in self.inner.live.tables_exist(&[table]).await {
            if exists? {
                return Err(OperateError::Live);
            }
        }
        let returned = self.inner.ledger.refund_pot(table).await?;
        tracing::warn!(%table, shares = returned.shares.len(), "a lost table's POT was given back");
        Ok(returned)
    }

    /// Releases tables that an error of a store has halted, once PostgreSQL accepts writes again.
    /// The delay doubles with each repeated halt of a table.
    async fn release_recovered(&self) -> Result<(), OperateError> {
        let tables = self.inner.live.halted_tables().await?;
        if tables.is_empty() || !db::takes_writes(&self.inner.pool).await? {
            return Ok(());
        }
        let due = halted::due_for_release(&self.inner.pool, &tables, STORE_FAULT).await;
        for table in due? {
            match self.release(table).await {
                Ok(()) => tracing::info!(%table, "the store that halted a table answers again"),
                // Another node or an operator was faster.
                Err(OperateError::NotHalted | OperateError::Missing) => {}
                Err(error) => tracing::warn!(%table, %error, "a table cannot be released yet"),
            }
        }
        Ok(())
    }

    /// Records halts for operators that could not be recorded when they happened.
    async fn record_missed_halts(&self) -> Result<(), OperateError> {
        let tables = self.inner.live.halted_tables().await?;
        if tables.is_empty() {
            return Ok(());
        }
        for table in halted::find_unrecorded(&self.inner.pool, &tables).await? {
            let Some(stored) = self.inner.live.load(table).await? else {
                continue;
            };
            let version = Some(stored.version());
            let Some(reason) = stored.halted else {
                continue;
            };
            let halt = Halt { table, room: None, version, engine: stored.engine, reason };
            self.write_halt(&halt).await?;
        }
        Ok(())
    }
}
