//! The runs of the shell's [`TournamentHost`] over a tournament: its calls are performed with
//! PostgreSQL and the lobby.

use bahay_engine::table::{Terms, TournamentId, TournamentPlayer, TournamentSeating};
use bahay_engine::tournament::{GameScore, TableNumber, TableSeating, Tournament};
use bahay_shell::tournaments::{
    StoredGame, TournamentAnswer, TournamentBot, TournamentCall, TournamentHost,
};

use super::{TournamentError, Tournaments};
use crate::archive::tournament_games::{self, TournamentGame, TournamentScore};
use crate::ids::TOURNAMENT_ROOM;
use crate::lobby::TournamentTable;

impl Tournaments {
    /// Performs the effects that are due now, and those that follow from them.
    pub(super) async fn run_effects(&self, id: TournamentId) -> Result<(), TournamentError> {
        self.run_host(id, TournamentHost::run_effects()).await
    }

    /// Performs the calls of a run.
    pub(super) async fn run_host(
        &self,
        id: TournamentId,
        mut host: TournamentHost,
    ) -> Result<(), TournamentError> {
        while let Some(call) = host.next_call() {
            let answer = self.perform(id, call).await?;
            host.handle_answer(answer, self.now());
        }
        Ok(host.end()?)
    }

    async fn perform(
        &self,
        id: TournamentId,
        call: TournamentCall,
    ) -> Result<TournamentAnswer, TournamentError> {
        Ok(match call {
            TournamentCall::Read => TournamentAnswer::Replica(self.load(id).await?.replica),
            TournamentCall::ReadGames => {
                let games = tournament_games::unscored_games(&self.inner.pool, id).await?;
                TournamentAnswer::Games(games.into_iter().map(to_stored).collect())
            }
            TournamentCall::ReadBots => {
                let bots = self.inner.lobby.house_bots().iter();
                let bots =
                    bots.map(|bot| TournamentBot { player: bot.player, name: bot.name.clone() });
                TournamentAnswer::Bots(bots.collect())
            }
            TournamentCall::Submit { input, write } => {
                let submitted = self.submit_with(id, input, write, None).await?;
                TournamentAnswer::Submitted(submitted.map(drop))
            }
            TournamentCall::MarkScored { game, rejection, version } => {
                tracing::debug!(tournament = %id, %game, %rejection, "a game is not scored");
                let mut connection = self.inner.pool.acquire().await?;
                tournament_games::mark_scored_in_tx(&mut connection, game, version).await?;
                TournamentAnswer::Done
            }
            TournamentCall::OpenTable { tournament, table } => {
                self.open_table(id, &tournament, &table).await?;
                TournamentAnswer::Done
            }
            TournamentCall::ReopenTable { tournament, table } => {
                tracing::warn!(tournament = %id, table = %table.number, "a lost table is opened again");
                self.open_table(id, &tournament, &table).await?;
                TournamentAnswer::Done
            }
            TournamentCall::EndTable(table) => {
                self.inner.lobby.end_tournament_table(table.table_id(id)).await?;
                TournamentAnswer::Done
            }
            TournamentCall::FindLost(tables) => {
                let ids: Vec<_> = tables.iter().map(|table| table.table_id(id)).collect();
                let lost = self.inner.lobby.lost_tables(&ids).await?;
                let is_lost = |table: &TableNumber| lost.contains(&table.table_id(id));
                TournamentAnswer::Lost(tables.into_iter().filter(is_lost).collect())
            }
        })
    }

    /// Opens a table unless it exists.
    async fn open_table(
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

fn to_stored(game: TournamentGame) -> StoredGame {
    let TournamentGame { game: id, round, table_number, number, scores, .. } = game;
    let table = TableNumber { round, table: table_number };
    let score =
        |TournamentScore { player, points, is_absent }| GameScore { player, points, is_absent };
    StoredGame { id, table, number, scores: scores.into_iter().map(score).collect() }
}
