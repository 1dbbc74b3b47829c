//! Idempotent calls: a caller gives each call a key of its choice, and repetitions of the call
//! receive the stored response of the first one.
//!
//! A call first *claims* its key. The holder of the claim performs the work and stores the
//! response; if the holder crashes, another repetition can take over the claim after [`LEASE`]. The
//! work must therefore be safe to perform twice, which operations on coins are by a key of their
//! own in the ledger. All holders of a claim receive the same *attempt* id, by which the work of an
//! earlier holder is recognized. A refused call has changed nothing and releases its key. If the
//! outcome of the work is unknown, the claim is abandoned and its attempt id is kept.
//!
//! Bounds: a row lives for [`RETENTION`] and is then removed by [`crate::retention`]; a repetition
//! after that is a new call. A caller has at most [`IdempotentCall::keys_max`] rows, which
//! concurrent calls can exceed slightly. All times are the database's, whose clock the nodes share.
//! This module has no HTTP.

use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::types::PgInterval;
use uuid::Uuid;

use crate::{db, entropy};

/// The time for which a claim is held without a response: longer than any request may take.
pub const LEASE: Duration = Duration::from_secs(30);

/// The time for which a response is kept.
pub const RETENTION: Duration = Duration::from_hours(48);

/// The number of attempts while the row is abandoned or removed concurrently.
const CLAIM_ATTEMPTS_MAX: usize = 4;

/// The identity and the input of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotentCall {
    /// The owner of the key. Two callers may use the same key.
    pub caller: String,
    pub route: String,
    pub key: String,
    /// The hash of the caller's whole input.
    pub input_hash: [u8; 32],
    /// The most keys of the caller.
    pub keys_max: u32,
}

/// The right to perform the work of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The attempt id, the same for all holders of the claim.
    pub attempt: Uuid,
    call: IdempotentCall,
    id: Uuid,
}

/// A final response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse {
    pub status: u16,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

/// The result of claiming a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The key is free, and the caller performs the work.
    Granted(Lease),
    /// The work was done; this is its response.
    Answered(StoredResponse),
    /// Another holder performs the work now.
    InUse,
    /// The key belongs to a call with another input.
    Reused,
    /// The caller has reached its number of keys. The oldest one expires after this time.
    TooMany { retry_after: Duration },
}

/// The store of idempotency keys. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Idempotency {
    pool: PgPool,
}

impl Idempotency {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Claims the key of a call.
    pub async fn claim(&self, call: IdempotentCall) -> Result<Claim, sqlx::Error> {
        let id = entropy::uuid();
        for _ in 0..CLAIM_ATTEMPTS_MAX {
            if let Some(attempt) = db::retry(|| self.try_acquire(&call, id)).await? {
                return Ok(Claim::Granted(Lease { attempt, call, id }));
            }
            if let Some(claim) = db::retry(|| self.read_claim(&call)).await? {
                return Ok(claim);
            }
            if let Some(retry_after) = db::retry(|| self.oldest_key_remaining(&call)).await? {
                return Ok(Claim::TooMany { retry_after });
            }
        }
        Ok(Claim::InUse)
    }

    /// Tries to take a key that is free, whose lease has expired, or that this very `id` holds
    /// because the answer to an earlier attempt was lost. Returns the attempt id, or `None` if the
    /// key is taken or the caller has too many keys.
    async fn try_acquire(
        &self,
        call: &IdempotentCall,
        id: Uuid,
    ) -> Result<Option<Uuid>, sqlx::Error> {
        sqlx::query_scalar!(
            r#"
            insert into idempotency_keys as k (
                caller, route, key, input_hash, attempt, lease, leased_until
            )
            select $1, $2, $3, $4, $5, $5, now() + $6
            where $7 > (
                select count(*)
                from (select from idempotency_keys o where o.caller = $1 limit $7) as kept
            ) or exists (
                select from idempotency_keys o where (o.caller, o.route, o.key) = ($1, $2, $3)
            )
            on conflict (caller, route, key) do update
            set lease = excluded.lease, leased_until = excluded.leased_until
            where k.status is null and k.input_hash = excluded.input_hash
                and (k.leased_until <= now() or k.lease = excluded.lease)
            returning k.attempt
            "#,
            call.caller,
            call.route,
            call.key,
            call.input_hash.as_slice(),
            id,
            interval(LEASE),
            i64::from(call.keys_max)
        )
        .fetch_optional(&self.pool)
        .await
    }

