//! Players who may not come in, or not speak, for a time or for good.
//!
//! A ban from coming in ends all sessions of its player, and every node closes their sockets within
//! a second. It takes the player's lock (`locks`), as do sign-ins and refreshes, which read the bans
//! under it: a ban that meets one leaves no session. Seats, tickets for matchmaking and the socket's
//! `join` read the bans too. A ban from speaking, a mute, is read at every phrase, so it holds on
//! every node at once. Operators make both: `operators` notes each ban and its end.

use std::fmt;
use std::str::FromStr;

use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::clock::{self, Timestamp};
use crate::db;
use crate::ids::PlayerId;
use crate::reason::Reason;

use super::transaction::TransactionError;
use super::sessions::{self, SessionEnd};
use super::{AccountError, from_sql, locks, to_sql};

/// What a player may not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SanctionKind {
    /// Come in: a ban.
    Ban,
    /// Say phrases: a mute.
    Mute,
}

/// The text names nothing that a player may be kept from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a player is kept from entry or from speech")]
pub struct ParseSanctionError;

impl FromStr for SanctionKind {
    type Err = ParseSanctionError;

    fn from_str(text: &str) -> Result<Self, ParseSanctionError> {
        [Self::Ban, Self::Mute].into_iter().find(|kind| kind.as_str() == text).ok_or(ParseSanctionError)
    }
}

impl SanctionKind {
    /// As in the column `bars`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ban => "ban",
            Self::Mute => "mute",
        }
    }

    /// What the player is told when it begins.
    const fn notice(self) -> &'static str {
        match self {
            Self::Ban => "banned",
            Self::Mute => "muted",
        }
    }

    /// What the player is told when it is lifted.
    const fn lift_notice(self) -> &'static str {
        match self {
            Self::Ban => "ban_lifted",
            Self::Mute => "mute_lifted",
        }
    }
}

/// Why a player may not come in or speak, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sanction {
    /// Told to the player.
    pub reason: Reason,
    /// `None` for good.
    pub ends_at: Option<Timestamp>,
}

impl fmt::Display for Sanction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ends_at {
            Some(ends_at) => write!(f, "until {:.0}: {}", clock::to_jiff(ends_at), self.reason),
            None => write!(f, "for good: {}", self.reason),
        }
    }
}

/// A ban as it is listed for operators and in a player's export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanctionRecord {
    pub sanction: Sanction,
    pub imposed_at: Timestamp,
    pub lifted_at: Option<Timestamp>,
}

impl SanctionRecord {
    /// Whether it holds now.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.lifted_at.is_none() && self.sanction.ends_at.is_none_or(|ends_at| ends_at > now)
    }
}

