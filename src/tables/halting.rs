//! Tables that must not go on: halted where a fault shows, and released or voided by an operator.
//!
//! A table is halted by a mark in its head, which refuses every append on every node; then a row
//! is written for operators. The mark comes first, because the row can be written later by
//! anybody. Halted are: a table over which the engine panics, also
//! when something of it is shown, a journal that does not replay, a
//! game that the ledger refuses for good to open or to settle.
//!
//! Voiding ends a table in this order: halted, so that nothing changes under it; its open game
//! voided in the ledger, which pays back once however often it is asked; bonds released; live
//! state removed; whoever watches told. Broken off, it is done again from the beginning. A game
//! that another node was opening in the same moment has no table then, and is found by `lost`.

use bahay_engine::table::Readable;
use bahay_engine::table::{GameId, PlayerId, Table, TableId};

use crate::archive::halted::{self, Halt, Outcome};
use crate::ledger::LedgerError;
use crate::live_store::Unavailable;
use crate::tables::copy::{Copy, Unfollowed};
use crate::tables::counts::count;
use crate::tables::guard::guarded;
use crate::tables::{Inner, Tables};

/// What voiding a table came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voided {
    /// The open game whose coins went back; `None` when none was open.
    pub game: Option<GameId>,
    /// Whether there was live state to remove.
    pub was_live: bool,
}

/// Why an operator's order was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum OperateError {
    #[error("there is no such table")]
    Missing,
    #[error("the table is there, and its POT is played for")]
    Live,
    #[error("the table is not halted")]
    NotHalted,
    #[error("its journal still does not replay: {0}")]
    Broken(String),
    #[error("its journal is for version {0} of the engine: ask a node of that version")]
    OtherVersion(u32),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("the database could not be asked: {0}")]
    Database(String),
}

impl<G: Readable> Inner<G> {
    /// Halts a table; says so once, and writes it down for operators.
    pub(super) async fn halt(&self, halt: Halt, engine: u32) -> Result<(), Unavailable> {
        if !self.live.halt(halt.table, engine, &halt.reason).await? {
            return Ok(());
        }
        count(&self.counts.halted);
        let Halt { table, room, version, reason } = &halt;
        tracing::error!(%table, room, version, reason, "a table is halted");
        if let Some(room) = room
            && let Err(error) = self.live.unlist(room, *table).await
        {
            tracing::warn!(%table, %error, "a stale listing stays");
        }
        // Not waited for: whoever halts holds the table. What fails is made up for by `lost`.
        let pool = self.pool.clone();
        tokio::spawn(async move {
            if let Err(error) = halted::note_halted(&pool, &halt).await {
                tracing::warn!(table = %halt.table, %error, "a halt is not written down yet");
            }
        });
        Ok(())
    }
}

/// Something of a table could not be shown: the engine panicked over it, and it is halted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoiled;

impl<G: Readable> Tables<G> {
    /// Works out what somebody is shown of a table: a view, redacted events. A panic in that
    /// halts the table, beside whoever waits for this; where live state is away, the next attempt
    /// to show it does.
    pub fn show<T>(
        &self,
        table: &Table<G>,
        show: impl FnOnce(&Table<G>) -> T,
    ) -> Result<T, Spoiled> {
        guarded(|| show(table)).map_err(|reason| {
            let (room, engine) = (Some(table.terms().room.clone()), table.engine());
            let halt = Halt { table: table.id(), room, version: None, reason };
            let tables = self.clone();
            tokio::spawn(async move {
                let table = halt.table;
                if let Err(error) = tables.inner.halt(halt, engine).await {
                    tracing::error!(%table, %error, "a table could not be halted yet");
                }
            });
            Spoiled
        })
    }

    /// Ends a table, whatever state it is in: its open game is voided, its players are free.
    pub async fn void(&self, table: TableId, reason: &str) -> Result<Voided, OperateError> {
        let live = &self.inner.live;
        let stored = live.load(table).await?;
        let mut players: Vec<PlayerId> = Vec::new();
        let mut room = None;
        if let Some(stored) = &stored {
            let version = Some(stored.version());
            let replayed = guarded(|| Copy::<G>::replay(stored, None));
            if let Ok(Ok(replayed)) = replayed {
                let table = replayed.copy.table;
                players.extend(table.occupants().map(|(_, occupant)| occupant.player));
                room = Some(table.terms().room.clone());
            }
            let reason = reason.to_owned();
            let halt = Halt { table, room: room.clone(), version, reason };
            live.halt(table, stored.engine, &halt.reason).await?;
            halted::note_halted(&self.inner.pool, &halt).await.map_err(unanswered)?;
        }
        let open = halted::open_at(&self.inner.pool, table).await.map_err(unanswered)?;
        let mut game = None;
        if let Some((open, its_room)) = open {
            room = room.or(Some(its_room));
            game = self.void_game(open, reason).await?.then_some(open);
        }
        if stored.is_none() && game.is_none() {
            return Err(OperateError::Missing);
        }
        for player in players {
            live.release(player, table).await?;
        }
        if let Some(room) = room {
            live.unlist(&room, table).await?;
        }
        if let Some(stored) = &stored {
            live.end(table, stored.engine).await?;
        }
        halted::note_released(&self.inner.pool, table, Outcome::Voided)
            .await
            .map_err(unanswered)?;
        if let Some(slot) = self.known(table) {
            slot.close().await;
        }
        tracing::warn!(%table, ?game, reason, "a table was voided");
        Ok(Voided { game, was_live: stored.is_some() })
    }

    /// Lets a halted table play on, if its journal replays here.
    pub async fn release(&self, table: TableId) -> Result<(), OperateError> {
        let stored = self.inner.live.load(table).await?.ok_or(OperateError::Missing)?;
        if stored.halted.is_none() {
            return Err(OperateError::NotHalted);
        }
        let deadline = guarded(|| {
            let replayed = Copy::<G>::replay(&stored, None)?;
            Ok(replayed.copy.table.deadline())
        });
        let deadline = match deadline {
            Ok(Ok(deadline)) => deadline,
            Ok(Err(Unfollowed::OtherVersion(engine))) => {
                return Err(OperateError::OtherVersion(engine));
            }
            Ok(Err(Unfollowed::Broken(why))) | Err(why) => return Err(OperateError::Broken(why)),
        };
        self.inner.live.resume(table, stored.engine, deadline).await?;
        halted::note_released(&self.inner.pool, table, Outcome::Released)
            .await
            .map_err(unanswered)?;
        tracing::warn!(%table, "a table was released");
        Ok(())
    }

    /// Voids a game. False when it has been settled or voided before.
    pub(super) async fn void_game(&self, game: GameId, reason: &str) -> Result<bool, LedgerError> {
        match self.inner.ledger.void_game(game, reason).await {
            Ok(_) => Ok(true),
            Err(LedgerError::GameNotOpen { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn unanswered(error: impl std::fmt::Display) -> OperateError {
    OperateError::Database(error.to_string())
}
