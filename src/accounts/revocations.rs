//! Keeps a node's [`Revocations`](crate::auth::Revocations) true to the database.
//!
//! The node that ends a session knows at once; the others ask twice a second what is new. So an
//! ended session's access tokens are refused everywhere within a second, and a node that has
//! just started knows all that were ended before. While the database does not answer, nobody can
//! end a session either.
//!
//! What is new is what the transactions have written that were not over when it was last asked
//! ([`Heard`]): each ended session is read once by each node, however many end at once and however
//! long a transaction takes. Bounds: so many are read in a portion ([`BATCH_SIZE`]).

use std::time::Duration;

use jiff_sqlx::Timestamp as SqlTimestamp;
use uuid::Uuid;

use crate::auth::ACCESS_TOKEN_LIFE;
use crate::clock;
use crate::db;
use crate::ids::SessionId;

use super::{AccountError, Accounts, from_sql, to_sql};

/// How often it is asked what is new.
const INTERVAL: Duration = Duration::from_millis(500);

/// How often those are forgotten whose access tokens have expired.
const FORGET_INTERVAL: Duration = Duration::from_mins(1);

/// How many ended sessions are read at once.
const BATCH_SIZE: usize = 1_000;

/// Up to where a node has heard which sessions ended: the transactions that were over then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevocationCursor {
    /// As PostgreSQL writes a `pg_snapshot`.
    snapshot: String,
}

/// Where a portion begins: after this transaction and session.
struct BatchStart {
    /// As PostgreSQL writes an `xid8`.
    transaction: String,
    session: Uuid,
}

impl Accounts {
    /// Learns all that still matters. To be done before the first request is served.
    pub async fn load_revocations(&self) -> Result<RevocationCursor, AccountError> {
        // Asked first, so that what ends meanwhile is heard of twice and not never.
        let cursor = self.snapshot().await?;
        let mut since = clock::before(self.clock.now(), ACCESS_TOKEN_LIFE * 2);
        let mut after = Uuid::nil();
        loop {
            let once = || {
                sqlx::query!(
                    r#"
                    select id, revoked_at as "revoked_at!: SqlTimestamp"
                    from sessions
                    where (revoked_at, id) > ($1, $2::uuid)
                    order by revoked_at, id
                    limit $3
                    "#,
                    to_sql(since) as _,
                    after,
                    batch_limit()
                )
                .fetch_all(&self.pool)
            };
            let rows = db::retry(once).await?;
            let ended = rows.iter().map(|row| (SessionId(row.id), from_sql(row.revoked_at)));
            self.auth.revocations().insert_all(ended);
            match rows.last() {
                Some(last) if rows.len() == BATCH_SIZE => {
                    (since, after) = (from_sql(last.revoked_at), last.id);
                }
                Some(_) | None => return Ok(cursor),
            }
        }
    }

    /// Learns what is new, for as long as it is polled. One such task a process.
    pub async fn follow_revocations(&self, mut cursor: RevocationCursor) {
        let mut interval = tokio::time::interval(INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut forgotten_at = self.clock.now();
        let mut is_failing = false;
        loop {
            interval.tick().await;
            let now = self.clock.now();
            match self.poll_revocations(&mut cursor).await {
                Ok(_) => {
                    if is_failing {
                        tracing::info!("sessions ended elsewhere are heard of again");
                    }
                    is_failing = false;
                }
                Err(error) => {
                    // Said once, not twice a second.
                    if !is_failing {
                        tracing::error!(%error, "sessions ended elsewhere are not heard of");
                    }
                    is_failing = true;
                }
            }
            if now >= clock::after(forgotten_at, FORGET_INTERVAL) {
                self.auth.revocations().forget_expired(now);
                forgotten_at = now;
            }
        }
    }

    /// Learns which sessions have ended since it was last asked, and says how many it read.
    pub async fn poll_revocations(&self, cursor: &mut RevocationCursor) -> Result<usize, AccountError> {
        let next = self.snapshot().await?;
        // Of a database that was restored elsewhere the numbers of transactions may lie ahead.
        let since = clock::before(self.clock.now(), ACCESS_TOKEN_LIFE * 2);
        let mut after = BatchStart { transaction: "0".to_owned(), session: Uuid::nil() };
        let mut read = 0;
        loop {
            let once = || {
                sqlx::query!(
                    r#"
                    select id, revoked_at as "revoked_at!: SqlTimestamp",
                        revoked_in::text as "revoked_in!"
                    from sessions
                    where revoked_in >= pg_snapshot_xmin($1::text::pg_snapshot)
                        and (revoked_in, id) > ($2::text::xid8, $3::uuid)
                        and not pg_visible_in_snapshot(revoked_in, $1::text::pg_snapshot)
                        and revoked_at > $4
                    order by revoked_in, id
                    limit $5
                    "#,
                    cursor.snapshot,
                    after.transaction,
                    after.session,
                    to_sql(since) as _,
                    batch_limit()
                )
                .fetch_all(&self.pool)
            };
            let rows = db::retry(once).await?;
            let ended = rows.iter().map(|row| (SessionId(row.id), from_sql(row.revoked_at)));
            self.auth.revocations().insert_all(ended);
            read += rows.len();
            let is_whole = rows.len() == BATCH_SIZE;
            match rows.into_iter().next_back().filter(|_| is_whole) {
                Some(last) => {
                    after = BatchStart { transaction: last.revoked_in, session: last.id };
                }
                None => break,
            }
        }
        *cursor = next;
        Ok(read)
    }

    async fn snapshot(&self) -> Result<RevocationCursor, AccountError> {
        let once = || {
            sqlx::query_scalar!(r#"select pg_current_snapshot()::text as "snapshot!""#)
                .fetch_one(&self.pool)
        };
        Ok(RevocationCursor { snapshot: db::retry(once).await? })
    }
}

fn batch_limit() -> i64 {
    i64::try_from(BATCH_SIZE).unwrap_or(i64::MAX)
}