/// Why a ban was not made or lifted.
#[derive(Debug, thiserror::Error)]
pub enum SanctionError {
    #[error("there is no such player")]
    PlayerNotFound,
    #[error("the player is not banned")]
    NotBanned,
    #[error("the player is not muted")]
    NotMuted,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The bans of all players, to be read.
#[derive(Clone, Debug)]
pub struct SanctionReader {
    pool: PgPool,
}

impl SanctionReader {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// All bans of a kind that a player has had, newest first.
    pub async fn list(&self, player: PlayerId, kind: SanctionKind) -> Result<Vec<SanctionRecord>, sqlx::Error> {
        let once = || {
            sqlx::query!(
                r#"
                select reason, imposed_at as "imposed_at: SqlTimestamp",
                    ends_at as "ends_at: SqlTimestamp", lifted_at as "lifted_at: SqlTimestamp"
                from sanctions
                where player = $1 and kind = $2
                order by imposed_at desc
                "#,
                player.0,
                kind.as_str()
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        let listed = rows.map(|row| SanctionRecord {
            sanction: Sanction { reason: Reason::from_column(row.reason), ends_at: row.ends_at.map(from_sql) },
            imposed_at: from_sql(row.imposed_at),
            lifted_at: row.lifted_at.map(from_sql),
        });
        Ok(listed.collect())
    }

    /// What keeps a player from something now; the longest, if there is more than one.
    pub async fn find_in_force(
        &self,
        player: PlayerId,
        kind: SanctionKind,
        now: Timestamp,
    ) -> Result<Option<Sanction>, sqlx::Error> {
        let once = || async {
            let mut connection = self.pool.acquire().await?;
            find_in_force(&mut connection, player, kind, now).await
        };
        db::retry(once).await
    }
}

/// Bans a player in the caller's transaction; from coming in also ends its sessions. Under the same
/// id a second attempt changes nothing. False when there is no such player, or the ban is there
/// already.
pub async fn impose_in_tx(
    tx: &mut PgConnection,
    id: Uuid,
    player: PlayerId,
    kind: SanctionKind,
    sanction: &Sanction,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    // A sign-in that has been let in is over after this, and its session is found below.
    locks::lock_player(&mut *tx, player).await?;
    let banned = sqlx::query!(
        r#"
        insert into sanctions (id, player, kind, reason, imposed_at, ends_at)
        select $1, p.id, $6, $3, $4, $5
        from players p
        where p.id = $2
        on conflict (id) do nothing
        returning id
        "#,
        id,
        player.0,
        sanction.reason.as_str(),
        to_sql(now) as _,
        sanction.ends_at.map(to_sql) as _,
        kind.as_str()
    );
    let is_there = banned.fetch_optional(&mut *tx).await?.is_some();
    match kind {
        SanctionKind::Ban => {
            sessions::end_sessions(tx, player, None, SessionEnd::Banned, now).await?;
        }
        SanctionKind::Mute => {}
    }
    if is_there {
        insert_notice(tx, player, kind.notice(), now).await?;
    }
    Ok(is_there)
}

/// Lifts whatever bans of a kind a player is under, in the caller's transaction. False when none
/// was in force.
pub async fn lift_in_tx(
    tx: &mut PgConnection,
    player: PlayerId,
    kind: SanctionKind,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let lifted = sqlx::query!(
        r#"
        update sanctions
        set lifted_at = $2
        where player = $1 and kind = $3 and lifted_at is null
            and (ends_at is null or ends_at > $2)
        "#,
        player.0,
        to_sql(now) as _,
        kind.as_str()
    );
    let was_banned = lifted.execute(&mut *tx).await?.rows_affected() > 0;
    if was_banned {
        insert_notice(tx, player, kind.lift_notice(), now).await?;
    }
    Ok(was_banned)
}

/// Puts a notice into the player's inbox, in the transaction that it tells of.
async fn insert_notice(
    connection: &mut PgConnection,
    player: PlayerId,
    kind: &str,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into notices (player, kind, created_at) values ($1, $2, $3)",
        player.0,
        kind,
        to_sql(now) as _
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Rejects a player who is banned now. Under the player's lock, the answer holds until the
/// transaction ends.
pub(super) async fn check_not_banned(
    connection: &mut PgConnection,
    player: PlayerId,
    now: Timestamp,
) -> Result<(), TransactionError> {
    match find_in_force(connection, player, SanctionKind::Ban, now).await? {
        None => Ok(()),
        Some(ban) => Err(AccountError::Banned(ban).into()),
    }
}

async fn find_in_force(
    connection: &mut PgConnection,
    player: PlayerId,
    kind: SanctionKind,
    now: Timestamp,
) -> Result<Option<Sanction>, sqlx::Error> {
    let ban = sqlx::query!(
        r#"
        select reason, ends_at as "ends_at: SqlTimestamp"
        from sanctions
        where player = $1 and kind = $3 and lifted_at is null
            and (ends_at is null or ends_at > $2)
        order by ends_at desc nulls first
        limit 1
        "#,
        player.0,
        to_sql(now) as _,
        kind.as_str()
    )
    .fetch_optional(connection)
    .await?;
    Ok(ban
        .map(|row| Sanction { reason: Reason::from_column(row.reason), ends_at: row.ends_at.map(from_sql) }))
}
