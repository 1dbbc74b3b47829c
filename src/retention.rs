//! For how long rows are kept that nobody needs any more, and their removal: in portions, by age.
//!
//! Every node looks now and then at each kind of row ([`ExpiringRows`]) and removes what is too old, a portion
//! in a transaction, until a portion is not full. Rows that another node is at are left to it. A
//! portion is short, so nobody waits for it, and between two there is a pause, so that a table of
//! millions does not take the database from the players.
//!
//! Deliberately absent: what is booked, records of games, and what operators did. That is kept for
//! good, records of old games in the archive (`records`); what is kept of deleted players is told in `accounts`.

use std::time::Duration;

use jiff_sqlx::ToSqlx as _;
use sqlx::PgPool;

use crate::clock::{self, Clock, Timestamp};
use crate::{db, idempotency};

/// How often it is looked for what is too old.
const INTERVAL: Duration = Duration::from_mins(5);

/// How many rows one transaction removes, and how long the database is left alone after it.
const PORTION: u16 = 1_000;
const PAUSE: Duration = Duration::from_millis(50);

/// A refresh token that has expired is still told from one that never was for so long.
const EXPIRED_TOKENS_KEPT: Duration = Duration::from_hours(24);

/// A count of failed sign-ins means nothing after a minute.
const FAILURES_KEPT: Duration = Duration::from_mins(2);

/// A count of grants is asked on its own day of UTC.
const GRANT_COUNTS_KEPT: Duration = Duration::from_hours(48);

/// For how long rows are kept that nobody needs: what a house decides about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPeriods {
    /// A session after it was last used, with the addresses and the device in it. Longer than a
    /// refresh token lives, so that it has ended; players are known by it where they sign in.
    pub sessions: Duration,
    /// A notice, whether its player has read it or not.
    pub notices: Duration,
}

impl Default for RetentionPeriods {
    fn default() -> Self {
        Self { sessions: days(90), notices: days(365) }
    }
}

/// Rows that grow old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpiringRows {
    RefreshTokens,
    Sessions,
    OperatorSessions,
    SignInFailures,
    GrantCounts,
    IdempotencyAnswers,
    Notices,
}

impl ExpiringRows {
    /// In the order in which they are removed: a session goes after its tokens.
    pub const ALL: [Self; 7] = [
        Self::RefreshTokens,
        Self::Sessions,
        Self::OperatorSessions,
        Self::SignInFailures,
        Self::GrantCounts,
        Self::IdempotencyAnswers,
        Self::Notices,
    ];

    /// What people are told.
    const fn label(self) -> &'static str {
        match self {
            Self::RefreshTokens => "refresh tokens",
            Self::Sessions => "sessions",
            Self::OperatorSessions => "sessions of operators",
            Self::SignInFailures => "counts of failed sign-ins",
            Self::GrantCounts => "counts of grants",
            Self::IdempotencyAnswers => "answers to repeated calls",
            Self::Notices => "notices",
        }
    }
}

/// Runs a statement that removes a portion of the rows from before a time, and says how many they were.
macro_rules! remove_rows {
    ($pool:expr, $sql:literal, $before:expr) => {{
        let once = || sqlx::query!($sql, $before as _, i64::from(PORTION)).execute(&$pool);
        Ok(db::retry(once).await?.rows_affected())
    }};
}

/// Removes what is too old.
#[derive(Clone, Debug)]
pub struct Retention {
    pool: PgPool,
    clock: Clock,
    periods: RetentionPeriods,
}

impl Retention {
    pub fn new(pool: PgPool, clock: Clock, periods: RetentionPeriods) -> Self {
        Self { pool, clock, periods }
    }

    /// Removes what is too old now and then, for as long as it is polled. One such task a process.
    pub async fn run(self) {
        let mut interval = tokio::time::interval(INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            for old in ExpiringRows::ALL {
                match self.remove(old).await {
                    Ok(0) => {}
                    Ok(rows) => tracing::debug!(rows, "old {} were removed", old.label()),
                    Err(error) => tracing::warn!(%error, "old {} stay for now", old.label()),
                }
            }
        }
    }

