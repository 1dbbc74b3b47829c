//! Performs a host's calls to the ledger: opens and settles games, refunds POTs, and voids games
//! without a table. The record of a game of a tournament is stored without the ledger.

use bahay_bots::Ai;
use bahay_engine::seat::{SEATS_MAX, Seat, SeatSet};
use bahay_engine::table::{GameId, PotRefund, Readable, Record, StakeTerms, TableId};
use bahay_engine::variants;
use bahay_shell::{GameOpening, LedgerAnswer, LedgerCall, LedgerFault};

use crate::archive::tournament_games::{TournamentGame, TournamentScore, store_tournament_game};
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
            LedgerCall::Report { record, number, absent } => {
                Some(self.report(*record, number, absent).await)
            }
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
            Err(error) => refused_answer(game, &error),
        }
    }

    #[tracing::instrument(level = "debug", skip_all, fields(table = %asked.table))]
    async fn perform_pot_refund(&self, asked: PotRefundRequest) -> LedgerAnswer {
        let PotRefundRequest { game, player, .. } = asked;
        match self.inner.ledger.perform_pot_refund(asked).await {
            Ok((PotRefundOutcome { shares }, pot)) => {
                LedgerAnswer::PotRefunded { game, player, pot, shares }
            }
            Err(error) => refused_answer(game, &error),
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
            Err(error) => refused_answer(game, &error),
        }
    }
}

impl<G: Ai + Readable> Tables<G> {
    /// Stores the record of a game of a tournament and wakes the runner of tournaments.
    #[tracing::instrument(level = "debug", skip_all, fields(game = %record.game))]
    async fn report(&self, record: Record<G>, number: u32, absent: SeatSet) -> LedgerAnswer {
        let game = record.game;
        let refused = |why| LedgerAnswer::Refused { game, why };
        let Some(report) = tournament_game(&record, number, absent) else {
            return refused(LedgerFault::Permanent("it is no game of a tournament".into()));
        };
        let document = match Document::canonicalize(&record) {
            Ok(document) => document,
            Err(error) => return refused(LedgerFault::Permanent(error.to_string())),
        };
        let pool = &self.inner.pool;
        let settlement = &record.settlement;
        match store_tournament_game(pool, &report, settlement, document.as_str()).await {
            Ok(true) => {
                self.counts().play().games.inc();
                self.inner.tournament_games.notify_one();
                LedgerAnswer::Settled { game }
            }
            // Live state was lost after another game of this number.
            Ok(false) => refused(LedgerFault::Permanent(format!(
                "another game {number} of the table is stored"
            ))),
            Err(error) => refused_answer(game, &LedgerError::from(error)),
        }
    }

    /// Waits until a table of this process has stored a game of a tournament.
    pub async fn wait_for_tournament_game(&self) {
        self.inner.tournament_games.notified().await;
    }
}

/// Returns a game of a tournament with its scores; `None` if it is of no tournament or an amount
/// does not fit.
fn tournament_game<G: Ai + Readable>(
    record: &Record<G>,
    number: u32,
    absent: SeatSet,
) -> Option<TournamentGame> {
    let score = |(seat, player)| {
        let points = record.settlement.net(seat)?;
        Some(TournamentScore { player, points, is_absent: absent.contains(seat) })
    };
    let seats = Seat::all(SEATS_MAX).zip(record.players.iter().copied());
    let seating = record.terms.tournament.as_ref()?;
    Some(TournamentGame {
        game: record.game,
        tournament: seating.tournament,
        table: record.table,
        round: seating.round,
        table_number: seating.number,
        number,
        kind: record.kind.clone(),
        scores: seats.map(score).collect::<Option<_>>()?,
        finished_at_ms: record.finished_at.ms(),
    })
}

fn refused_answer(game: GameId, error: &LedgerError) -> LedgerAnswer {
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