    /// Returns the remaining time of the oldest key if the caller has reached its number of keys,
    /// and otherwise `None`.
    async fn oldest_key_remaining(
        &self,
        call: &IdempotentCall,
    ) -> Result<Option<Duration>, sqlx::Error> {
        let row = sqlx::query!(
            r#"
            select count(*) as "count!",
                extract(epoch from min(k.created_at) + $2 - now())::bigint as seconds
            from idempotency_keys k
            where k.caller = $1
            "#,
            call.caller,
            interval(RETENTION)
        )
        .fetch_one(&self.pool)
        .await?;
        let seconds = row.seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or(0);
        let is_full = row.count >= i64::from(call.keys_max);
        Ok(is_full.then(|| Duration::from_secs(seconds)))
    }

    /// Reads the state of a key, or `None` if its row has been removed.
    async fn read_claim(&self, call: &IdempotentCall) -> Result<Option<Claim>, sqlx::Error> {
        let row = sqlx::query!(
            r#"
            select k.input_hash, k.status, k.content_type, k.body
            from idempotency_keys k
            where k.caller = $1 and k.route = $2 and k.key = $3
            "#,
            call.caller,
            call.route,
            call.key
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| {
            if row.input_hash != call.input_hash {
                return Claim::Reused;
            }
            match (row.status, row.body) {
                (Some(status), Some(body)) => {
                    let status = u16::try_from(status).unwrap_or(500);
                    Claim::Answered(StoredResponse { status, content_type: row.content_type, body })
                }
                _ => Claim::InUse,
            }
        }))
    }

    /// Stores the response, unless another holder has taken over the claim.
    pub async fn finish(&self, lease: &Lease, answer: &StoredResponse) -> Result<(), sqlx::Error> {
        let Lease { call, id, .. } = lease;
        let once = || {
            sqlx::query!(
                r#"
                update idempotency_keys k
                set status = $5, content_type = $6, body = $7
                where k.caller = $1 and k.route = $2 and k.key = $3 and k.lease = $4
                    and k.status is null
                "#,
                call.caller,
                call.route,
                call.key,
                id,
                i16::try_from(answer.status).unwrap_or(i16::MAX),
                answer.content_type,
                answer.body
            )
            .execute(&self.pool)
        };
        db::retry(once).await.map(|_| ())
    }

    /// Releases the key of a refused call, so that it can be repeated at once as a new call. A
    /// claim that was taken over keeps its attempt id, since an earlier holder may have done the
    /// work.
    pub async fn release(&self, lease: &Lease) -> Result<(), sqlx::Error> {
        let Lease { call, id, attempt } = lease;
        if attempt != id {
            return self.abandon(lease).await;
        }
        let once = || {
            sqlx::query!(
                r#"
                delete from idempotency_keys k
                where k.caller = $1 and k.route = $2 and k.key = $3 and k.lease = $4
                    and k.status is null
                "#,
                call.caller,
                call.route,
                call.key,
                id
            )
            .execute(&self.pool)
        };
        db::retry(once).await.map(|_| ())
    }

    /// Abandons the claim and keeps its attempt id, so that the call can be repeated at once.
    pub async fn abandon(&self, lease: &Lease) -> Result<(), sqlx::Error> {
        let Lease { call, id, .. } = lease;
        let once = || {
            sqlx::query!(
                r#"
                update idempotency_keys k
                set leased_until = now()
                where k.caller = $1 and k.route = $2 and k.key = $3 and k.lease = $4
                    and k.status is null
                "#,
                call.caller,
                call.route,
                call.key,
                id
            )
            .execute(&self.pool)
        };
        db::retry(once).await.map(|_| ())
    }
}

fn interval(duration: Duration) -> PgInterval {
    let microseconds = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    PgInterval { months: 0, days: 0, microseconds }
}
