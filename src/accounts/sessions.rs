//! Sessions: opened by a sign-in, extended by refreshing, ended by signing out or by the reuse of a
//! refresh token. The player's own view of its sessions is in `devices`.
//!
//! A client that has lost the answer to a refresh repeats the request, and so does a duplicated
//! browser tab that refreshes beside its original. The repetition receives the same successor if it
//! comes within [`REPEAT_PERIOD`], from the session's device, which made the first request too, and
//! before the successor was used. Any other repetition is a reuse and ends the session.

mod devices;
pub(super) mod lookup;
pub(super) mod revocations;

use bahay_api::player::account::OwnProfile;
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::{PgConnection, PgExecutor, Postgres, Transaction};

use crate::auth::{Player, RefreshToken, SuccessorSalt};
use crate::clock::{self, Timestamp};
use crate::ids::{PlayerId, SessionId};
use crate::{db, entropy};

use super::transaction::TransactionError;
use super::{
    AccountError, Accounts, DeviceId, Method, REFRESH_TOKEN_LIFE, REPEAT_PERIOD, SESSION_LIFE,
    SESSIONS_MAX, Tokens, Visitor, from_sql, locks, sanctions, to_sql,
};

/// The longest user agent that is stored, in characters.
const USER_AGENT_LENGTH_MAX: usize = 200;

bahay_base::text_enum! {
    /// The reason for the end of a session, as in the column `revoke_reason`.
    pub(super) enum SessionEnd {
        SignedOut = "signed_out",
        RefreshTokenReused = "refresh_token_reused",
        PasswordChanged = "password_changed",
        DeviceChanged = "device_changed",
        Banned = "banned",
        EndedByOperator = "ended_by_operator",
        TooMany = "too_many",
        Deleted = "deleted",
    }
}

/// A session with its newest refresh token.
struct OpenedSession {
    id: SessionId,
    refresh: RefreshToken,
    refresh_expires_at: Timestamp,
}

impl Accounts {
    /// Exchanges a refresh token for new tokens of the same session. The old token is used up; its
    /// device receives the same successor again for [`REPEAT_PERIOD`]. A session without a device
    /// is bound to the first one that a refresh names.
    ///
    /// # Errors
    /// [`AccountError::RefreshTokenUnknown`], [`AccountError::SessionEnded`],
    /// [`AccountError::Banned`], [`AccountError::RefreshTokenReused`] and
    /// [`AccountError::RefreshTokenExpired`], in this order. The reuse of a token ends its session
    /// on every node.
    pub async fn refresh(
        &self,
        token: &RefreshToken,
        visitor: &Visitor,
    ) -> Result<(PlayerId, Tokens), AccountError> {
        let now = self.clock.now();
        let hash = token.hash();
        // Nothing has been written yet, so this part may be retried. The rest may not: a token
        // whose use was committed before its answer was lost must not be used again.
        let found = || async {
            let mut tx = db::begin(&self.pool).await?;
            let family = sqlx::query!(
                r#"
                select s.id, s.player
                from refresh_tokens t
                join sessions s on s.id = t.session
                where t.hash = $1
                "#,
                hash.0.as_slice()
            );
            let Some(family) = family.fetch_optional(&mut *tx).await? else {
                return Ok(None);
            };
            let player = PlayerId(family.player);
            let is_there = locks::lock_player(&mut tx, player).await?;
            Ok(Some((tx, SessionId(family.id), player, is_there)))
        };
        let found = db::retry(found).await?;
        let (mut tx, session, player, is_there) = found.ok_or(AccountError::RefreshTokenUnknown)?;
        // Signing out ends one session without the player's lock.
        let family = sqlx::query!(
            r#"
            select expires_at as "expires_at: SqlTimestamp", revoked_at is not null as "ended!",
                device, successor_salt
            from sessions
            where id = $1
            for update
            "#,
            session.0
        )
        .fetch_one(&mut *tx)
        .await?;
        if family.ended || !is_there {
            return Err(AccountError::SessionEnded);
        }
        sanctions::check_not_banned(&mut tx, player, now).await?;
        let device = visitor.device.as_ref().map(DeviceId::hash);
        let is_own_device = device.is_some_and(|device| {
            family.device.as_deref().is_none_or(|of_session| of_session == device.as_slice())
        });
        let used = sqlx::query!(
            r#"
            update refresh_tokens
            set used_at = $2
            where hash = $1 and used_at is null
            returning expires_at as "expires_at: SqlTimestamp"
            "#,
            hash.0.as_slice(),
            to_sql(now) as _
        )
        .fetch_optional(&mut *tx)
        .await?;
        let Some(used) = used else {
            let salt = family.successor_salt.filter(|_| is_own_device);
            let Some(opened) =
                find_repeated_successor(&mut tx, session, token, salt.as_deref(), now).await?
            else {
                end_session(&mut *tx, session, SessionEnd::RefreshTokenReused, now).await?;
                tx.commit().await?;
                self.revoke_sessions_on_node([session], now);
                tracing::warn!(%session, "a refresh token was reused, so its session has ended");
                return Err(AccountError::RefreshTokenReused);
            };
            if now >= opened.refresh_expires_at {
                return Err(AccountError::RefreshTokenExpired);
            }
            record_refresh(&mut tx, session, visitor, salt.as_deref(), now).await?;
            tx.commit().await?;
            tracing::info!(%session, "a device repeated a refresh and received the same successor");
            return Ok((player, self.tokens(player, opened)));
        };
        let session_expires_at = from_sql(family.expires_at);
        if now >= from_sql(used.expires_at).min(session_expires_at) {
            return Err(AccountError::RefreshTokenExpired);
        }
        // Only the device that made this request may receive the successor again.
        let salt = is_own_device.then(SuccessorSalt::random);
        let next = salt.map_or_else(RefreshToken::random, |salt| token.successor(&salt));
        record_refresh(&mut tx, session, visitor, salt.as_ref().map(|salt| &salt.0[..]), now)
            .await?;
        self.grant_due_welcome(&mut tx, player, visitor.recipient(), now).await?;
        let opened = add_token(&mut tx, session, next, session_expires_at, now).await?;
        tx.commit().await?;
        Ok((player, self.tokens(player, opened)))
    }

