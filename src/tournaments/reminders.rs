//! Reminders: the notices to the players of a tournament minutes before its start.
//!
//! The time of a reminder is a column, which is cleared in the transaction of the notices. One of two
//! nodes clears it, and a node that dies before the commit leaves it to another one. A sit-and-go has
//! no reminder, and neither has a player who enters later.

use bahay_engine::table::TournamentId;
use bahay_engine::tournament::TournamentTerms;
use sqlx::{PgConnection, PgPool};

use super::{TournamentError, Tournaments, player_notices};
use crate::clock::Timestamp;
use crate::db::{self, to_sql};
use crate::notices;

/// The time from a reminder to the start, in milliseconds: five minutes.
const REMIND_BEFORE_MS: i64 = 5 * 60 * 1_000;

/// Returns the time at which the players of a tournament are reminded of its start, if it has one.
pub(super) fn reminder_time(terms: &TournamentTerms) -> Option<Timestamp> {
    terms.starts_at.map(|start| Timestamp::from_ms(start.ms() - REMIND_BEFORE_MS))
}

impl Tournaments {
    /// Reminds the players of the tournaments that start soon, each once.
    pub(super) async fn remind_players(&self) -> Result<(), TournamentError> {
        for id in due_reminders(&self.inner.pool, self.now()).await? {
            if let Err(error) = self.remind_players_of(id).await {
                tracing::warn!(tournament = %id, %error, "players are reminded later");
            }
        }
        Ok(())
    }

    async fn remind_players_of(&self, id: TournamentId) -> Result<(), TournamentError> {
        let replica = self.load(id).await?.replica;
        let mut tx = db::begin(&self.inner.pool).await?;
        // If the journal has gone on meanwhile, the next round reads the present entrants.
        if clear_reminder_in_tx(&mut tx, id, replica.version).await? {
            let notice = player_notices::reminder_notice(&replica.tournament);
            notices::insert_for_tournament_in_tx(&mut tx, id, &notice).await?;
            tx.commit().await?;
        }
        Ok(())
    }
}

/// Returns the announced tournaments whose reminders are due, before their start.
async fn due_reminders(pool: &PgPool, now: Timestamp) -> Result<Vec<TournamentId>, sqlx::Error> {
    let query = || {
        sqlx::query_scalar!(
            "
            select t.id
            from tournaments t
            where t.remind_at <= $1 and t.remind_at > $2 and t.state = 'announced'
            order by t.remind_at
            limit 1000
            ",
            to_sql(now) as _,
            to_sql(Timestamp::from_ms(now.ms() - REMIND_BEFORE_MS)) as _
        )
        .fetch_all(pool)
    };
    Ok(db::retry(query).await?.into_iter().map(TournamentId).collect())
}

/// Notes that a tournament's players are reminded. Returns false if they are, or if the journal is at
/// another version.
async fn clear_reminder_in_tx(
    connection: &mut PgConnection,
    id: TournamentId,
    version: i64,
) -> Result<bool, sqlx::Error> {
    let cleared = sqlx::query!(
        "update tournaments set remind_at = null
        where id = $1 and version = $2 and remind_at is not null",
        id.0,
        version
    )
    .execute(connection)
    .await?;
    Ok(cleared.rows_affected() > 0)
}
