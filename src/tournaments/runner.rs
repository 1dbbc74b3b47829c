//! The runner: reminds players of a start, and runs the shell's host over the tournaments that are
//! due, whose tables have stored games, or whose tables live state may have lost. Every node has one,
//! and none owns a tournament.

use std::time::Duration;

use bahay_shell::tournaments::TournamentHost;
use tokio::time::{MissedTickBehavior, interval};

use super::{TournamentError, Tournaments, store};
use crate::archive::tournament_games;

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
            if let Err(error) = self.run_host(id, TournamentHost::go_on()).await {
                tracing::warn!(tournament = %id, %error, "a tournament goes on later");
            }
        }
        if searches {
            self.complete_waiting().await?;
            for id in store::running_tournaments(pool).await? {
                self.run_host(id, TournamentHost::reopen_lost_tables()).await?;
            }
        }
        Ok(())
    }
}
