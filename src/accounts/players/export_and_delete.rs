//! The export of a player's data, and the deletion of an account.
//!
//! Deletion removes all identifying data: name, avatar, time zone, devices, password, identities,
//! blocks and mutes, and the origins recorded in sessions. Booked data stays under an id that
//! identifies nobody, since the books would not balance without it and games have other players.

use bahay_api::Time;
use bahay_api::player::export::{ExportedDevice, ExportedSession};
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::accounts::sessions::{self, SessionEnd};
use crate::accounts::transaction::{self, TransactionError};
use crate::accounts::{AccountError, Accounts, Avatar, Method, from_sql, locks, to_sql};
use crate::auth::Player;
use crate::clock::Timestamp;
use crate::db;
use crate::ids::{PlayerId, SessionId};
use crate::ledger;

/// The name of deleted players. It contains a reserved word, so that no player can choose it.
const DELETED_NAME: &str = "Deleted player";

impl Accounts {
    /// Returns the devices of a player, oldest first.
    pub async fn list_devices(
        &self,
        player: PlayerId,
    ) -> Result<Vec<ExportedDevice>, AccountError> {
        let once = || {
            sqlx::query!(
                r#"
                select created_at as "created_at: SqlTimestamp",
                    last_seen_at as "last_seen_at: SqlTimestamp"
                from devices
                where player = $1
                order by created_at
                "#,
                player.0
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        let held = rows.map(|row| ExportedDevice {
            created_at: from_sql(row.created_at).into(),
            last_seen_at: from_sql(row.last_seen_at).into(),
        });
        Ok(held.collect())
    }

    /// Returns up to `limit` of the sessions that a player has ever had, oldest first, starting
    /// behind `after`.
    pub async fn list_session_records(
        &self,
        player: PlayerId,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<ExportedSession>, AccountError> {
        let once = || {
            sqlx::query!(
                r#"
                select id, method, user_agent, address, created_at as "created_at: SqlTimestamp",
                    last_seen_at as "last_seen_at: SqlTimestamp",
                    revoked_at as "revoked_at: SqlTimestamp", revoke_reason
                from sessions
                where player = $1 and ($2::uuid is null or id > $2)
                order by id
                limit $3
                "#,
                player.0,
                after,
                i64::from(limit)
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            Ok(ExportedSession {
                id: row.id,
                method: Method::from_column(&row.method)?.as_str(),
                user_agent: row.user_agent,
                address: row.address,
                created_at: from_sql(row.created_at).into(),
                last_seen_at: from_sql(row.last_seen_at).into(),
                ended_at: row.revoked_at.map(|at| Time::from(from_sql(at))),
                end_reason: row.revoke_reason,
            })
        });
        rows.collect()
    }

    /// Deletes the account. The call is idempotent.
    ///
    /// # Errors
    /// [`AccountError::InGame`] while the player has coins in a game or a tournament;
    /// [`AccountError::SessionEnded`] if the session that makes the request has ended.
    pub async fn delete(&self, player: &Player) -> Result<(), AccountError> {
        let now = self.clock.now();
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            let ended = erase(&mut tx, player, now).await?;
            tx.commit().await?;
            Ok(ended)
        };
        let ended = transaction::retry(once).await?;
        self.revoke_sessions_on_node(ended.into_iter().chain([player.session]), now);
        Ok(())
    }
}

async fn erase(
    tx: &mut PgConnection,
    holder: &Player,
    now: Timestamp,
) -> Result<Vec<SessionId>, TransactionError> {
    let player = holder.id;
    // The row lock also blocks inserts that refer to the player, such as blocks and notes.
    let is_there = sqlx::query_scalar!(
        r#"select deleted_at is null as "is_there!" from players where id = $1 for update"#,
        player.0
    );
    // If the player is deleted already, an earlier attempt of this call has succeeded and its
    // answer was lost.
    if is_there.fetch_optional(&mut *tx).await? == Some(true) {
        locks::lock_session(tx, holder).await?;
    }
    // Waits for a game that is being opened, and blocks new ones.
    ledger::lock_wallet_in_tx(tx, player).await?;
    let is_playing = sqlx::query_scalar!(
        r#"
        select exists (
            select from game_players where player = $1 and finished_at is null
        ) or exists (
            select
            from tournament_entrants e
            join tournaments t on t.id = e.tournament
            where e.player = $1 and t.closed_at is null
        ) as "playing!"
        "#,
        player.0
    );
    if is_playing.fetch_one(&mut *tx).await? {
        return Err(AccountError::InGame.into());
    }
    let ended = sessions::end_sessions(tx, player, None, SessionEnd::Deleted, now).await?;
    sqlx::query!(
        r#"
        update players
        set name = $2, avatar = $3, time_zone = null, renamed_at = null,
            deleted_at = coalesce(deleted_at, $4)
        where id = $1
        "#,
        player.0,
        DELETED_NAME,
        Avatar::default().as_str(),
        to_sql(now) as _
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!("delete from name_skeletons where player = $1", player.0)
        .execute(&mut *tx)
        .await?;
    sqlx::query!("delete from devices where player = $1", player.0).execute(&mut *tx).await?;
    sqlx::query!("delete from passwords where player = $1", player.0).execute(&mut *tx).await?;
    sqlx::query!("delete from identities where player = $1", player.0).execute(&mut *tx).await?;
    sqlx::query!("delete from player_notes where player = $1", player.0).execute(&mut *tx).await?;
    sqlx::query!("delete from pair_reviews where first = $1 or second = $1", player.0)
        .execute(&mut *tx)
        .await?;
    sqlx::query!("delete from tournament_passes where player = $1 and used_in is null", player.0)
        .execute(&mut *tx)
        .await?;
    sqlx::query!("delete from player_relations where player = $1", player.0)
        .execute(&mut *tx)
        .await?;
    sqlx::query!(
        r#"
        delete from refresh_tokens t
        using sessions s
        where s.id = t.session and s.player = $1
        "#,
        player.0
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        r#"
        update sessions
        set user_agent = null, address = null, network = null, device = null
        where player = $1
        "#,
        player.0
    )
    .execute(&mut *tx)
    .await?;
    Ok(ended)
}
