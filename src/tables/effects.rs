//! Carries out what tables are owed: the ledger's openings and settlements, the AI's moves, the
//! clock's. Each answer goes back to the table as an input; an effect whose answer is lost is due
//! again, and carrying it out twice does nothing twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bahay_engine::table::Readable;
use bahay_engine::table::{Effect, GameId, Input, Opening, Record, Table, TableId};

use crate::clock::Moment;
use crate::ledger::{self, Document, LedgerError, OpenGame, SettleGame};
use crate::tables::guard::guarded;
use crate::tables::slot::Slot;
use crate::tables::{SubmitError, Tables, Unready};

/// Inputs that one look at a table may lead to, one after the other. What is owed beyond that is
/// due at the table's deadline.
const ROUNDS: usize = 4;

/// What the database calls a fault of ours may be one of its own: only after so many of these in a
/// row is a table halted over it.
const BROKEN_MAX: u32 = 20;

/// What a table is owed, taken out of it.
enum Owed<A> {
    Open(Box<OpenGame>),
    Settle(Box<SettleGame>),
    /// Only to be told.
    Tell(Input<A>),
}

impl<G: Readable> Tables<G> {
    /// Attends to a table whose deadline has passed.
    pub(super) async fn attend(&self, id: TableId) {
        let slot = self.slot(id);
        match slot.look(&self.inner).await {
            Ok(Some(_)) => self.carry_out(&slot).await,
            Ok(None) | Err(Unready::Halted | Unready::OtherVersion) => {}
            Err(Unready::Unavailable(error)) => {
                tracing::warn!(table = %id, %error, "a due table could not be read")
            }
        }
    }

    /// What a table is owed now, as this process knows it; and what it is owed after that.
    pub(super) async fn carry_out(&self, slot: &Arc<Slot<G>>) {
        for _ in 0..ROUNDS {
            let Some(table) = slot.current().await else {
                return;
            };
            let mut told = false;
            let now = self.inner.clock_of(slot.id()).now();
            let owed = match guarded(|| owed(&table, now)) {
                Ok(owed) => owed,
                Err(panic) => return self.halt(slot, panic).await,
            };
            for owed in owed {
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
            {
                // Also if the effect panics: then the next look finds it owed again.
                let _free = Free(&slot.busy);
                effect(tables.clone(), slot.clone()).await;
            }
            // The answer may have brought the table to its next effect.
            Box::pin(tables.carry_out(&slot)).await;
        });
    }

    #[tracing::instrument(level = "debug", skip_all, fields(game = %open.game))]
    async fn open(&self, slot: &Arc<Slot<G>>, open: OpenGame) {
        let game = open.game;
        let asked = Moment::now();
        let answer = self.inner.ledger.open_game(open).await;
        self.counts().play().opening.took(asked.elapsed());
        let input = match answer {
            Ok(ledger::Opening::Opened { stakes, pot }) => Input::Opened { game, stakes, pot },
            Ok(ledger::Opening::CannotPay { seats }) => Input::OpenFailed { game, seats },
            // The table has come to a new game, so that other one has no table any more.
            Err(LedgerError::TableBusy { game: other, .. }) if other != game => {
                self.void_lost(slot.id(), other).await;
                return;
            }
            Err(error) => return self.refused(slot, game, error).await,
        };
        slot.refused.store(0, Ordering::Release);
        self.tell(slot, input).await;
    }

    #[tracing::instrument(level = "debug", skip_all, fields(game = %settle.game))]
    async fn settle(&self, slot: &Arc<Slot<G>>, settle: SettleGame) {
        let game = settle.game;
        let asked = Moment::now();
        let answer = self.inner.ledger.settle_game(settle).await;
        self.counts().play().settlement.took(asked.elapsed());
        match answer {
            Ok(_) => {
                self.counts().play().games.one();
                slot.refused.store(0, Ordering::Release);
                self.tell(slot, Input::Settled { game }).await;
            }
            Err(error) => self.refused(slot, game, error).await,
        }
    }

    /// The ledger did not do what the table is owed: a table whose debt it refuses for good is
    /// halted.
    async fn refused(&self, slot: &Arc<Slot<G>>, game: GameId, error: LedgerError) {
        let may_pass = match &error {
            LedgerError::Broken { .. } => {
                slot.refused.fetch_add(1, Ordering::AcqRel) + 1 < BROKEN_MAX
            }
            other => other.is_transient(),
        };
        if may_pass {
            tracing::warn!(table = %slot.id(), %game, %error, "the ledger is asked again later");
        } else {
            self.halt(slot, format!("the ledger refuses game {game}: {error}")).await;
        }
    }

    async fn halt(&self, slot: &Arc<Slot<G>>, reason: String) {
        if let Err(error) = slot.halt(&self.inner, reason).await {
            tracing::error!(table = %slot.id(), %error, "a table could not be halted yet");
        }
    }

    /// Tells the table something that others may have told it already.
    async fn tell(&self, slot: &Arc<Slot<G>>, input: Input<G::Action>) {
        match Box::pin(slot.submit(&self.inner, input)).await {
            // Refused: somebody was faster.
            Ok(_) | Err(SubmitError::Rejected(_) | SubmitError::Missing) => {}
            // Said where it was found out.
            Err(SubmitError::Halted | SubmitError::OtherVersion) => {}
            Err(SubmitError::Unavailable(error)) => {
                tracing::warn!(table = %slot.id(), %error, "a table could not be told");
            }
        }
    }
}

/// Says at its end that nothing is being carried out any more.
struct Free<'a>(&'a AtomicBool);

impl Drop for Free<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

fn owed<G: Readable>(
    table: &Table<G>,
    now: bahay_engine::table::Timestamp,
) -> Vec<Owed<G::Action>> {
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
fn open_game<G: Readable>(table: &Table<G>, opening: &Opening) -> Option<OpenGame> {
    Some(OpenGame {
        game: opening.game,
        kind: table.kind().to_owned(),
        table: table.id(),
        room: table.terms().room.clone(),
        ante: table.terms().ante()?,
        stake_max: table.terms().stake_max::<G>(table.seats_in_game())?,
        players: table.players(),
        opened_at_ms: opening.since.ms(),
    })
}

/// `None` only if a record could not be written as JSON, which its type rules out.
fn settle_game<G: Readable>(record: &Record<G>) -> Option<SettleGame> {
    Some(SettleGame {
        game: record.game,
        table: record.table,
        room: record.terms.room.clone(),
        players: record.players.clone(),
        settlement: record.settlement.clone(),
        record: Document::of(record).ok()?,
        finished_at_ms: record.finished_at.ms(),
    })
}
