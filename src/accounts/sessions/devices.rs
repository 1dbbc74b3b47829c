//! A player's own view of its sessions and devices, and the operations that end them.
//!
//! Ending a session here has the effect of signing out: within a second every node refuses its
//! access tokens and closes its sockets, and its refresh token is void at once. Ending sessions
//! does not remove devices, which can sign in again; a player with another sign-in method may
//! remove the devices too.

use bahay_api::player::sign_in::Session;
use jiff_sqlx::Timestamp as SqlTimestamp;
use uuid::Uuid;

use crate::accounts::sessions::{self, SessionEnd};
use crate::accounts::transaction::{self, TransactionError};
use crate::accounts::{
    AccountError, Accounts, DeviceId, Method, REFRESH_TOKEN_LIFE, from_sql, locks, to_sql,
};
use crate::auth::Player;
use crate::clock::{self, Timestamp};
use crate::db::{self, Page};
use crate::ids::{PlayerId, SessionId};

/// The largest page; a larger limit is reduced to it.
const PAGE_MAX: u32 = 100;

impl Accounts {
    /// Returns a page of the player's live sessions, newest first, starting below an id. Ids ascend
    /// with time.
    pub async fn sessions(
        &self,
        player: &Player,
        below: Option<Uuid>,
        limit: u32,
    ) -> Result<Page<Session, Uuid>, AccountError> {
        let limit = limit.clamp(1, PAGE_MAX);
        let now = self.clock.now();
        // A session that was not refreshed since then has no valid refresh token.
        let seen_after = clock::subtract(now, REFRESH_TOKEN_LIFE);
        let once = || {
            sqlx::query!(
                r#"
                select id, method, user_agent, address, created_at as "created_at: SqlTimestamp",
                    last_seen_at as "last_seen_at: SqlTimestamp"
                from sessions
                where player = $1 and revoked_at is null and expires_at > $2
                    and last_seen_at > $3 and id < $4
                order by id desc
                limit $5
                "#,
                player.id.0,
                to_sql(now) as _,
                to_sql(seen_after) as _,
                below.unwrap_or(Uuid::max()),
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            Ok(Session {
                id: row.id,
                method: Method::from_column(&row.method)?.as_str(),
                user_agent: row.user_agent,
                address: row.address,
                created_at: from_sql(row.created_at).into(),
                last_seen_at: from_sql(row.last_seen_at).into(),
                current: row.id == player.session.0,
            })
        });
        let rows = rows.collect::<Result<Vec<_>, AccountError>>()?;
        Ok(Page::from_rows(rows, limit, |last| last.id))
    }

    /// Ends one session of the player. A session that has ended stays unchanged.
    ///
    /// # Errors
    /// [`AccountError::SessionNotFound`] if the player has never had the session.
    pub async fn end_session(
        &self,
        player: &Player,
        session: SessionId,
    ) -> Result<(), AccountError> {
        let now = self.clock.now();
        let once = || async {
            let mut connection = self.pool.acquire().await?;
            let found = sqlx::query_scalar!(
                r#"select 1 as "one!" from sessions where id = $1 and player = $2"#,
                session.0,
                player.id.0
            );
            let is_there = found.fetch_optional(&mut *connection).await?.is_some();
            if is_there {
                sessions::end_session(&mut *connection, session, SessionEnd::SignedOut, now)
                    .await?;
            }
            Ok(is_there)
        };
        if !db::retry(once).await? {
            return Err(AccountError::SessionNotFound);
        }
        self.revoke_sessions_on_node([session], now);
        Ok(())
    }

    /// Ends all sessions of the player, including the current one.
    pub async fn sign_out_everywhere(&self, player: &Player) -> Result<(), AccountError> {
        let now = self.clock.now();
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            let why = SessionEnd::SignedOut;
            let ended = sessions::end_sessions(&mut tx, player.id, None, why, now).await?;
            tx.commit().await?;
            Ok(ended)
        };
        let ended = db::retry(once).await?;
        // If the answer of the first attempt was lost, the second attempt returns no sessions.
        self.revoke_sessions_on_node(ended.into_iter().chain([player.session]), now);
        Ok(())
    }

    /// Replaces the id of one of the player's devices. All other sessions of the player end,
    /// because a party with a copy of the old id may have opened them.
    ///
    /// # Errors
    /// [`AccountError::DeviceWrong`] if the device is not the player's,
    /// [`AccountError::DeviceTaken`] if the new id belongs to another player.
    pub async fn change_device(
        &self,
        player: &Player,
        old: &DeviceId,
        new: &DeviceId,
    ) -> Result<(), AccountError> {
        let now = self.clock.now();
        let old = old.hash();
        let new = new.hash();
        let once = || self.change_device_once(player, [&old, &new], now);
        self.revoke_sessions_on_node(transaction::retry(once).await?, now);
        Ok(())
    }

    /// Runs one attempt of [`Accounts::change_device`] and returns the sessions that ended.
    async fn change_device_once(
        &self,
        player: &Player,
        [old, new]: [&[u8; 32]; 2],
        now: Timestamp,
    ) -> Result<Vec<SessionId>, TransactionError> {
        let mut tx = db::begin(&self.pool).await?;
        locks::lock_session(&mut tx, player).await?;
        let known = sqlx::query!(
            r#"
            select id_hash = $1 as "is_old!", player
            from devices
            where id_hash in ($1, $2)
            "#,
            old.as_slice(),
            new.as_slice()
        );
        let known = known.fetch_all(&mut *tx).await?;
        let owner = |is_old: bool| {
            known.iter().find(|row| row.is_old == is_old).map(|row| PlayerId(row.player))
        };
        match (owner(true), owner(false)) {
            // An earlier attempt of this call has succeeded, and its answer was lost.
            (None, Some(of_new)) if of_new == player.id => return Ok(Vec::new()),
            (Some(of_old), None) if of_old == player.id => {}
            (Some(of_old), Some(_)) if of_old == player.id => {
                return Err(AccountError::DeviceTaken.into());
            }
            (Some(_) | None, Some(_) | None) => return Err(AccountError::DeviceWrong.into()),
        }
        sqlx::query!(
            "update devices set id_hash = $2 where id_hash = $1",
            old.as_slice(),
            new.as_slice()
        )
        .execute(&mut *tx)
        .await?;
        // The device of a session identifies players of one device and trusted origins, so it
        // follows the change.
        sqlx::query!(
            "update sessions set device = $3 where player = $1 and device = $2",
            player.id.0,
            old.as_slice(),
            new.as_slice()
        )
        .execute(&mut *tx)
        .await?;
        let keep = Some(player.session);
        let ended =
            sessions::end_sessions(&mut tx, player.id, keep, SessionEnd::DeviceChanged, now)
                .await?;
        tx.commit().await?;
        Ok(ended)
    }

    /// Removes all devices of the player, so that none of them can sign in.
    ///
    /// # Errors
    /// [`AccountError::LastSignIn`] if the player has no other sign-in method.
    pub async fn forget_devices(&self, player: &Player) -> Result<(), AccountError> {
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            locks::lock_session(&mut tx, player).await?;
            let has_other = sqlx::query_scalar!(
                r#"
                select exists (select from passwords where player = $1)
                    or exists (select from identities where player = $1) as "other!"
                "#,
                player.id.0
            );
            if !has_other.fetch_one(&mut *tx).await? {
                return Err(AccountError::LastSignIn.into());
            }
            sqlx::query!("delete from devices where player = $1", player.id.0)
                .execute(&mut *tx)
                .await?;
            tx.commit().await?;
            Ok(())
        };
        transaction::retry(once).await
    }
}
