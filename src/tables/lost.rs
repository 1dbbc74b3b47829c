//! Games that are open in the ledger and have lost their table: Redis was emptied, or lost keys.
//! Nobody can finish them, so they are voided, and every coin goes back.
//!
//! Every node looks, each at its own moments. A game counts as lost when in two rounds, one after
//! the other, Redis answers and does not have its table, or has a table that is not in this game.
//! A game is opened only after its table's journal says that it is to be, and a settled one is no
//! longer open, so neither looks lost; and if a settlement is faster, the ledger refuses to void.
//!
//! Bounds: pages of 100 games; [`WHOLE`] tables are read whole in a round, in turn, the others are
//! only asked for. Deliberately absent: what is left in a lost table's POT from earlier games.
//! Whose it is cannot be told from live state any more; docs/LEDGER.md lists such POTs.

use std::collections::BTreeSet;
use std::time::Duration;

use bahay_engine::game::Game;
use bahay_engine::table::{GameId, TableId};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::clock;
use crate::entropy;
use crate::games::{self, OpenGame, halted};
use crate::tables::counts::count;
use crate::tables::{Tables, Unready};

/// How often a node looks.
const EVERY: Duration = Duration::from_secs(5);

/// A game younger than this is not looked at.
const YOUNG: Duration = Duration::from_secs(10);

/// Tables that are read whole in one round.
const WHOLE: usize = 16;

const PAGE: u32 = 100;

/// What the ledger writes down, and operators read.
const REASON: &str = "live state lost";

/// What is kept from one round to the next.
#[derive(Debug, Default)]
struct Rounds {
    /// Games that seemed lost in the last round.
    seen: BTreeSet<GameId>,
    /// The last game whose table was read whole.
    read: Option<GameId>,
}

impl<G: Game> Tables<G> {
    /// Looks for lost games until it is dropped.
    pub async fn find_lost(self) {
        sleep(entropy::up_to(EVERY)).await;
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut rounds = Rounds::default();
        loop {
            ticks.tick().await;
            if let Err(error) = self.look_for_lost(&mut rounds).await {
                // Nothing may be concluded from a round that broke off.
                rounds.seen.clear();
                tracing::debug!(error, "a look for lost games broke off");
            }
            if let Err(error) = self.note_halts().await {
                tracing::debug!(error, "halted tables are written down later");
            }
        }
    }

    async fn look_for_lost(&self, rounds: &mut Rounds) -> Result<(), String> {
        let mut lost = Vec::new();
        let mut to_read = WHOLE;
        let mut after = None;
        loop {
            let page = games::open(&self.inner.pool, after, PAGE).await.map_err(words)?;
            let old = clock::before(self.inner.clock.now(), YOUNG).ms();
            let games: Vec<_> =
                page.items.into_iter().filter(|game| game.opened_at_ms <= old).collect();
            let tables: Vec<_> = games.iter().map(|game| game.table).collect();
            let exist = self.inner.live.exist(&tables).await.map_err(words)?;
            for (game, exists) in games.into_iter().zip(exist) {
                if !exists {
                    lost.push(game);
                } else if to_read > 0 && rounds.read.is_none_or(|read| game.game > read) {
                    to_read -= 1;
                    rounds.read = Some(game.game);
                    if !self.is_played(&game).await? {
                        lost.push(game);
                    }
                } else if rounds.seen.contains(&game.game) && !self.is_played(&game).await? {
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
        let before = std::mem::take(&mut rounds.seen);
        for game in lost {
            rounds.seen.insert(game.game);
            if before.contains(&game.game) {
                self.void_lost(game.table, game.game).await;
            }
        }
        Ok(())
    }

    /// Whether the table is in this game; also where that cannot be told from here.
    async fn is_played(&self, game: &OpenGame) -> Result<bool, String> {
        match self.look(game.table).await {
            Ok(Some(table)) => Ok(table.phase().game() == Some(game.game)),
            Ok(None) => Ok(false),
            Err(Unready::Halted | Unready::OtherVersion) => Ok(true),
            Err(Unready::Unavailable(error)) => Err(words(error)),
        }
    }

    /// Voids a game that has no table any more.
    pub(super) async fn void_lost(&self, table: TableId, game: GameId) {
        match self.void_game(game, REASON).await {
            Ok(true) => {
                count(&self.inner.counts.voided_lost);
                tracing::error!(%table, %game, "a game was voided: its live state was lost");
            }
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%table, %game, %error, "a lost game could not be voided yet");
            }
        }
    }

    /// Writes down for operators what could not be written when it happened.
    async fn note_halts(&self) -> Result<(), String> {
        let tables = self.inner.live.halted().await.map_err(words)?;
        if tables.is_empty() {
            return Ok(());
        }
        for table in halted::unnoted(&self.inner.pool, &tables).await.map_err(words)? {
            let Some(stored) = self.inner.live.load(table).await.map_err(words)? else {
                continue;
            };
            let Some(reason) = stored.halted else {
                continue;
            };
            let version = Some(stored.base + stored.lines.len() as u64);
            let halt = halted::Halt { table, room: None, version, reason };
            halted::note_halted(&self.inner.pool, &halt).await.map_err(words)?;
        }
        Ok(())
    }
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
