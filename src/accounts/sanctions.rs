//! Sanctions: bans and mutes of players, for a time or for good.
//!
//! A ban ends all sessions of its player, and every node closes the player's sockets within a
//! second. Imposing a ban takes the player's lock (`locks`), as sign-ins and refreshes do, which
//! read the bans under that lock; a ban that races with a sign-in therefore leaves no session.
//! Seats, matchmaking tickets and the socket's `join` check for bans too. Mutes are read at every
//! phrase, so a mute takes effect on every node at once. Operators impose and lift sanctions;
//! `operators` records both in the audit.

pub(super) mod impose;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bahay_api::operator::sanctions::SanctionInForce;
use bahay_batch_loader::BatchLoader;
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

use crate::clock::{self, Timestamp};
use crate::db::{self, Page};
use crate::ids::PlayerId;
use crate::reason::Reason;

use super::transaction::TransactionError;
use super::{AccountError, from_sql, to_sql};

pub use bahay_api::operator::sanctions::SanctionKind;

/// The maximum page size of the sanctions in force; a larger limit is reduced to it.
const PAGE_MAX: u32 = 100;

/// The reason and the end of a ban or a mute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sanction {
    /// The reason, which the player reads.
    pub reason: Reason,
    /// The end; `None` for good.
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

/// A sanction as listed for operators and in a player's export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanctionRecord {
    pub id: Uuid,
    pub sanction: Sanction,
    pub imposed_at: Timestamp,
    pub lifted_at: Option<Timestamp>,
    /// The name of the operator who imposed it; `None` for the command line.
    pub imposed_by: Option<String>,
    /// The name of the operator who lifted it; `None` for the command line.
    pub lifted_by: Option<String>,
}

impl SanctionRecord {
    /// Returns whether the sanction is in force at `now`.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.lifted_at.is_none() && self.sanction.ends_at.is_none_or(|ends_at| ends_at > now)
    }
}

/// The errors of imposing and lifting sanctions.
#[derive(Debug, thiserror::Error)]
pub enum SanctionError {
    #[error("there is no such player")]
    PlayerNotFound,
    #[error("the player is not banned")]
    NotBanned,
    #[error("the player is not muted")]
    NotMuted,
    #[error("no sanction in force has this id")]
    SanctionNotFound,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Read access to the sanctions of all players.
#[derive(Clone, Debug)]
pub struct SanctionReader {
    pool: PgPool,
    in_force: BatchLoader<SanctionCheck, Sanction, sqlx::Error>,
}

/// The question whether a player has a sanction of a kind in force at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SanctionCheck {
    player: PlayerId,
    kind: SanctionKind,
    at: Timestamp,
}

impl SanctionReader {
    pub fn new(pool: PgPool) -> Self {
        let checked = pool.clone();
        let in_force = BatchLoader::new(move |checks: Vec<SanctionCheck>| {
            let pool = checked.clone();
            async move { db::retry(|| find_all_in_force(&pool, &checks)).await }
        });
        Self { pool, in_force }
    }