    /// Ends the player's session: its refresh token is void at once, and its access tokens are
    /// refused on every node within a second. The call is idempotent.
    pub async fn sign_out(&self, player: &Player) -> Result<(), AccountError> {
        let now = self.clock.now();
        let why = SessionEnd::SignedOut;
        db::retry(|| end_session(&self.pool, player.session, why, now)).await?;
        self.revoke_sessions_on_node([player.session], now);
        Ok(())
    }

    /// Opens a session for a player whose credential was verified under its lock, and commits the
    /// transaction.
    ///
    /// # Errors
    /// [`AccountError::Banned`], and [`AccountError::PlayerGone`] if the account has been deleted.
    pub(super) async fn finish_sign_in(
        &self,
        mut tx: Transaction<'_, Postgres>,
        profile: OwnProfile,
        method: Method,
        visitor: &Visitor,
        now: Timestamp,
    ) -> Result<(OwnProfile, Tokens), TransactionError> {
        let player = PlayerId(profile.id);
        let opened = open_session(&mut tx, player, method, visitor, now).await?;
        tx.commit().await?;
        let tokens = self.tokens(player, opened);
        Ok((profile, tokens))
    }

    fn tokens(&self, player: PlayerId, opened: OpenedSession) -> Tokens {
        Tokens {
            session: opened.id,
            access: self.auth.access_token(player, opened.id),
            refresh: opened.refresh,
            refresh_expires_at: opened.refresh_expires_at,
        }
    }
}

/// Opens a session. Beyond [`SESSIONS_MAX`] the least recently used sessions end. The caller has
/// verified the credential under its lock.
///
/// # Errors
/// The player is banned, or the account is deleted.
async fn open_session(
    connection: &mut PgConnection,
    player: PlayerId,
    method: Method,
    visitor: &Visitor,
    now: Timestamp,
) -> Result<OpenedSession, TransactionError> {
    if !locks::lock_player(&mut *connection, player).await? {
        return Err(AccountError::PlayerGone.into());
    }
    sanctions::check_not_banned(&mut *connection, player, now).await?;
    end_oldest(&mut *connection, player, now).await?;
    let session = SessionId(entropy::uuid());
    let expires_at = clock::add(now, SESSION_LIFE);
    let user_agent = visitor.user_agent.as_deref().map(|text| {
        let visible = text.chars().filter(|letter| !letter.is_control());
        visible.take(USER_AGENT_LENGTH_MAX).collect::<String>()
    });
    let device = visitor.device.as_ref().map(|device| device.hash().to_vec());
    sqlx::query!(
        r#"
        insert into sessions (
            id, player, created_at, last_seen_at, expires_at, method, user_agent, address, device,
            network
        )
        values ($1, $2, $3, $3, $4, $5, $6, $7, $8, $9)
        "#,
        session.0,
        player.0,
        to_sql(now) as _,
        to_sql(expires_at) as _,
        method.as_str(),
        user_agent,
        visitor.address,
        device,
        visitor.network
    )
    .execute(&mut *connection)
    .await?;
    Ok(add_token(connection, session, RefreshToken::random(), expires_at, now).await?)
}

