//! The replication of session revocations from the database to this node's
//! [`Revocations`](crate::auth::Revocations).
//!
//! The node that ends a session knows it at once; the others poll the database twice a second. An
//! ended session's access tokens are therefore refused everywhere within a second, and a node that
//! has just started has loaded all previous revocations. While the database is unavailable, no
//! session can be ended either.
//!
//! A poll reads the revocations of all transactions that had not finished at the previous poll
//! ([`RevocationCursor`]), so that each node reads each ended session once, whatever their number
//! and however long a transaction takes. Bounds: a query returns at most [`BATCH_SIZE`] rows.

use std::time::Duration;

use jiff_sqlx::Timestamp as SqlTimestamp;
use uuid::Uuid;

use crate::accounts::{AccountError, Accounts, from_sql, to_sql};
use crate::auth::ACCESS_TOKEN_LIFE;
use crate::clock;
use crate::db;
use crate::ids::SessionId;

/// The time between two polls.
const INTERVAL: Duration = Duration::from_millis(500);

/// The time between two removals of expired revocations.
const FORGET_INTERVAL: Duration = Duration::from_mins(1);

/// The number of ended sessions that one query returns.
const BATCH_SIZE: usize = 1_000;

/// The position of a node in the stream of revocations: the transactions that had finished at the
/// last poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevocationCursor {
    /// A `pg_snapshot` in PostgreSQL's text format.
    snapshot: String,
}

/// The start of a batch: behind this transaction and session.
struct BatchStart {
    /// An `xid8` in PostgreSQL's text format.
    transaction: String,
    session: Uuid,
}

impl Accounts {
    /// Loads all revocations that are still relevant. Runs before the first request is served.
    pub async fn load_revocations(&self) -> Result<RevocationCursor, AccountError> {
        // The snapshot is taken first, so that a concurrent revocation is read twice rather than
        // never.
        let cursor = self.snapshot().await?;
        let mut since = clock::subtract(self.clock.now(), ACCESS_TOKEN_LIFE * 2);
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

    /// Polls for new revocations until it is dropped. One such task runs in a process.
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
                        tracing::info!("revocations of other nodes can be read again");
                    }
                    is_failing = false;
                }
                Err(error) => {
                    // Logged at the first failure, and not twice a second.
                    if !is_failing {
                        tracing::error!(%error, "revocations of other nodes cannot be read");
                    }
                    is_failing = true;
                }
            }
            if now >= clock::add(forgotten_at, FORGET_INTERVAL) {
                self.auth.revocations().forget_expired(now);
                forgotten_at = now;
            }
        }
    }

    /// Reads the revocations since the cursor, advances it, and returns the number of rows.
    pub async fn poll_revocations(
        &self,
        cursor: &mut RevocationCursor,
    ) -> Result<usize, AccountError> {
        let next = self.snapshot().await?;
        // In a database that was restored elsewhere, stored transaction ids may lie ahead of the
        // current ones.
        let since = clock::subtract(self.clock.now(), ACCESS_TOKEN_LIFE * 2);
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