    /// Returns all sanctions of a kind that a player has had, newest first.
    pub async fn list(
        &self,
        player: PlayerId,
        kind: SanctionKind,
    ) -> Result<Vec<SanctionRecord>, sqlx::Error> {
        let once = || {
            sqlx::query!(
                r#"
                select s.id, s.reason, s.imposed_at as "imposed_at: SqlTimestamp",
                    s.ends_at as "ends_at: SqlTimestamp",
                    s.lifted_at as "lifted_at: SqlTimestamp",
                    i.name as "imposed_by?", l.name as "lifted_by?"
                from sanctions s
                left join operators i on i.id = s.imposed_by
                left join operators l on l.id = s.lifted_by
                where s.player = $1 and s.kind = $2
                order by s.imposed_at desc
                "#,
                player.0,
                kind.as_str()
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        let listed = rows.map(|row| SanctionRecord {
            id: row.id,
            sanction: Sanction {
                reason: Reason::from_column(row.reason),
                ends_at: row.ends_at.map(from_sql),
            },
            imposed_at: from_sql(row.imposed_at),
            lifted_at: row.lifted_at.map(from_sql),
            imposed_by: row.imposed_by,
            lifted_by: row.lifted_by,
        });
        Ok(listed.collect())
    }

    /// Returns a page of the sanctions in force at `now`, newest first, starting below `below`.
    pub async fn list_in_force(
        &self,
        kind: Option<SanctionKind>,
        now: Timestamp,
        below: Option<Uuid>,
        limit: u32,
    ) -> Result<Page<SanctionInForce, Uuid>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        let kind = kind.map(SanctionKind::as_str);
        let once = || {
            sqlx::query!(
                r#"
                select s.id, s.kind, s.player, p.name, s.reason,
                    s.imposed_at as "imposed_at: SqlTimestamp",
                    s.ends_at as "ends_at: SqlTimestamp", i.name as "imposed_by?"
                from sanctions s
                join players p on p.id = s.player
                left join operators i on i.id = s.imposed_by
                where s.lifted_at is null and (s.ends_at is null or s.ends_at > $1)
                    and ($2::text is null or s.kind = $2)
                    and (
                        $3::uuid is null
                        or (s.imposed_at, s.id) < (
                            select b.imposed_at, b.id from sanctions b where b.id = $3
                        )
                    )
                order by s.imposed_at desc, s.id desc
                limit $4
                "#,
                to_sql(now) as _,
                kind,
                below,
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            Ok(SanctionInForce {
                id: row.id,
                kind: db::parse_column(&row.kind)?,
                player: row.player,
                name: row.name,
                reason: row.reason,
                imposed_at: from_sql(row.imposed_at).into(),
                imposed_by: row.imposed_by,
                ends_at: row.ends_at.map(|at| from_sql(at).into()),
            })
        });
        let rows = rows.collect::<Result<Vec<_>, sqlx::Error>>()?;
        Ok(Page::from_rows(rows, limit, |last| last.id))
    }

    /// Returns the sanction of a kind that is in force now, with the latest end if there are
    /// several.
    ///
    /// # Errors
    ///
    /// The error of the query, which concurrent calls share.
    pub async fn find_in_force(
        &self,
        player: PlayerId,
        kind: SanctionKind,
        now: Timestamp,
    ) -> Result<Option<Sanction>, Arc<sqlx::Error>> {
        self.in_force.find(SanctionCheck { player, kind, at: now }).await
    }
}

/// Rejects a player who is banned at `now`. Under the player's lock, the result holds until the
/// transaction ends.
///
/// # Errors
/// [`AccountError::Banned`].
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
    executor: impl PgExecutor<'_>,
    player: PlayerId,
    kind: SanctionKind,
    now: Timestamp,
) -> Result<Option<Sanction>, sqlx::Error> {
    let check = SanctionCheck { player, kind, at: now };
    Ok(find_all_in_force(executor, &[check]).await?.remove(&check))
}

/// Returns the sanctions in force, by check, each with the latest end if there are several.
async fn find_all_in_force(
    executor: impl PgExecutor<'_>,
    checks: &[SanctionCheck],
) -> Result<HashMap<SanctionCheck, Sanction>, sqlx::Error> {
    let players: Vec<Uuid> = checks.iter().map(|check| check.player.0).collect();
    let kinds: Vec<String> = checks.iter().map(|check| check.kind.to_string()).collect();
    let times: Vec<SqlTimestamp> = checks.iter().map(|check| to_sql(check.at)).collect();
    let rows = sqlx::query!(
        r#"
        select c.number as "number!", s.reason, s.ends_at as "ends_at: SqlTimestamp"
        from unnest($1::uuid[], $2::text[], $3::timestamptz[])
            with ordinality as c (player, kind, at, number)
        cross join lateral (
            select i.reason, i.ends_at
            from sanctions i
            where i.player = c.player and i.kind = c.kind and i.lifted_at is null
                and (i.ends_at is null or i.ends_at > c.at)
            order by i.ends_at desc nulls first
            limit 1
        ) s
        "#,
        &players,
        &kinds,
        &times as _
    )
    .fetch_all(executor)
    .await?;
    let found = rows.into_iter().filter_map(|row| {
        let number = usize::try_from(row.number).ok()?;
        let check = *checks.get(number.checked_sub(1)?)?;
        let ends_at = row.ends_at.map(from_sql);
        Some((check, Sanction { reason: Reason::from_column(row.reason), ends_at }))
    });
    Ok(found.collect())
}
