//! Looks for games that are open in the ledger and have lost their table; what counts as lost the
//! shell says. Every node looks, each at its own moments. It also releases tables that an error of a
//! store has halted, once that store answers again.
//!
//! Bounds: pages of 100 games; [`WHOLE`] tables are read whole in a round, in turn, the others are
//! only asked for.
//!
//! What is left in a lost table's POT from earlier games is given back too, but only where an
//! operator says so: nobody waits for it, and a table is lost for good only when its Redis is.

use std::time::Duration;

use bahay_engine::table::Readable;
use bahay_engine::table::{GameId, TableId};
use bahay_shell::{LostGames, STORE_FAULT};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::archive::{self, OpenGame, halted};
use crate::clock;
use crate::db;
use crate::entropy;
use crate::ledger::{IdlePot, LedgerError, PotRefundOutcome};
use crate::reason::Reason;
use crate::tables::counts::increment;
use crate::tables::{OperateError, Tables, TableReadError};

/// How often a node looks.
const INTERVAL: Duration = Duration::from_secs(5);

/// A game younger than this is not looked at.
const MIN_AGE: Duration = Duration::from_secs(10);

/// Tables that are read whole in one round.
const FULL_READS_PER_ROUND: usize = 16;

const PAGE: u32 = 100;

/// Tables that Redis is asked for at once.
const EXISTENCE_CHECKS_PER_CALL: usize = 500;

/// What the ledger writes down, and operators read.
static REASON: Reason = Reason::from_static("live state lost");

/// What is kept from one round to the next.
#[derive(Debug, Default)]
struct Rounds {
    lost: LostGames,
    /// The last game whose table was read whole.
    read: Option<GameId>,
}

impl<G: Readable> Tables<G> {
    /// Looks for lost games until it is dropped.
    pub async fn find_lost(self) {
        sleep(entropy::random_duration(INTERVAL)).await;
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut rounds = Rounds::default();
        loop {
            ticks.tick().await;
            if let Err(error) = self.void_lost_round(&mut rounds).await {
                // Nothing may be concluded from a round that broke off.
                rounds.lost.abort_round();
                tracing::debug!(error, "a round of the search for lost games was aborted");
            }
            if let Err(error) = self.note_halts().await {
                tracing::debug!(error, "recording halted tables is retried later");
            }
            if let Err(error) = self.release_recovered().await {
                tracing::debug!(error, "releasing halted tables is retried later");
            }
        }
    }

    async fn void_lost_round(&self, rounds: &mut Rounds) -> Result<(), String> {
        let mut lost = Vec::new();
        let mut to_read = FULL_READS_PER_ROUND;
        let mut after = None;
        loop {
            let page = archive::list_open_games(&self.inner.pool, after, PAGE).await.map_err(to_message)?;
            let is_old = |game: &OpenGame| {
                let now = self.inner.clock_of(game.table).now();
                game.opened_at_ms <= clock::before(now, MIN_AGE).ms()
            };
            let games: Vec<_> = page.items.into_iter().filter(is_old).collect();
            let tables: Vec<_> = games.iter().map(|game| game.table).collect();
            let exist = self.inner.live.tables_exist(&tables).await;
            for (game, exists) in games.into_iter().zip(exist) {
                // Where that cannot be told, nothing is concluded.
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

    /// Whether the table is in this game; also where that cannot be told from here.
    async fn is_played(&self, game: &OpenGame) -> bool {
        match self.read_table(game.table).await {
            Ok(Some(table)) => table.phase().game() == Some(game.game),
            Ok(None) => false,
            Err(TableReadError::Halted | TableReadError::OtherVersion | TableReadError::Unavailable(_)) => true,
        }
    }

    /// Voids a game that has no table any more.
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

    /// The POTs of tables that are gone, longest forgotten first.
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

    /// Gives the POT of a table that is gone back to those who paid it.
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

    /// Releases tables that an error of a store has halted, once PostgreSQL takes writes again. A table
    /// that is halted again waits twice as long.
    async fn release_recovered(&self) -> Result<(), String> {
        let tables = self.inner.live.halted_tables().await.map_err(to_message)?;
        if tables.is_empty() || !db::takes_writes(&self.inner.pool).await.map_err(to_message)? {
            return Ok(());
        }
        let due = halted::due_for_release(&self.inner.pool, &tables, STORE_FAULT).await;
        for table in due.map_err(to_message)? {
            match self.release(table).await {
                Ok(()) => tracing::info!(%table, "the store that halted a table answers again"),
                // Another node was faster, or an operator.
                Err(OperateError::NotHalted | OperateError::Missing) => {}
                Err(error) => tracing::warn!(%table, %error, "a table cannot be released yet"),
            }
        }
        Ok(())
    }

    /// Writes down for operators what could not be written when it happened.
    async fn note_halts(&self) -> Result<(), String> {
        let tables = self.inner.live.halted_tables().await.map_err(to_message)?;
        if tables.is_empty() {
            return Ok(());
        }
        for table in halted::find_unrecorded(&self.inner.pool, &tables).await.map_err(to_message)? {
            let Some(stored) = self.inner.live.load(table).await.map_err(to_message)? else {
                continue;
            };
            let version = Some(stored.version());
            let Some(reason) = stored.halted else {
                continue;
            };
            let halt = halted::Halt { table, room: None, version, reason };
            halted::record_halt(&self.inner.pool, &halt).await.map_err(to_message)?;
        }
        Ok(())
    }
}

fn to_message(error: impl std::fmt::Display) -> String {
    error.to_string()
}
