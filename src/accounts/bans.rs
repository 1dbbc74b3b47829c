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

use super::attempts::Failed;
use super::sessions::{self, End};
use super::{AccountError, from_sql, locks, to_sql};

/// What a player may not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// Come in: a ban.
    Entry,
    /// Say phrases: a mute.
    Speech,
}

/// The text names nothing that a player may be kept from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a player is kept from entry or from speech")]
pub struct NotABar;

impl FromStr for Bar {
    type Err = NotABar;

    fn from_str(text: &str) -> Result<Self, NotABar> {
        [Self::Entry, Self::Speech].into_iter().find(|bar| bar.as_str() == text).ok_or(NotABar)
    }
}

impl Bar {
    /// As in the column `bars`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Speech => "speech",
        }
    }

    /// What the player is told when it begins.
    const fn notice(self) -> &'static str {
        match self {
            Self::Entry => "banned",
            Self::Speech => "muted",
        }
    }

    /// What the player is told when it is lifted.
    const fn notice_of_end(self) -> &'static str {
        match self {
            Self::Entry => "ban_lifted",
            Self::Speech => "mute_lifted",
        }
    }
}

/// Why a player may not come in or speak, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ban {
    /// Told to the player.
    pub reason: Reason,
    /// `None` for good.
    pub ends_at: Option<Timestamp>,
}

impl fmt::Display for Ban {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ends_at {
            Some(ends_at) => write!(f, "until {:.0}: {}", clock::to_jiff(ends_at), self.reason),
            None => write!(f, "for good: {}", self.reason),
        }
    }
}

/// A ban as it is listed for operators and in a player's export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub ban: Ban,
    pub banned_at: Timestamp,
    pub lifted_at: Option<Timestamp>,
}

impl Listed {
    /// Whether it holds now.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.lifted_at.is_none() && self.ban.ends_at.is_none_or(|ends_at| ends_at > now)
    }
}

/// Why a ban was not made or lifted.
#[derive(Debug, thiserror::Error)]
pub enum BanError {
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
pub struct Bans {
    pool: PgPool,
}

impl Bans {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// All bans of a kind that a player has had, newest first.
    pub async fn of(&self, player: PlayerId, bar: Bar) -> Result<Vec<Listed>, sqlx::Error> {
        let once = || {
            sqlx::query!(
                r#"
                select reason, banned_at as "banned_at: SqlTimestamp",
                    ends_at as "ends_at: SqlTimestamp", lifted_at as "lifted_at: SqlTimestamp"
                from bans
                where player = $1 and bars = $2
                order by banned_at desc
                "#,
                player.0,
                bar.as_str()
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        let listed = rows.map(|row| Listed {
            ban: Ban { reason: Reason::stored(row.reason), ends_at: row.ends_at.map(from_sql) },
            banned_at: from_sql(row.banned_at),
            lifted_at: row.lifted_at.map(from_sql),
        });
        Ok(listed.collect())
    }

    /// What keeps a player from something now; the longest, if there is more than one.
    pub async fn in_force(
        &self,
        player: PlayerId,
        bar: Bar,
        now: Timestamp,
    ) -> Result<Option<Ban>, sqlx::Error> {
        let once = || async {
            let mut connection = self.pool.acquire().await?;
            in_force(&mut connection, player, bar, now).await
        };
        db::retry(once).await
    }
}

/// Bans a player in the caller's transaction; from coming in also ends its sessions. Under the same
/// id a second attempt changes nothing. False when there is no such player, or the ban is there
/// already.
pub async fn add_in_tx(
    tx: &mut PgConnection,
    id: Uuid,
    player: PlayerId,
    bar: Bar,
    ban: &Ban,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    // A sign-in that has been let in is over after this, and its session is found below.
    locks::lock_player(&mut *tx, player).await?;
    let banned = sqlx::query!(
        r#"
        insert into bans (id, player, bars, reason, banned_at, ends_at)
        select $1, p.id, $6, $3, $4, $5
        from players p
        where p.id = $2
        on conflict (id) do nothing
        returning id
        "#,
        id,
        player.0,
        ban.reason.as_str(),
        to_sql(now) as _,
        ban.ends_at.map(to_sql) as _,
        bar.as_str()
    );
    let is_there = banned.fetch_optional(&mut *tx).await?.is_some();
    match bar {
        Bar::Entry => {
            sessions::end_all(tx, player, None, End::Banned, now).await?;
        }
        Bar::Speech => {}
    }
    if is_there {
        tell(tx, player, bar.notice(), now).await?;
    }
    Ok(is_there)
}

/// Lifts whatever bans of a kind a player is under, in the caller's transaction. False when none
/// was in force.
pub async fn lift_in_tx(
    tx: &mut PgConnection,
    player: PlayerId,
    bar: Bar,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let lifted = sqlx::query!(
        r#"
        update bans
        set lifted_at = $2
        where player = $1 and bars = $3 and lifted_at is null
            and (ends_at is null or ends_at > $2)
        "#,
        player.0,
        to_sql(now) as _,
        bar.as_str()
    );
    let was_banned = lifted.execute(&mut *tx).await?.rows_affected() > 0;
    if was_banned {
        tell(tx, player, bar.notice_of_end(), now).await?;
    }
    Ok(was_banned)
}

/// Puts a notice into the player's inbox, in the transaction that it tells of.
async fn tell(
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
) -> Result<(), Failed> {
    match in_force(connection, player, Bar::Entry, now).await? {
        None => Ok(()),
        Some(ban) => Err(AccountError::Banned(ban).into()),
    }
}

async fn in_force(
    connection: &mut PgConnection,
    player: PlayerId,
    bar: Bar,
    now: Timestamp,
) -> Result<Option<Ban>, sqlx::Error> {
    let ban = sqlx::query!(
        r#"
        select reason, ends_at as "ends_at: SqlTimestamp"
        from bans
        where player = $1 and bars = $3 and lifted_at is null
            and (ends_at is null or ends_at > $2)
        order by ends_at desc nulls first
        limit 1
        "#,
        player.0,
        to_sql(now) as _,
        bar.as_str()
    )
    .fetch_optional(connection)
    .await?;
    Ok(ban
        .map(|row| Ban { reason: Reason::stored(row.reason), ends_at: row.ends_at.map(from_sql) }))
}
