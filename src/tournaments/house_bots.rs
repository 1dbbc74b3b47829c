//! House bots that complete the entrants of a tournament (rule 1.7).
//!
//! Every node has the same bots in the same order, and the shell's host registers the first ones that
//! are not entrants. A bot can play in several tournaments: its tables play it, and it needs no seat
//! claim.

use bahay_engine::table::TournamentId;
use bahay_shell::tournaments::TournamentHost;
use sqlx::PgPool;

use super::{TournamentError, Tournaments};
use crate::db;

impl Tournaments {
    /// Completes the sit-and-go tournaments whose players have waited for their time.
    pub(super) async fn complete_waiting(&self) -> Result<(), TournamentError> {
        for id in waiting_with_bots(&self.inner.pool).await? {
            if let Err(error) = self.run_host(id, TournamentHost::complete_with_bots()).await {
                tracing::warn!(tournament = %id, %error, "bots complete a tournament later");
            }
        }
        Ok(())
    }
}

/// Returns the tournaments with bots and without a start for which players have registered.
async fn waiting_with_bots(pool: &PgPool) -> Result<Vec<TournamentId>, sqlx::Error> {
    let query = || {
        sqlx::query_scalar!(
            "
            select t.id
            from tournaments t
            where t.state = 'announced' and t.entrants > 0 and (t.terms ->> 'bots')::boolean
                and t.terms -> 'starts_at' is null
            "
        )
        .fetch_all(pool)
    };
    Ok(db::retry(query).await?.into_iter().map(TournamentId).collect())
}
