//! The sessions in PostgreSQL, for whoever asks whether one exists: see [`crate::auth`].

use std::sync::Arc;

use sqlx::PgPool;

use crate::auth::{Looked, SessionBook, Unread};
use crate::db;
use crate::ids::{PlayerId, SessionId};

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
            let player = db::retry(once).await.map_err(|error| {
                tracing::warn!(%error, "a session could not be looked up");
                Unread
            })?;
            Ok(player.map(PlayerId))
        })
    }
}
