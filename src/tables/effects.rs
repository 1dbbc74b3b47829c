//! Carries out what tables are owed: the ledger's openings and settlements, the AI's moves, the
//! clock's. Each answer goes back to the table as an input; an effect whose answer is lost is due
//! again, and carrying it out twice does nothing twice.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bahay_engine::game::Game;
use bahay_engine::table::{Effect, Input, Opening, Record, Table, TableId};

use crate::ledger::{self, OpenGame, SettleGame};
use crate::tables::slot::Slot;
use crate::tables::{SubmitError, Tables};

/// Inputs that one look at a table may lead to, one after the other. What is owed beyond that is
/// due at the table's deadline.
const ROUNDS: usize = 4;

/// What a table is owed, taken out of it.
enum Owed<A> {
    Open(Box<OpenGame>),
    Settle(Box<SettleGame>),
    /// Only to be told.
    Tell(Input<A>),
}

impl<G: Game> Tables<G> {
    /// Attends to a table whose deadline has passed.
    pub(super) async fn attend(&self, id: TableId) {
        let slot = self.slot(id);
        match slot.look(&self.inner).await {
            Ok(Some(_)) => self.carry_out(&slot).await,
            Ok(None) => {}
            Err(error) => tracing::warn!(table = %id, %error, "a due table could not be read"),
        }
    }

    /// What a table is owed now, as this process knows it; and what it is owed after that.
    pub(super) async fn carry_out(&self, slot: &Arc<Slot<G>>) {
        for _ in 0..ROUNDS {
            let Some(table) = slot.current().await else {
                return;
            };
            let mut told = false;
            for owed in owed(&table, self.inner.clock.now()) {
                match owed {
                    Owed::Tell(input) => {
                        self.tell(slot, input).await;
                        told = true;
                    }
                    // The ledger takes its time: who acted need not wait for it.
                    Owed::Open(open) => self.in_background(slot, |tables, slot| async move {
                        tables.open(&slot, *open).await;
                    }),
                    Owed::Settle(settle) => self.in_background(slot, |tables, slot| async move {
                        tables.settle(&slot, *settle).await;
                    }),
                }
            }
            if !told {
                return;
            }
        }
    }

    /// Runs one effect of a table at a time; another process may run it too.
    fn in_background<F>(
        &self,
        slot: &Arc<Slot<G>>,
        effect: impl FnOnce(Self, Arc<Slot<G>>) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        if slot.busy.swap(true, Ordering::AcqRel) {
            return;
        }
        let (tables, slot) = (self.clone(), slot.clone());
        tokio::spawn(async move {
            effect(tables.clone(), slot.clone()).await;
            slot.busy.store(false, Ordering::Release);
            // The answer may have brought the table to its next effect.
            Box::pin(tables.carry_out(&slot)).await;
        });
    }

    async fn open(&self, slot: &Arc<Slot<G>>, open: OpenGame) {
        let game = open.game;
        let input = match self.inner.ledger.open_game(open).await {
            Ok(ledger::Opening::Opened { stakes, pot }) => Input::Opened { game, stakes, pot },
            Ok(ledger::Opening::CannotPay { seats }) => Input::OpenFailed { game, seats },
            Err(error) => {
                tracing::warn!(table = %slot.id(), %game, %error, "a game could not be opened yet");
                return;
            }
        };
        self.tell(slot, input).await;
    }

    async fn settle(&self, slot: &Arc<Slot<G>>, settle: SettleGame) {
        let game = settle.game;
        match self.inner.ledger.settle_game(settle).await {
            Ok(_) => self.tell(slot, Input::Settled { game }).await,
            Err(error) => {
                tracing::error!(table = %slot.id(), %game, %error, "a game is not settled yet");
            }
        }
    }

    /// Tells the table something that others may have told it already.
    async fn tell(&self, slot: &Arc<Slot<G>>, input: Input<G::Action>) {
        match slot.submit(&self.inner, input).await {
            // Refused: somebody was faster.
            Ok(_) | Err(SubmitError::Rejected(_) | SubmitError::Missing) => {}
            Err(SubmitError::Unavailable(error)) => {
                tracing::warn!(table = %slot.id(), %error, "a table could not be told");
            }
        }
    }
}

fn owed<G: Game>(table: &Table<G>, now: bahay_engine::table::Timestamp) -> Vec<Owed<G::Action>> {
    let effects = table.effects(now).into_iter();
    effects
        .filter_map(|effect| match effect {
            Effect::Tick => Some(Owed::Tell(Input::Tick)),
            Effect::Advise { seat, .. } => table.advice(seat).map(Owed::Tell),
            Effect::Open(opening) => open_game(table, opening).map(Box::new).map(Owed::Open),
            Effect::Settle(record) => settle_game(record).map(Box::new).map(Owed::Settle),
        })
        .collect()
}

/// `None` only where an amount does not fit 64 bits, which the room's bounds rule out.
fn open_game<G: Game>(table: &Table<G>, opening: &Opening) -> Option<OpenGame> {
    Some(OpenGame {
        game: opening.game,
        table: table.id(),
        room: table.terms().room.clone(),
        ante: table.terms().price.bet,
        stake_max: table.terms().stake_max::<G>()?,
        players: table.players()?,
        opened_at_ms: opening.since.ms(),
    })
}

/// `None` only if a record could not be written as JSON, which its type rules out.
fn settle_game<G: Game>(record: &Record<G>) -> Option<SettleGame> {
    Some(SettleGame {
        game: record.game,
        table: record.table,
        room: record.terms.room.clone(),
        players: record.players.clone(),
        settlement: record.settlement.clone(),
        record: serde_json::to_value(record).ok()?,
        finished_at_ms: record.finished_at.ms(),
    })
}
