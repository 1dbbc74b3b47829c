//! The lookup of sessions in PostgreSQL, for [`crate::auth`].

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::time::timeout;

use crate::auth::{LookupError, LookupFuture, SessionLookup};
use crate::db;
use crate::ids::{PlayerId, SessionId};

/// The deadline of a lookup. A player who returns to a table waits for it.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the lookup of sessions in the database.
pub fn session_lookup(pool: PgPool) -> Arc<dyn SessionLookup> {
    Arc::new(PgSessionLookup { pool })
}

#[derive(Debug)]
struct PgSessionLookup {
    pool: PgPool,
}

impl SessionLookup for PgSessionLookup {
    fn find_player(&self, session: SessionId) -> LookupFuture<'_> {
        Box::pin(async move {
            let once = || {
                sqlx::query_scalar!(
                    "select player from sessions where id = $1 and revoked_at is null",
                    session.0
                )
                .fetch_optional(&self.pool)
            };
            match timeout(TIMEOUT, db::retry(once)).await {
                Ok(Ok(player)) => return Ok(player.map(PlayerId)),
                Ok(Err(error)) => tracing::warn!(%error, "a session could not be looked up"),
                Err(_) => tracing::warn!("a session could not be looked up in time"),
            }
            Err(LookupError)
        })
    }
}
