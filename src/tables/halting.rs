//! Performs the shell's procedures for halting, voiding and releasing tables, for operators and
//! after a failed view.

use bahay_bots::Ai;
use bahay_engine::table::{GameId, Readable, Table, TableId};
use bahay_shell::{
    Halt, ReleaseError, Releasing, ReleasingAnswer, ReleasingCall, Reply, Request, VoidOutcome,
    Voiding, VoidingAnswer, VoidingCall, catch_panic,
};
use serde::Serialize;

use crate::archive::halted::{self, HaltOutcome};
use crate::db;
use crate::ledger::{LedgerError, Refunds};
use crate::live_store::Unavailable;
use crate::reason::Reason;
use crate::tables::Tables;

/// The outcome of voiding a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VoidedTable {
    /// The game that was voided, by this order or an interrupted one; `None` if there was none.
    pub game: Option<GameId>,
    /// True if live state was removed.
    pub was_live: bool,
    pub refunds: Refunds,
}

/// The reason why an operator's order was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum OperateError {
    #[error("there is no such table")]
    Missing,
    #[error("there is nothing to void: no table, no open game and no POT with this id")]
    NothingToVoid,
    #[error("the table exists, so its POT is still in play")]
    Live,
    #[error("another game is open at the table, or none: read it again")]
    GameChanged,
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
    #[error("the database query failed: {0}")]
    Database(#[from] db::Error),
}

impl From<ReleaseError> for OperateError {
    fn from(error: ReleaseError) -> Self {
        match error {
            ReleaseError::Missing => Self::Missing,
            ReleaseError::NotHalted => Self::NotHalted,
            ReleaseError::Broken(why) => Self::Broken(why),
            ReleaseError::OtherVersion(engine) => Self::OtherVersion(engine),
        }
    }
}

/// The engine panicked while a table was shown, and the table is halted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShowError;

impl<G: Ai + Readable> Tables<G> {
    /// Computes a view or redacted events of a table. A panic halts the table concurrently; if live
    /// state is unavailable, the next attempt to show the table halts it.
    pub fn render<T>(
        &self,
        table: &Table<G>,
        show: impl FnOnce(&Table<G>) -> T,
    ) -> Result<T, ShowError> {
        catch_panic(|| show(table)).map_err(|reason| {
            self.halt(Halt::from_table(table, reason));
            ShowError
        })
    }

    /// Halts a table concurrently.
    pub(super) fn halt(&self, halt: Halt) {
        let tables = self.clone();
        tokio::spawn(async move {
            let table = halt.table;
            let halted = tables.driver(table).request(&tables, Request::Halt(halt)).await;
            if let Reply::Done(Err(error)) = halted {
                tracing::error!(%table, %error, "a table could not be halted yet");
            }
        });
    }

    /// Records a halt for operators, concurrently. A failed record is made up for by `lost`.
    pub(super) fn record_halt(&self, halt: Halt) {
        let tables = self.clone();
        tokio::spawn(async move {
            if let Err(error) = tables.write_halt(&halt).await {
                tracing::warn!(table = %halt.table, %error, "a halt could not be recorded yet");
            }
        });
    }

    /// Records a halt, and its end if the table was released or voided in the meantime: the end
    /// then found no row, and a row without an end would list the table for ever.
    pub(super) async fn write_halt(&self, halt: &Halt) -> Result<(), OperateError> {
        let pool = &self.inner.pool;
        let table = halt.table;
        halted::record_halt(pool, halt).await?;
        if self.inner.live.is_halted(table).await? {
            return Ok(());
        }
        let exists = self.inner.live.tables_exist(&[table]).await.into_iter().next();
        let outcome = match exists.transpose()? {
            Some(true) => HaltOutcome::Released,
            Some(false) | None => HaltOutcome::Voided,
        };
        Ok(halted::record_release(pool, table, outcome).await?)
    }

    /// Checks that a game, or none, is open at a table.
    ///
    /// # Errors
    /// [`OperateError::GameChanged`] if another one is.
    pub async fn check_open_game(
        &self,
        table: TableId,
        expected: Option<GameId>,
    ) -> Result<(), OperateError> {
        let open = halted::open_game_at(&self.inner.pool, table).await?;
        if open.map(|(game, _)| game) == expected { Ok(()) } else { Err(OperateError::GameChanged) }
    }