    /// Removes all of a kind that are too old, and says how many those were.
    pub async fn remove(&self, old: ExpiringRows) -> Result<u64, sqlx::Error> {
        let mut removed = 0_u64;
        loop {
            let rows = self.remove_portion(old).await?;
            removed = removed.saturating_add(rows);
            if rows < u64::from(PORTION) {
                return Ok(removed);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Removes a portion at most: when it was not a whole one, nothing of that kind is left.
    pub async fn remove_portion(&self, old: ExpiringRows) -> Result<u64, sqlx::Error> {
        let now = self.clock.now();
        let RetentionPeriods { sessions, notices } = self.periods;
        match old {
            ExpiringRows::RefreshTokens => {
                self.refresh_tokens(clock::before(now, EXPIRED_TOKENS_KEPT)).await
            }
            ExpiringRows::Sessions => self.sessions(clock::before(now, sessions)).await,
            ExpiringRows::OperatorSessions => self.operator_sessions(clock::before(now, sessions)).await,
            ExpiringRows::SignInFailures => self.sign_in_failures(clock::before(now, FAILURES_KEPT)).await,
            ExpiringRows::GrantCounts => self.grant_counts(clock::before(now, GRANT_COUNTS_KEPT)).await,
            ExpiringRows::IdempotencyAnswers => {
                self.idempotency_answers(clock::before(now, idempotency::RETENTION)).await
            }
            ExpiringRows::Notices => self.notices(clock::before(now, notices)).await,
        }
    }

    async fn refresh_tokens(&self, before: Timestamp) -> Result<u64, sqlx::Error> {
        remove_rows!(
            self.pool,
            r#"
            delete from refresh_tokens
            where hash in (
                select o.hash
                from refresh_tokens o
                where o.expires_at < $1
                order by o.expires_at
                limit $2
                for update skip locked
            )
            "#,
            to_sql(before)
        )
    }

    /// Those that nobody can use any more: their refresh tokens have expired since.
    async fn sessions(&self, before: Timestamp) -> Result<u64, sqlx::Error> {
        remove_rows!(
            self.pool,
            r#"
            with old as (
                select o.id
                from sessions o
                where o.last_seen_at < $1
                order by o.last_seen_at
                limit $2
                for update skip locked
            ), tokens as (
                delete from refresh_tokens t
                using old
                where t.session = old.id
            )
            delete from sessions s
            using old
            where s.id = old.id
            "#,
            to_sql(before)
        )
    }

    async fn operator_sessions(&self, before: Timestamp) -> Result<u64, sqlx::Error> {
        remove_rows!(
            self.pool,
            r#"
            delete from operator_sessions
            where id in (
                select o.id
                from operator_sessions o
                where o.last_seen_at < $1
                limit $2
                for update skip locked
            )
            "#,
            to_sql(before)
        )
    }

    async fn sign_in_failures(&self, before: Timestamp) -> Result<u64, sqlx::Error> {
        remove_rows!(
            self.pool,
            r#"
            delete from sign_in_failures
            where name_hash in (
                select o.name_hash
                from sign_in_failures o
                where o.since < $1
                order by o.since
                limit $2
                for update skip locked
            )
            "#,
            to_sql(before)
        )
    }

    async fn grant_counts(&self, before: Timestamp) -> Result<u64, sqlx::Error> {
        let day = clock::to_jiff(before).to_zoned(jiff::tz::TimeZone::UTC).date();
        remove_rows!(
            self.pool,
            r#"
            delete from grant_counts
            where (code, taker, day) in (
                select o.code, o.taker, o.day
                from grant_counts o
                where o.day < $1
                order by o.day
                limit $2
                for update skip locked
            )
            "#,
            day.to_sqlx()
        )
    }

    async fn idempotency_answers(&self, before: Timestamp) -> Result<u64, sqlx::Error> {
        remove_rows!(
            self.pool,
            r#"
            delete from idempotency_keys
            where (caller, route, key) in (
                select o.caller, o.route, o.key
                from idempotency_keys o
                where o.created_at < $1
                order by o.created_at
                limit $2
                for update skip locked
            )
            "#,
            to_sql(before)
        )
    }

    async fn notices(&self, before: Timestamp) -> Result<u64, sqlx::Error> {
        remove_rows!(
            self.pool,
            r#"
            delete from notices
            where id in (
                select o.id
                from notices o
                where o.created_at < $1
                order by o.created_at
                limit $2
                for update skip locked
            )
            "#,
            to_sql(before)
        )
    }
}

const fn days(number: u64) -> Duration {
    Duration::from_hours(24 * number)
}

fn to_sql(time: Timestamp) -> jiff_sqlx::Timestamp {
    clock::to_jiff(time).to_sqlx()
}
