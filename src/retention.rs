//! Retention: the removal of rows that are no longer needed, in batches by age.
//!
//! A periodic job removes the expired rows of each kind ([`ExpiringRows`]), one batch per
//! transaction, until a batch is not full. Rows locked by others are skipped. A batch is short, so
//! it blocks nobody, and a pause between two batches keeps a removal of millions from monopolizing
//! the database.
//!
//! Deliberately absent: booked rows, records of games, and the audit of operators. They are kept
//! permanently, records of old games in the archive (`records`); `accounts` describes the data kept
//! of deleted players.

use std::time::Duration;

use jiff_sqlx::ToSqlx as _;
use sqlx::PgPool;

use crate::clock::{self, Clock};
use crate::db::{self, to_sql};
use crate::idempotency;

/// The interval between two removals.
pub const PERIOD: Duration = Duration::from_mins(5);

/// The number of rows per transaction, and the pause after it.
const PORTION: u16 = 1_000;
const PAUSE: Duration = Duration::from_millis(50);

/// The time for which an expired refresh token can be told from an unknown one.
const EXPIRED_TOKENS_KEPT: Duration = Duration::from_hours(24);

/// The time after which a count of failed sign-ins has no effect.
const FAILURES_KEPT: Duration = Duration::from_mins(2);

/// The time after which a count of grants is not read any more; it applies to one day of UTC.
const GRANT_COUNTS_KEPT: Duration = Duration::from_hours(48);

/// The time after which the games of a pair of players are not ranked any more: twice the longest
/// period of a ranking.
const PAIR_DAYS_KEPT: Duration = days(184);

/// The configured retention periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPeriods {
    /// The period of a session since its last use, with its addresses and its device. It exceeds
    /// the lifetime of a refresh token, so the session has ended by then; sign-ins recognize
    /// players by their sessions.
    pub sessions: Duration,
    /// The period of a notice, read or not.
    pub notices: Duration,
}

impl Default for RetentionPeriods {
    fn default() -> Self {
        Self { sessions: days(90), notices: days(365) }
    }
}

bahay_base::text_enum! {
    /// A kind of rows that expire, with its plural name for log messages. The kinds are in the
    /// order of removal: a session is removed after its tokens.
    pub enum ExpiringRows {
        RefreshTokens = "refresh tokens",
        Sessions = "sessions",
        OperatorSessions = "sessions of operators",
        SignInFailures = "counts of failed sign-ins",
        GrantCounts = "counts of grants",
        IdempotencyAnswers = "answers to repeated calls",
        UsedNonces = "used nonces of ID tokens",
        Notices = "notices",
        PairDays = "days of pairs of players",
    }
}

/// Removes a batch of the oldest rows whose column `$age` is before a time, and returns their
/// number. The text `$delete` ends with the selection of the rows, in parentheses that `$rest`
/// closes. Rows locked by others are skipped.
macro_rules! remove_rows {
    ($pool:expr, $delete:literal, $age:literal < $before:expr, $rest:literal) => {{
        let once = || {
            sqlx::query!(
                $delete
                    + " where "
                    + $age
                    + " < $1 order by "
                    + $age
                    + " limit $2 for update skip locked "
                    + $rest,
                $before as _,
                i64::from(PORTION)
            )
            .execute(&$pool)
        };
        Ok(db::retry(once).await?.rows_affected())
    }};
}

/// Removes expired rows.
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

    /// Removes all expired rows. Continues with the next kind after a failure, and returns the last
    /// one.
    pub async fn remove_all(&self) -> Result<(), sqlx::Error> {
        let mut result = Ok(());
        for &old in ExpiringRows::ALL {
            match self.remove(old).await {
                Ok(0) => {}
                Ok(rows) => tracing::debug!(rows, "expired {old} were removed"),
                Err(error) => {
                    tracing::warn!(%error, "expired {old} could not be removed");
                    result = Err(error);
                }
            }
        }
        result
    }

    /// Removes all expired rows of a kind. Returns their number.
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

    /// Removes one batch of expired rows. Returns their number; if the batch is not full, no
    /// expired row of that kind is left.
    pub async fn remove_portion(&self, old: ExpiringRows) -> Result<u64, sqlx::Error> {
        let now = self.clock.now();
        let RetentionPeriods { sessions, notices } = self.periods;
        let before = |kept| to_sql(clock::subtract(now, kept));
        let day_before = |kept| {
            let at = clock::to_jiff(clock::subtract(now, kept));
            at.to_zoned(jiff::tz::TimeZone::UTC).date().to_sqlx()
        };
        match old {
            ExpiringRows::RefreshTokens => remove_rows!(
                self.pool,
                "delete from refresh_tokens where hash in (select o.hash from refresh_tokens o",
                "o.expires_at" < before(EXPIRED_TOKENS_KEPT),
                ")"
            ),
            // Such sessions are unusable, because their refresh tokens have expired since.
            ExpiringRows::Sessions => remove_rows!(
                self.pool,
                "with old as (select o.id from sessions o",
                "o.last_seen_at" < before(sessions),
                "
                ), tokens as (
                    delete from refresh_tokens t
                    using old
                    where t.session = old.id
                )
                delete from sessions s
                using old
                where s.id = old.id
                "
            ),
            ExpiringRows::OperatorSessions => remove_rows!(
                self.pool,
                "delete from operator_sessions where id in (select o.id from operator_sessions o",
                "o.last_seen_at" < before(sessions),
                ")"
            ),
            ExpiringRows::SignInFailures => remove_rows!(
                self.pool,
                "
                delete from sign_in_failures
                where name_hash in (select o.name_hash from sign_in_failures o
                ",
                "o.since" < before(FAILURES_KEPT),
                ")"
            ),
            ExpiringRows::GrantCounts => remove_rows!(
                self.pool,
                "
                delete from grant_counts
                where (code, taker, day) in (select o.code, o.taker, o.day from grant_counts o
                ",
                "o.day" < day_before(GRANT_COUNTS_KEPT),
                ")"
            ),
            ExpiringRows::IdempotencyAnswers => remove_rows!(
                self.pool,
                "
                delete from idempotency_keys
                where (caller, route, key) in (
                    select o.caller, o.route, o.key from idempotency_keys o
                ",
                "o.created_at" < before(idempotency::RETENTION),
                ")"
            ),
            ExpiringRows::UsedNonces => remove_rows!(
                self.pool,
                "delete from used_nonces where name in (select o.name from used_nonces o",
                "o.expires_at" < before(Duration::ZERO),
                ")"
            ),
            ExpiringRows::Notices => remove_rows!(
                self.pool,
                "delete from notices where id in (select o.id from notices o",
                "o.created_at" < before(notices),
                ")"
            ),
            ExpiringRows::PairDays => remove_rows!(
                self.pool,
                "
                delete from pair_days
                where (day, first, second) in (select o.day, o.first, o.second from pair_days o
                ",
                "o.day" < day_before(PAIR_DAYS_KEPT),
                ")"
            ),
        }
    }
}

const fn days(number: u64) -> Duration {
    Duration::from_hours(24 * number)
}