    /// Voids a table in any state: voids its open game, releases its players and refunds its POT. A
    /// repeated order completes an interrupted one, even if the table is gone.
    pub async fn void(&self, table: TableId, reason: &Reason) -> Result<VoidedTable, OperateError> {
        let mut voiding = Voiding::new(table, reason.as_str());
        let mut refunds = Refunds::default();
        while let Some(call) = voiding.next_call() {
            let answer = self.void_step(table, reason, call, &mut refunds).await?;
            voiding.handle_answer::<G>(answer, &self.inner.limits);
        }
        let VoidOutcome { game, was_live } =
            voiding.outcome().ok_or(OperateError::NothingToVoid)?;
        tracing::warn!(%table, ?game, %reason, "a table was voided");
        Ok(VoidedTable { game, was_live, refunds })
    }

    async fn void_step(
        &self,
        table: TableId,
        why: &Reason,
        call: VoidingCall,
        refunds: &mut Refunds,
    ) -> Result<VoidingAnswer, OperateError> {
        let live = &self.inner.live;
        let pool = &self.inner.pool;
        match call {
            VoidingCall::Load => return Ok(VoidingAnswer::Loaded(live.load(table).await?)),
            VoidingCall::Halt { engine, reason } => {
                live.halt(table, engine, &reason).await?;
            }
            VoidingCall::RecordHalt(halt) => halted::record_halt(pool, &halt).await?,
            VoidingCall::FindOpenGame => {
                return Ok(VoidingAnswer::OpenGame(halted::open_game_at(pool, table).await?));
            }
            VoidingCall::VoidGame(game) => {
                return match self.inner.ledger.void_game(game, why).await {
                    Ok(voided) => {
                        refunds.add_void(&voided);
                        Ok(VoidingAnswer::GameVoided(true))
                    }
                    Err(LedgerError::GameNotOpen { .. } | LedgerError::GameUnknown { .. }) => {
                        Ok(VoidingAnswer::GameVoided(false))
                    }
                    Err(error) => Err(error.into()),
                };
            }
            VoidingCall::RefundPot => {
                return match self.inner.ledger.refund_pot(table).await {
                    Ok(refunded) => {
                        refunds.add_pot(&refunded.shares);
                        Ok(VoidingAnswer::PotRefunded(true))
                    }
                    Err(LedgerError::PotEmpty { .. }) => Ok(VoidingAnswer::PotRefunded(false)),
                    Err(error) => Err(error.into()),
                };
            }
            VoidingCall::Release { player } => live.release_seat_claim(player, table).await?,
            VoidingCall::Unlist { room } => live.unlist_table(&room, table).await?,
            VoidingCall::End { engine } => live.end(table, engine).await?,
            VoidingCall::RecordVoided => {
                halted::record_release(pool, table, HaltOutcome::Voided).await?;
            }
            VoidingCall::Close => {
                if let Some(driver) = self.find_driver(table) {
                    driver.close();
                }
            }
        }
        Ok(VoidingAnswer::Done)
    }

    /// Checks whether a table is halted and can be released by this node, and changes nothing.
    pub async fn check_release(&self, table: TableId) -> Result<(), OperateError> {
        let answer = ReleasingAnswer::Loaded(self.inner.live.load(table).await?);
        Ok(Releasing::new().handle_answer::<G>(answer, &self.inner.limits)?)
    }

    /// Releases a halted table whose journal replays here.
    pub async fn release(&self, table: TableId) -> Result<(), OperateError> {
        let mut releasing = Releasing::new();
        while let Some(call) = releasing.next_call() {
            let answer = match call {
                ReleasingCall::Load => ReleasingAnswer::Loaded(self.inner.live.load(table).await?),
                ReleasingCall::Resume { engine, deadline } => {
                    self.inner.live.resume(table, engine, deadline).await?;
                    ReleasingAnswer::Done
                }
                ReleasingCall::RecordReleased => {
                    let pool = &self.inner.pool;
                    halted::record_release(pool, table, HaltOutcome::Released).await?;
                    ReleasingAnswer::Done
                }
            };
            releasing.handle_answer::<G>(answer, &self.inner.limits)?;
        }
        tracing::warn!(%table, "a table was released");
        Ok(())
    }
}
