//! The effects of a tournament: transfers are booked, tables are opened, and time passes.

use bahay_engine::table::{Terms, TournamentId, TournamentPlayer, TournamentSeating};
use bahay_engine::tournament::{
    Effect, Input, Payment, TableSeating, Tournament, Transfer, TransferKey,
};

use super::journal::LineWrite;
use super::{TournamentError, Tournaments};
use crate::archive::tournament_games;
use crate::ids::TOURNAMENT_ROOM;
use crate::ledger::{LedgerError, TournamentPurpose, TransferForTournament};
use crate::lobby::TournamentTable;
use crate::passes::PassEntry;

/// The number of rounds of effects that follow one input. The rest is due at the next round of
/// the runner.
const ROUNDS_MAX: usize = 64;

impl Tournaments {
    /// Performs the effects that are due now, and those that follow from them.
    pub(super) async fn run_effects(&self, id: TournamentId) -> Result<(), TournamentError> {
        for _ in 0..ROUNDS_MAX {
            let replica = self.load(id).await?;
            let effects = replica.tournament.effects(self.now());
            if effects.is_empty() {
                return Ok(());
            }
            for effect in effects {
                match self.run_effect(id, &replica.tournament, effect).await {
                    // Another node has performed it.
                    Ok(()) | Err(TournamentError::Rejected(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    async fn run_effect(
        &self,
        id: TournamentId,
        tournament: &Tournament,
        effect: Effect,
    ) -> Result<(), TournamentError> {
        match effect {
            Effect::Tick => {
                self.register_bots(id).await?;
                self.submit(id, Input::Tick).await.map(drop)
            }
            Effect::Transfer(transfer) => self.book(id, transfer).await,
            Effect::OpenTable(table) => {
                // Another node may have opened it since, and its games may be over.
                if !self.load(id).await?.tournament.awaits_opening(table.number) {
                    return Ok(());
                }
                self.open_table(id, tournament, &table).await?;
                self.submit(id, Input::TableOpened { table: table.number }).await.map(drop)
            }
            Effect::EndTable(table) => {
                self.inner.lobby.end_tournament_table(table.table_id(id)).await?;
                self.submit(id, Input::TableEnded { table }).await.map(drop)
            }
        }
    }

    /// Books a transfer in the transaction of the line that notes it.
    async fn book(&self, id: TournamentId, transfer: Transfer) -> Result<(), TournamentError> {
        let input = Input::Transferred { transfer: transfer.key };
        let write = match (transfer.payment, transfer.key) {
            (Payment::Pass, TransferKey::Return { player, number }) => {
                LineWrite::PassReturn(PassEntry { tournament: id, player, number })
            }
            // The registration has held the pass.
            (Payment::Pass, _) => LineWrite::None,
            (Payment::Free | Payment::Coins, _) => match booking(id, &transfer) {
                Some(booking) => LineWrite::Booking(booking),
                None => LineWrite::None,
            },
        };
        match self.submit_with(id, input, write).await {
            Err(TournamentError::Ledger(LedgerError::Overdrawn { .. })) => match transfer.key {
                TransferKey::Entry { player, number } => {
                    self.submit(id, Input::EntryRefused { player, number }).await.map(drop)
                }
                other => Err(TournamentError::Broken(format!("its account cannot pay {other}"))),
            },
            booked => booked.map(drop),
        }
    }

    /// Opens a table unless it exists.
    pub(super) async fn open_table(
        &self,
        id: TournamentId,
        tournament: &Tournament,
        table: &TableSeating,
    ) -> Result<(), TournamentError> {
        let game = &tournament.terms().game;
        let table_id = table.number.table_id(id);
        let seating = TournamentSeating {
            tournament: id,
            round: table.number.round,
            number: table.number.table,
            games: table.games,
            players: table.players.clone(),
            commitments: table.deals.iter().map(|deal| deal.seed.commitment()).collect(),
        };
        let rules = game.rules.clone();
        let terms = Terms::for_tournament(TOURNAMENT_ROOM, rules, game.bet, game.clocks, seating);
        let player = |player| {
            let entrant = tournament.entrant(player);
            TournamentPlayer {
                player,
                name: entrant.map(|entrant| entrant.name.clone()).unwrap_or_default(),
                avatar: None,
                bot: entrant.is_some_and(|entrant| entrant.is_bot),
            }
        };
        let players = table.players.iter().copied().map(player).collect();
        let games = tournament_games::count_tournament_games(&self.inner.pool, table_id).await?;
        let seeds = table.deals.iter().map(|deal| deal.seed).collect();
        let open = TournamentTable { id: table_id, terms, players, games, seeds };
        Ok(self.inner.lobby.open_tournament_table(open).await?)
    }
}

/// Returns the operation of a transfer of coins; `None` for a prize without a player.
fn booking(id: TournamentId, transfer: &Transfer) -> Option<TransferForTournament> {
    let purpose = match transfer.key {
        TransferKey::Entry { player, .. } => TournamentPurpose::Entry(player),
        TransferKey::Return { player, .. } => TournamentPurpose::Return(player),
        TransferKey::Fee => TournamentPurpose::Fee,
        TransferKey::FeeReturn => TournamentPurpose::FeeReturn,
        TransferKey::Guarantee | TransferKey::Passes => TournamentPurpose::Guarantee,
        TransferKey::GuaranteeReturn | TransferKey::PassesReturn => {
            TournamentPurpose::GuaranteeReturn
        }
        TransferKey::Place { .. } => TournamentPurpose::Prize(transfer.player?),
        TransferKey::Cancel { player } => TournamentPurpose::Refund(player),
    };
    let key = transfer.key.to_string();
    Some(TransferForTournament { tournament: id, key, purpose, amount: transfer.amount })
}
