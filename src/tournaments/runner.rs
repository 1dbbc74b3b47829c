//! The runner: reminds players of a start, goes on with the tournaments that are due, scores the
//! games that their tables have stored, and opens the tables that live state has lost. Every node has
//! one, and none owns a tournament.

use std::time::Duration;

use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{GameScore, Input, TableNumber};
use tokio::time::{MissedTickBehavior, interval};

use super::journal::LineWrite;
use super::{TournamentError, Tournaments, store};
use crate::archive::tournament_games::{self, TournamentGame};

/// The interval of the rounds in which nothing wakes the runner.
const INTERVAL: Duration = Duration::from_millis(500);

/// The number of rounds from one search for lost tables, and for sit-and-go tournaments that bots
/// complete, to the next.
const ROUNDS_PER_SEARCH: u32 = 10;

impl Tournaments {
    /// Runs the tournaments until it is dropped.
    pub async fn run(self) {
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut round = 0_u32;
        loop {
            tokio::select! {
                _ = ticks.tick() => round = round.wrapping_add(1),
                () = self.inner.changed.notified() => {}
                () = self.inner.lobby.tables().wait_for_tournament_game() => {}
            }
            if let Err(error) = self.run_round(round.is_multiple_of(ROUNDS_PER_SEARCH)).await {
                tracing::warn!(%error, "a round of the tournaments is repeated later");
            }
        }
    }

    /// Goes on with every tournament as far as possible now. A round that `searches` also finds lost
    /// tables, and sit-and-go tournaments that bots complete.
    pub async fn run_round(&self, searches: bool) -> Result<(), TournamentError> {
        let pool = &self.inner.pool;
        self.remind_players().await?;
        let mut due = tournament_games::tournaments_with_unscored_games(pool).await?;
        due.extend(store::due_tournaments(pool, self.now()).await?);
        due.sort_unstable();
        due.dedup();
        for id in due {
            if let Err(error) = self.go_on(id).await {
                tracing::warn!(tournament = %id, %error, "a tournament goes on later");
            }
        }
        if searches {
            self.complete_waiting().await?;
            for id in store::running_tournaments(pool).await? {
                self.reopen_lost_tables(id).await?;
            }
        }
        Ok(())
    }

    async fn go_on(&self, id: TournamentId) -> Result<(), TournamentError> {
        for game in tournament_games::unscored_games(&self.inner.pool, id).await? {
            self.score(id, game).await?;
        }
        self.run_effects(id).await
    }

    /// Scores a stored game once.
    async fn score(&self, id: TournamentId, game: TournamentGame) -> Result<(), TournamentError> {
        let table = TableNumber { round: game.round, table: game.table_number };
        let score = |score: &tournament_games::TournamentScore| GameScore {
            player: score.player,
            points: score.points,
            is_absent: score.is_absent,
        };
        let scores = game.scores.iter().map(score).collect();
        let input = Input::GameScored { table, game: game.number, scores };
        match self.submit_with(id, input, LineWrite::Game(game.game)).await {
            Ok(_) => Ok(()),
            // A game that came too late, or that another node has scored.
            Err(TournamentError::Rejected(rejection)) => {
                tracing::debug!(tournament = %id, game = %game.game, %rejection, "a game is not scored");
                let version = self.load(id).await?.version;
                let mut connection = self.inner.pool.acquire().await?;
                tournament_games::mark_scored_in_tx(&mut connection, game.game, version).await?;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Opens the tables again that live state has lost, for the games that are left.
    async fn reopen_lost_tables(&self, id: TournamentId) -> Result<(), TournamentError> {
        let replica = self.load(id).await?;
        let open = replica.tournament.open_tables();
        let ids: Vec<_> = open.iter().map(|table| table.number.table_id(id)).collect();
        let lost = self.inner.lobby.lost_tables(&ids).await?;
        for table in open {
            if lost.contains(&table.number.table_id(id)) {
                tracing::warn!(tournament = %id, table = %table.number, "a lost table is opened again");
                self.open_table(id, &replica.tournament, &table).await?;
            }
        }
        Ok(())
    }
}
