//! The sessions in PostgreSQL, for whoever asks whether one exists: see [`crate::auth`].

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::time::timeout;

use crate::auth::{Looked, SessionBook, Unread};
use crate::db;
use crate::ids::{PlayerId, SessionId};

/// The longest that a session is looked up; who returns to a table waits for it.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The book of sessions.
pub fn session_book(pool: PgPool) -> Arc<dyn SessionBook> {
    Arc::new(Book { pool })
}

#[derive(Debug)]
struct Book {
    pool: PgPool,
}

impl SessionBook for Book {
    fn player_of(&self, session: SessionId) -> Looked<'_> {
        Box::pin(async move {
            let once = || {
                sqlx::query_scalar!(
                    "select player from sessions where id = $1 and revoked_at is null",
                    session.0
                )
                .fetch_optional(&self.pool)
            };
            match timeout(TIMEOUT, db::retry(once)).await {
                Ok(Ok(player)) => Ok(player.map(PlayerId)),
                Ok(Err(error)) => {
                    tracing::warn!(%error, "a session could not be looked up");
                    Err(Unread)
                }
                Err(_) => {
                    tracing::warn!("a session could not be looked up in time");
                    Err(Unread)
                }
            }
        })
    }
}
