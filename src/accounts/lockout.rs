//! So many sign-ins by password that fail, and no more: five a minute for each name from one address,
//! and fifty from everywhere, on all nodes together and across restarts, because they are counted in
//! PostgreSQL.
//!
//! An attempt counts before its password is looked at, so that many at once are no way around; one
//! that succeeds clears the count of its address. Names are counted whether anybody has them or not.
//! Whoever comes from where the name's owner has signed in before is not held up by strangers: else
//! anybody could keep anybody out. A device by which the owner has signed in counts as a place of its own,
//! so that not even those who share the owner's address can.

use std::time::Duration;

use jiff_sqlx::Timestamp as SqlTimestamp;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;

use crate::clock::{self, Timestamp};
use crate::db;

use super::{AccountError, Accounts, from_sql, to_sql};

/// How many attempts from one address may fail within [`WINDOW`] of the first.
const FAILURES_MAX: i32 = 5;

/// How many from everywhere, of those who are not known.
const UNTRUSTED_FAILURES_MAX: i32 = 50;

/// What is counted beyond a limit, so that a number that grows always fits.
const FAILURE_COUNT_MAX: i32 = 1_000_000;

/// After which an account may be tried again.
const WINDOW: Duration = Duration::from_mins(1);

/// For how long the place of a sign-in is known.
pub const TRUSTED_ORIGIN_LIFE: Duration = Duration::from_hours(24 * 90);

/// Somebody who tries a password.
#[derive(Clone, Copy, Debug)]
pub struct AttemptSource<'a> {
    /// What the name looks like.
    pub skeleton: &'a str,
    /// The address, as far as limits go, or a device by which the owner has signed in.
    pub origin: &'a str,
    /// The name's owner has signed in from there before.
    pub is_trusted: bool,
}

/// The name and the place under which attempts are counted. Not the name itself, which somebody may
/// have typed a password into by mistake.
fn key(skeleton: &str, origin: &str) -> [u8; 32] {
    Sha256::new().chain_update(skeleton).chain_update([0]).chain_update(origin).finalize().into()
}

/// Since when an owner's sign-ins make a place known.
pub fn trusted_since(now: Timestamp) -> Timestamp {
    clock::before(now, TRUSTED_ORIGIN_LIFE)
}

impl Accounts {
    /// Counts an attempt to sign in.
    ///
    /// # Errors
    /// [`AccountError::Locked`] when there were too many.
    pub async fn count_attempt(
        &self,
        source: &AttemptSource<'_>,
        now: Timestamp,
    ) -> Result<(), AccountError> {
        self.count(key(source.skeleton, source.origin), FAILURES_MAX, now).await?;
        if source.is_trusted {
            return Ok(());
        }
        self.count(key(source.skeleton, ""), UNTRUSTED_FAILURES_MAX, now).await
    }

    /// Counts something that may not be written down as often as somebody wants.
    ///
    /// # Errors
    /// [`AccountError::Locked`] when it has happened too often from there.
    pub async fn count_logged_refusal(&self, origin: &str, now: Timestamp) -> Result<(), AccountError> {
        self.count(key("written", origin), FAILURES_MAX, now).await
    }

    async fn count(&self, key: [u8; 32], most: i32, now: Timestamp) -> Result<(), AccountError> {
        let began_after = clock::before(now, WINDOW);
        // Done twice because an answer was lost, it counts twice, which errs on the safe side.
        let once = || {
            sqlx::query!(
                r#"
                insert into sign_in_failures as f (name_hash, since, failures)
                values ($1, $2, 1)
                on conflict (name_hash) do update
                set since = case when f.since <= $3 then excluded.since else f.since end,
                    failures = case when f.since <= $3 then 1 else least(f.failures, $4) + 1 end
                returning since as "since: SqlTimestamp", failures
                "#,
                key.as_slice(),
                to_sql(now) as _,
                to_sql(began_after) as _,
                FAILURE_COUNT_MAX
            )
            .fetch_one(&self.pool)
        };
        let counted = db::retry(once).await?;
        if counted.failures <= most {
            return Ok(());
        }
        let is_first = counted.failures == most + 1;
        let ends_at = clock::after(from_sql(counted.since), WINDOW);
        let left_ms = ends_at.ms().saturating_sub(now.ms()).max(1);
        let retry_after = Duration::from_millis(u64::try_from(left_ms).unwrap_or(1));
        Err(AccountError::Locked { retry_after, is_first })
    }
}

/// The account has shown that it is its own.
pub async fn clear_failures(connection: &mut PgConnection, source: &AttemptSource<'_>) -> Result<(), sqlx::Error> {
    let key = key(source.skeleton, source.origin);
    sqlx::query!("delete from sign_in_failures where name_hash = $1", key.as_slice())
        .execute(connection)
        .await
        .map(|_| ())
}
