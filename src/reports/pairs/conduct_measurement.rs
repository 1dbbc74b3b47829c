//! A job that measures the conduct in the games of tournaments, from their records.
//!
//! A tournament notes a game before it is measured. Portions bound the memory; each is stored by
//! itself, so an interrupted run loses at most one. A record that cannot be replayed is stored
//! without figures, so that it is not read again; the verification of records reports it.

use std::panic::catch_unwind;
use std::time::Duration;

use sqlx::PgPool;
use uuid::Uuid;

use super::conduct::{SeatConduct, measure_conduct};
use crate::archive::tournament_games::{UnmeasuredGame, store_conduct, unmeasured_games};

/// The time from one search for games to the next.
pub const PERIOD: Duration = Duration::from_mins(1);

/// The number of games that are measured at a time. A node that stops waits for them.
const PORTION: u32 = 50;

/// Measures the games of tournaments. Clones share the pool.
#[derive(Clone, Debug)]
pub struct ConductMeasurement {
    pool: PgPool,
}

impl ConductMeasurement {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Measures all games that tournaments have noted since the last run.
    ///
    /// # Errors
    ///
    /// Returns an error if the database does not respond; what is stored remains.
    pub async fn measure_due(&self) -> Result<(), sqlx::Error> {
        loop {
            let games = unmeasured_games(&self.pool, PORTION).await?;
            let is_last = games.len() < PORTION as usize;
            let measured = tokio::task::spawn_blocking(move || measure(games));
            let (games, conduct) =
                measured.await.map_err(|error| sqlx::Error::Io(std::io::Error::other(error)))?;
            store_conduct(&self.pool, &games, &conduct).await?;
            if is_last {
                return Ok(());
            }
        }
    }
}

/// Returns the games with their conduct as JSON.
fn measure(games: Vec<UnmeasuredGame>) -> (Vec<Uuid>, Vec<String>) {
    let measured = games.into_iter().map(|game| {
        let conduct = measure_game(&game);
        (game.game, serde_json::to_string(&conduct).unwrap_or_else(|_| "[]".into()))
    });
    measured.unzip()
}

/// Returns the conduct in a game by seat; empty if it cannot be measured. A panic of the AI does not
/// keep the other games from being measured.
fn measure_game(UnmeasuredGame { game, record }: &UnmeasuredGame) -> Vec<SeatConduct> {
    let Some(record) = record else { return Vec::new() };
    match catch_unwind(|| measure_conduct(record)) {
        Ok(Ok(conduct)) => return conduct,
        Ok(Err(error)) => {
            tracing::warn!(%game, %error, "the conduct of a game cannot be measured");
        }
        Err(_) => tracing::error!(%game, "the measurement of a game's conduct panicked"),
    }
    Vec::new()
}
