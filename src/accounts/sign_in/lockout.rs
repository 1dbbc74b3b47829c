//! The limit of failed sign-ins by password: five a minute for a name from one origin and fifty
//! from all untrusted origins together. The counts are in PostgreSQL, so the limit holds across
//! nodes and restarts.
//!
//! An attempt is counted before its password is verified, so that concurrent attempts cannot bypass
//! the limit; a successful one clears the count of its origin. Names are counted whether they exist
//! or not. An origin from which the name's owner has signed in before is trusted and not affected
//! by the limit of untrusted origins, since otherwise anybody could lock an owner out. A device by
//! which the owner has signed in counts as an origin of its own, so that even others at the owner's
//! address cannot lock the owner out.

use std::time::Duration;

use jiff_sqlx::Timestamp as SqlTimestamp;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;

use crate::accounts::{AccountError, Accounts, from_sql, to_sql};
use crate::clock::{self, Timestamp};
use crate::db;

/// The failures from one origin within [`WINDOW`] of the first.
const FAILURES_MAX: i32 = 5;

/// The failures from all untrusted origins together.
const UNTRUSTED_FAILURES_MAX: i32 = 50;

/// The bound of a stored count, which keeps a growing number within its column.
const FAILURE_COUNT_MAX: i32 = 1_000_000;

/// The window after which the count starts anew.
const WINDOW: Duration = Duration::from_mins(1);

/// The time for which the origin of a sign-in is trusted.
pub const TRUSTED_ORIGIN_LIFE: Duration = Duration::from_hours(24 * 90);

/// The name and the origin of an attempt to sign in by password.
#[derive(Clone, Copy, Debug)]
pub struct AttemptSource<'a> {
    /// The skeleton of the name.
    pub skeleton: &'a str,
    /// The address, at the granularity of the rate limits, or a device by which the owner has
    /// signed in.
    pub origin: &'a str,
    /// The owner of the name has signed in from this origin before.
    pub is_trusted: bool,
}

/// Returns the key under which attempts are counted: a hash, since the user may have typed a
/// password in place of the name.
fn key(skeleton: &str, origin: &str) -> [u8; 32] {
    Sha256::new().chain_update(skeleton).chain_update([0]).chain_update(origin).finalize().into()
}

/// Returns the time since which an owner's sign-ins make an origin trusted.
pub fn trusted_since(now: Timestamp) -> Timestamp {
    clock::subtract(now, TRUSTED_ORIGIN_LIFE)
}

impl Accounts {
    /// Counts an attempt to sign in.
    ///
    /// # Errors
    /// [`AccountError::Locked`] if there were too many.
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

    /// Counts a refusal for an origin, to limit the entries that the origin can cause in the log.
    ///
    /// # Errors
    /// [`AccountError::Locked`] if the origin has exceeded the limit.
    pub async fn count_logged_refusal(
        &self,
        origin: &str,
        now: Timestamp,
    ) -> Result<(), AccountError> {
        self.count(key("written", origin), FAILURES_MAX, now).await
    }

    async fn count(&self, key: [u8; 32], most: i32, now: Timestamp) -> Result<(), AccountError> {
        let began_after = clock::subtract(now, WINDOW);
        // A retry after a lost answer counts twice, which errs on the safe side.
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
        let ends_at = clock::add(from_sql(counted.since), WINDOW);
        let left_ms = ends_at.ms().saturating_sub(now.ms()).max(1);
        let retry_after = Duration::from_millis(u64::try_from(left_ms).unwrap_or(1));
        Err(AccountError::Locked { retry_after, is_first })
    }
}

/// Clears the count of an origin after a successful sign-in.
pub async fn clear_failures(
    connection: &mut PgConnection,
    source: &AttemptSource<'_>,
) -> Result<(), sqlx::Error> {
    let key = key(source.skeleton, source.origin);
    sqlx::query!("delete from sign_in_failures where name_hash = $1", key.as_slice())
        .execute(connection)
        .await
        .map(|_| ())
}
