//! The lookup of sessions in PostgreSQL, for [`crate::auth`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bahay_batch_loader::BatchLoader;
use sqlx::PgPool;
use tokio::time::timeout;
use uuid::Uuid;

use crate::auth::{LookupError, LookupFuture, SessionLookup};
use crate::db;
use crate::ids::{PlayerId, SessionId};

/// The deadline of a lookup. A player who returns to a table waits for it.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the lookup of sessions in the database.
pub fn session_lookup(pool: PgPool) -> Arc<dyn SessionLookup> {
    let players = BatchLoader::new(move |sessions| find_players(pool.clone(), sessions));
    Arc::new(PgSessionLookup { players })
}

#[derive(Debug)]
struct PgSessionLookup {
    players: BatchLoader<SessionId, PlayerId, sqlx::Error>,
}

impl SessionLookup for PgSessionLookup {
    fn find_player(&self, session: SessionId) -> LookupFuture<'_> {
        Box::pin(async move {
            match timeout(TIMEOUT, self.players.find(session)).await {
                Ok(Ok(player)) => return Ok(player),
                Ok(Err(error)) => tracing::warn!(%error, "a session could not be looked up"),
                Err(_) => tracing::warn!("a session could not be looked up in time"),
            }
            Err(LookupError)
        })
    }
}

/// Returns the players of those sessions that exist and have not ended.
async fn find_players(
    pool: PgPool,
    sessions: Vec<SessionId>,
) -> Result<HashMap<SessionId, PlayerId>, sqlx::Error> {
    let sessions: Vec<Uuid> = sessions.into_iter().map(|session| session.0).collect();
    let once = || {
        sqlx::query!(
            "select id, player from sessions where id = any($1) and revoked_at is null",
            &sessions
        )
        .fetch_all(&pool)
    };
    let found = db::retry(once).await?.into_iter();
    Ok(found.map(|row| (SessionId(row.id), PlayerId(row.player))).collect())
}
