//! Performs a host's calls to the ledger: opens and settles games, refunds POTs, and voids games
//! without a table.

use bahay_bots::Ai;
use bahay_engine::table::{GameId, PotRefund, Readable, Record, StakeTerms, TableId};
use bahay_engine::variants;
use bahay_shell::{GameOpening, LedgerAnswer, LedgerCall, LedgerFault};

use crate::clock::Moment;
use crate::ledger::{
    Document, LedgerError, OpenGame, OpeningOutcome, PotRefundOutcome, PotRefundRequest, SettleGame,
};
use crate::tables::Tables;

impl<G: Ai + Readable> Tables<G> {
    /// Calls the ledger; `None` for a call without an answer.
    pub(super) async fn ask_ledger(
        &self,
        table: TableId,
        call: LedgerCall<G>,
    ) -> Option<LedgerAnswer> {
        match call {
            LedgerCall::Open(opening) => Some(self.open(*opening).await),
            LedgerCall::Settle(record) => Some(self.settle(*record).await),
            LedgerCall::RefundPot(PotRefund { game, player, .. }) => {
                Some(self.perform_pot_refund(PotRefundRequest { table, game, player }).await)
            }
            LedgerCall::VoidLost(game) => {
                self.void_lost(table, game).await;
                None
            }
        }
    }

    #[tracing::instrument(level = "debug", skip_all, fields(game = %opening.game))]
    async fn open(&self, opening: GameOpening) -> LedgerAnswer {
        let game = opening.game;
        let StakeTerms { ante, stake_max, short_stakes } = opening.stakes;
        let open = OpenGame {
            game,
            kind: opening.kind,
            table: opening.table,
            room: opening.room,
            ante,
            stake_max,
            short_stakes,
            players: opening.players,
            commitment: opening.commitment,
            opened_at_ms: opening.opened_at_ms,
        };
        let started_at = Moment::now();
        let answer = self.inner.ledger.open_game(open).await;
        self.counts().play().opening.observe(started_at.elapsed());
        match answer {
            Ok(OpeningOutcome::Opened { stakes, pot }) => {
                LedgerAnswer::Opened { game, stakes, pot }
            }
            // A player whose allowance is exhausted cannot play either; a notice gives the reason.
            Ok(OpeningOutcome::CannotPay { seats } | OpeningOutcome::OverAllowance { seats }) => {
                LedgerAnswer::CannotPay { game, seats }
            }
            Err(error) => refused(game, &error),
        }
    }

    #[tracing::instrument(level = "debug", skip_all, fields(table = %asked.table))]
    async fn perform_pot_refund(&self, asked: PotRefundRequest) -> LedgerAnswer {
        let PotRefundRequest { game, player, .. } = asked;
        match self.inner.ledger.perform_pot_refund(asked).await {
            Ok((PotRefundOutcome { shares }, pot)) => {
                LedgerAnswer::PotRefunded { game, player, pot, shares }
            }
            Err(error) => refused(game, &error),
        }
    }

    #[tracing::instrument(level = "debug", skip_all, fields(game = %record.game))]
    async fn settle(&self, record: Record<G>) -> LedgerAnswer {
        let game = record.game;
        let settle = match settle_game(record) {
            Ok(settle) => settle,
            Err(error) => {
                let why = LedgerFault::Permanent(error.to_string());
                return LedgerAnswer::Refused { game, why };
            }
        };
        let started_at = Moment::now();
        let answer = self.inner.ledger.settle_game(settle).await;
        self.counts().play().settlement.observe(started_at.elapsed());
        match answer {
            Ok(_) => {
                self.counts().play().games.inc();
                LedgerAnswer::Settled { game }
            }
            Err(error) => refused(game, &error),
        }
    }
}

fn refused(game: GameId, error: &LedgerError) -> LedgerAnswer {
    let message = error.to_string();
    let why = match error {
        LedgerError::TableBusy { game: other, .. } => LedgerFault::TableBusy { other: *other },
        LedgerError::Broken { .. } => LedgerFault::Broken(message),
        LedgerError::Unavailable { .. } => LedgerFault::Transient(message),
        variants!(LedgerError: Invalid, KeyReused, GameUnknown, GameNotOpen, GameDiffers, PotEmpty,
            Settlement, OperationUnknown, NotReversible, AlreadyReversed,
            Overdrawn) => LedgerFault::Permanent(message),
    };
    LedgerAnswer::Refused { game, why }
}

fn settle_game<G: Ai + Readable>(record: Record<G>) -> Result<SettleGame, serde_json::Error> {
    Ok(SettleGame {
        game: record.game,
        table: record.table,
        room: record.terms.room.clone(),
        record: Document::canonicalize(&record)?,
        players: record.players,
        settlement: record.settlement,
        finished_at_ms: record.finished_at.ms(),
    })
}