/// Ends the least recently used sessions to make room for one more. Nodes learn of these by
/// polling, like all revocations.
async fn end_oldest(
    connection: &mut PgConnection,
    player: PlayerId,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    let others_max = i64::try_from(SESSIONS_MAX - 1).unwrap_or(i64::MAX);
    // A locked session is being refreshed or ended, and is skipped.
    sqlx::query!(
        r#"
        update sessions
        set revoked_at = $2, revoked_in = pg_current_xact_id(), revoke_reason = $5
        where id in (
            select o.id
            from sessions o
            where o.id in (
                select s.id
                from sessions s
                where s.player = $1 and s.revoked_at is null and s.expires_at > $2
                    and s.last_seen_at > $3
                order by s.last_seen_at desc, s.id desc
                offset $4
            )
            for update skip locked
        )
        "#,
        player.0,
        to_sql(now) as _,
        to_sql(clock::subtract(now, REFRESH_TOKEN_LIFE)) as _,
        others_max,
        SessionEnd::TooMany.as_str()
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Ends all sessions of a player except `keep`, including those that are being opened. Returns the
/// ended sessions.
pub(super) async fn end_sessions(
    connection: &mut PgConnection,
    player: PlayerId,
    keep: Option<SessionId>,
    reason: SessionEnd,
    now: Timestamp,
) -> Result<Vec<SessionId>, sqlx::Error> {
    locks::lock_player(&mut *connection, player).await?;
    let ended = sqlx::query_scalar!(
        r#"
        update sessions
        set revoked_at = $3, revoked_in = pg_current_xact_id(), revoke_reason = $4
        where player = $1 and revoked_at is null and expires_at > $3
            and ($2::uuid is null or id <> $2)
        returning id
        "#,
        player.0,
        keep.map(|session| session.0),
        to_sql(now) as _,
        reason.as_str()
    )
    .fetch_all(connection)
    .await?;
    Ok(ended.into_iter().map(SessionId).collect())
}

/// Ends all sessions of a player by an operator's order, in the caller's transaction, and returns
/// their number. Nodes learn of these by polling, like all revocations.
pub async fn end_sessions_in_tx(
    connection: &mut PgConnection,
    player: PlayerId,
    now: Timestamp,
) -> Result<u64, sqlx::Error> {
    let ended = end_sessions(connection, player, None, SessionEnd::EndedByOperator, now).await?;
    Ok(u64::try_from(ended.len()).unwrap_or(u64::MAX))
}

/// Records the last refresh of a session: its time, origin and device, and the salt of the newest
/// token.
async fn record_refresh(
    connection: &mut PgConnection,
    session: SessionId,
    visitor: &Visitor,
    salt: Option<&[u8]>,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    let device = visitor.device.as_ref().map(|device| device.hash().to_vec());
    sqlx::query!(
        r#"
        update sessions
        set last_seen_at = $2, address = coalesce($3, address), network = coalesce($4, network),
            device = coalesce(device, $5), successor_salt = $6
        where id = $1
        "#,
        session.0,
        to_sql(now) as _,
        visitor.address,
        visitor.network,
        device,
        salt
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Returns the successor of a used token if it may be issued again: the token was used within
/// [`REPEAT_PERIOD`], and the successor is unused. A used successor proves that its owner has
/// received the answer.
async fn find_repeated_successor(
    connection: &mut PgConnection,
    session: SessionId,
    used: &RefreshToken,
    salt: Option<&[u8]>,
    now: Timestamp,
) -> Result<Option<OpenedSession>, sqlx::Error> {
    let Some(salt) = salt.and_then(|salt| salt.try_into().ok()) else {
        return Ok(None);
    };
    let refresh = used.successor(&SuccessorSalt(salt));
    let used = used.hash();
    let next = refresh.hash();
    let expires_at = sqlx::query_scalar!(
        r#"
        select n.expires_at as "expires_at: SqlTimestamp"
        from refresh_tokens t
        join refresh_tokens n on n.session = t.session
        where t.hash = $1 and n.hash = $2 and t.session = $3 and t.used_at > $4
            and n.used_at is null
        "#,
        used.0.as_slice(),
        next.0.as_slice(),
        session.0,
        to_sql(clock::subtract(now, REPEAT_PERIOD)) as _
    )
    .fetch_optional(connection)
    .await?;
    Ok(expires_at.map(|at| OpenedSession {
        id: session,
        refresh,
        refresh_expires_at: from_sql(at),
    }))
}

/// Adds a refresh token to the session's family. The token expires no later than its session.
async fn add_token(
    connection: &mut PgConnection,
    session: SessionId,
    refresh: RefreshToken,
    session_expires_at: Timestamp,
    now: Timestamp,
) -> Result<OpenedSession, sqlx::Error> {
    let hash = refresh.hash();
    let refresh_expires_at = clock::add(now, REFRESH_TOKEN_LIFE).min(session_expires_at);
    sqlx::query!(
        r#"
        insert into refresh_tokens (hash, session, issued_at, expires_at)
        values ($1, $2, $3, $4)
        "#,
        hash.0.as_slice(),
        session.0,
        to_sql(now) as _,
        to_sql(refresh_expires_at) as _
    )
    .execute(connection)
    .await?;
    Ok(OpenedSession { id: session, refresh, refresh_expires_at })
}

pub(super) async fn end_session(
    executor: impl PgExecutor<'_>,
    session: SessionId,
    reason: SessionEnd,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        update sessions
        set revoked_at = $2, revoked_in = pg_current_xact_id(), revoke_reason = $3
        where id = $1 and revoked_at is null
        "#,
        session.0,
        to_sql(now) as _,
        reason.as_str()
    )
    .execute(executor)
    .await?;
    Ok(())
}
