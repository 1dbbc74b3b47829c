//! The announcements: each group has one tournament after the other until the run is to finish.

use std::time::Duration;

use bahay::tournaments::{TournamentDraft, announce_in_tx};
use bahay_base::clock::Clock;
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use uuid::Uuid;

use super::kinds::Group;
use crate::RunError;
use crate::bots::Programme;

/// The interval at which a director looks for the end of its tournament.
const LOOK: Duration = Duration::from_millis(300);

/// The time for registration before a scheduled tournament starts.
const REGISTRATION_MS: u32 = 8_000;

/// The same for the first tournaments, before which all clients sign in, for each player.
const SIGN_IN_MS: u32 = 60;

/// The directors of all groups.
#[derive(Debug, Default)]
pub(crate) struct Directors(Vec<JoinHandle<()>>);

impl Directors {
    /// Starts a director for a group, and returns the programme that it announces.
    pub(crate) fn start(
        &mut self,
        pool: &PgPool,
        group: Group,
        players: u64,
        finishing: watch::Receiver<bool>,
    ) -> watch::Receiver<Programme> {
        let (announced, programme) = watch::channel(Programme::default());
        let direct = direct(pool.clone(), group, players, announced, finishing);
        self.0.push(tokio::spawn(direct));
        programme
    }

    /// Waits until every programme is complete.
    pub(crate) async fn end(self) -> Result<(), RunError> {
        for director in self.0 {
            director.await?;
        }
        Ok(())
    }
}

async fn direct(
    pool: PgPool,
    group: Group,
    players: u64,
    announced: watch::Sender<Programme>,
    finishing: watch::Receiver<bool>,
) {
    let mut registration_ms =
        REGISTRATION_MS + SIGN_IN_MS * u32::try_from(players).unwrap_or_default();
    while !*finishing.borrow() {
        // PostgreSQL may be down, and a commit without an answer leaves a tournament that nobody
        // enters and that is cancelled.
        let Ok(id) = announce(&pool, group, registration_ms).await else {
            sleep(LOOK).await;
            continue;
        };
        registration_ms = REGISTRATION_MS;
        announced.send_modify(|programme| programme.tournaments.push(id));
        while !is_over(&pool, id).await.unwrap_or(false) {
            sleep(LOOK).await;
        }
    }
    announced.send_modify(|programme| programme.is_complete = true);
}

async fn announce(pool: &PgPool, group: Group, registration_ms: u32) -> Result<Uuid, RunError> {
    let starts_at = Clock::system().now().after_ms(registration_ms);
    let draft = TournamentDraft { terms: group.kind.terms(group.players, starts_at), code: None };
    let mut tx = pool.begin().await?;
    let id = announce_in_tx(&mut tx, draft).await?;
    tx.commit().await?;
    Ok(id.0)
}

async fn is_over(pool: &PgPool, id: Uuid) -> Result<bool, sqlx::Error> {
    let sql = "select state in ('ended', 'cancelled') from tournaments where id = $1";
    sqlx::query_scalar(sql).bind(id).fetch_one(pool).await
}
