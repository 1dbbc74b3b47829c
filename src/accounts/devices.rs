//! What players see of their sessions and devices, and how they end them: one, or all at once.
//!
//! Whatever ends here ends as signing out does: access tokens are refused and sockets closed on
//! every node within a second, and refresh tokens are worth nothing at once. Ending sessions does
//! not forget devices, which sign in by themselves; a player with another way in may forget those
//! too.

use std::fmt;
use std::str::FromStr;

use jiff_sqlx::Timestamp as SqlTimestamp;
use uuid::Uuid;

use crate::auth::Player;
use crate::clock::{self, Timestamp};
use crate::db::{self, Page};
use crate::ids::{PlayerId, SessionId};

use super::transaction::{self, TransactionError};
use super::sessions::{self, SessionEnd};
use super::{
    AccountError, Accounts, DeviceId, Method, REFRESH_TOKEN_LIFE, from_sql, locks, to_sql,
};

/// The most that one page holds; a larger wish gets this.
const PAGE_MAX: u32 = 100;

/// A session that can still be used, as its player sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSession {
    pub id: SessionId,
    pub method: Method,
    /// What the client calls itself.
    pub user_agent: Option<String>,
    /// Where it was last refreshed from.
    pub address: Option<String>,
    pub created_at: Timestamp,
    pub last_seen_at: Timestamp,
    /// Whether it is the one that asks.
    pub is_current: bool,
}

/// Where a page of sessions begins. Ids ascend with time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionCursor(SessionId);

impl fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.0.simple(), f)
    }
}

impl FromStr for SessionCursor {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }
}

impl Accounts {
    /// The player's sessions that have not ended, newest first.
    pub async fn sessions(
        &self,
        player: &Player,
        cursor: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Page<LiveSession, SessionCursor>, AccountError> {
        let limit = limit.clamp(1, PAGE_MAX);
        let now = self.clock.now();
        // A session that was not refreshed for so long has no refresh token any more.
        let seen_after = clock::before(now, REFRESH_TOKEN_LIFE);
        let below = cursor.map_or(Uuid::max(), |cursor| cursor.0.0);
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
                below,
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            let id = SessionId(row.id);
            Ok(LiveSession {
                id,
                method: Method::from_column(&row.method)?,
                user_agent: row.user_agent,
                address: row.address,
                created_at: from_sql(row.created_at),
                last_seen_at: from_sql(row.last_seen_at),
                is_current: id == player.session,
            })
        });
        let rows = rows.collect::<Result<Vec<_>, AccountError>>()?;
        Ok(Page::from_rows(rows, limit, |last| SessionCursor(last.id)))
    }

    /// Ends one session of the player, whichever it is. One that has ended stays as it is.
    ///
    /// # Errors
    /// [`AccountError::SessionNotFound`] when the player has never had it.
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
                sessions::end_session(&mut connection, session, SessionEnd::SignedOut, now).await?;
            }
            Ok(is_there)
        };
        if !db::retry(once).await? {
            return Err(AccountError::SessionNotFound);
        }
        self.auth.revocations().insert(session, now);
        Ok(())
    }

    /// Ends all sessions of the player, this one too.
    pub async fn sign_out_everywhere(&self, player: &Player) -> Result<(), AccountError> {
        let now = self.clock.now();
        let once = || async {
            let mut tx = self.pool.begin().await?;
            let why = SessionEnd::SignedOut;
            let ended = sessions::end_sessions(&mut tx, player.id, None, why, now).await?;
            tx.commit().await?;
            Ok(ended)
        };
        let ended = db::retry(once).await?;
        // When the first answer was lost, the second one names none.
        for session in ended.into_iter().chain([player.session]) {
            self.auth.revocations().insert(session, now);
        }
        Ok(())
    }

    /// Gives a device of the player another id. The old one ends, and so do all other sessions of the
    /// player, which may be those of whoever has a copy.
    ///
    /// # Errors
    /// [`AccountError::DeviceWrong`] when the device is not the player's,
    /// [`AccountError::DeviceTaken`] when the new id is another's.
    pub async fn change_device(
        &self,
        player: &Player,
        old: &DeviceId,
        new: &DeviceId,
    ) -> Result<(), AccountError> {
        let now = self.clock.now();
        let (old, new) = (old.hash(), new.hash());
        let once = || self.change_device_once(player, [&old, &new], now);
        for session in transaction::retry(once).await? {
            self.auth.revocations().insert(session, now);
        }
        Ok(())
    }

    /// Gives the sessions that ended.
    async fn change_device_once(
        &self,
        player: &Player,
        [old, new]: [&[u8; 32]; 2],
        now: Timestamp,
    ) -> Result<Vec<SessionId>, TransactionError> {
        let mut tx = self.pool.begin().await?;
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
            // The same call has done it, and its answer was lost.
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
        // Sessions tell by the device who plays from one, and which places are known.
        sqlx::query!(
            "update sessions set device = $3 where player = $1 and device = $2",
            player.id.0,
            old.as_slice(),
            new.as_slice()
        )
        .execute(&mut *tx)
        .await?;
        let keep = Some(player.session);
        let ended = sessions::end_sessions(&mut tx, player.id, keep, SessionEnd::DeviceChanged, now).await?;
        tx.commit().await?;
        Ok(ended)
    }

    /// Forgets all devices, so that none of them signs the player in any more.
    ///
    /// # Errors
    /// [`AccountError::LastSignIn`] when the player has no other way in.
    pub async fn forget_devices(&self, player: &Player) -> Result<(), AccountError> {
        let once = || async {
            let mut tx = self.pool.begin().await?;
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
