//! Calls that are repeated: each has a key of the caller's choice, and the answer of the one that did
//! the work is the answer to all that repeat it.
//!
//! A call first *claims* its key. Whoever holds the claim does the work and stores the answer; if
//! it dies, the claim can be taken over after [`LEASE`]. So the work must be safe to do twice,
//! which everything that moves coins here is, by a key of its own in the ledger; and each who does
//! it is told the same *attempt*, by which what an earlier one has done is known again. A refusal
//! changed nothing and frees its key; a claim is given up, and its attempt remembered, when it is not
//! known what the work has done.
//!
//! Bounds: a row lives [`RETENTION`] and is then removed by [`crate::retention`]; a key repeated after that
//! is a new one. A caller has so many rows ([`IdempotentCall::keys_max`]), give or take the calls that it makes
//! at the same moment. Time is the database's, the one clock that all nodes share. HTTP is not known
//! here.

use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::types::PgInterval;
use uuid::Uuid;

use crate::{db, entropy};

/// How long a claim is good without an answer: longer than any request may take.
pub const LEASE: Duration = Duration::from_secs(30);

/// How long an answer is kept.
pub const RETENTION: Duration = Duration::from_hours(48);

/// A row may be given up or removed between two looks; more often than this it is not.
const CLAIM_ATTEMPTS_MAX: usize = 4;

/// A call as it is told from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotentCall {
    /// Whose key it is: two callers may use the same one.
    pub caller: String,
    pub route: String,
    pub key: String,
    /// Of all that the caller has said.
    pub input_hash: [u8; 32],
    /// Keys that the caller may have at a time.
    pub keys_max: u32,
}

/// The right to do the work of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The same for all who were ever granted it.
    pub attempt: Uuid,
    call: IdempotentCall,
    id: Uuid,
}

/// A final answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse {
    pub status: u16,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

/// What a call finds under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing: the work is to be done.
    Granted(Lease),
    /// It was done.
    Answered(StoredResponse),
    /// Somebody does it now.
    InUse,
    /// The key stands for another input.
    Reused,
    /// The caller has as many keys as it may; the oldest is free after this time.
    TooMany { retry_after: Duration },
}

/// The keys of all callers.
#[derive(Clone, Debug)]
pub struct Idempotency {
    pool: PgPool,
}

impl Idempotency {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Claims a call's key, or says what stands under it.
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

    /// Takes a key that is free, or whose claim has run out, or was taken by this very id when
    /// the answer was lost. Gives the attempt; `None` where the key is taken, or another one would be
    /// too many.
    async fn try_acquire(&self, call: &IdempotentCall, id: Uuid) -> Result<Option<Uuid>, sqlx::Error> {
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

    /// How long the oldest key of a caller is kept that has as many as it may; `None` while it has
    /// fewer.
    async fn oldest_key_remaining(&self, call: &IdempotentCall) -> Result<Option<Duration>, sqlx::Error> {
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

    /// `None` when the row is gone.
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

    /// Stores the answer, unless somebody has taken the work over meanwhile.
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

    /// Frees the key of a call that was refused, so that the call may be repeated at once, as a new
    /// one. A call that was taken over keeps its attempt: an earlier one may have done the work.
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

    /// Gives the claim up and keeps its attempt, so that the call may be repeated at once.
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
