//! Dead letters of the queue: jobs whose attempts are used up, which an administrator retries or
//! discards.

use bahay_jobs::DeadJob;
use serde_json::json;
use sqlx::PgPool;

use super::Administrator;
use super::audit::{self, Action};
use crate::db::{self, Page};

/// The largest page; a larger limit is reduced to it.
const PAGE_MAX: u32 = 100;

/// An administrator's decision about a dead job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadJobDecision {
    /// The job becomes due, with all its attempts.
    Retry,
    Discard,
}

/// The dead jobs. Clones share the pool.
#[derive(Clone, Debug)]
pub struct DeadJobs {
    pool: PgPool,
}

impl DeadJobs {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Returns the dead jobs below an id, newest first. The cursor is the last id.
    pub async fn list(
        &self,
        below: Option<i64>,
        limit: u32,
    ) -> Result<Page<DeadJob, i64>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        let rows = bahay_jobs::list_dead(&self.pool, below, i64::from(limit) + 1).await?;
        Ok(Page::from_rows(rows, limit, |last| last.id))
    }

    /// Retries or discards a dead job. Returns false if there is none with this id.
    pub async fn decide(
        &self,
        by: &Administrator,
        id: i64,
        decision: DeadJobDecision,
    ) -> Result<bool, sqlx::Error> {
        let subject = format!("job:{id}");
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            let (action, detail) = match decision {
                DeadJobDecision::Retry => {
                    let name = bahay_jobs::retry_dead_in_tx(&mut tx, id).await?;
                    (Action::JobRetried, name.map(|name| json!({ "name": name })))
                }
                DeadJobDecision::Discard => {
                    let job = bahay_jobs::discard_dead_in_tx(&mut tx, id).await?;
                    // The audit entry has a copy, from which the job could be enqueued again.
                    (Action::JobDiscarded, job.map(|job| json!(job)))
                }
            };
            let Some(detail) = detail else { return Ok(false) };
            audit::record_in_tx(&mut tx, by.actor(), action, Some(&subject), detail).await?;
            tx.commit().await?;
            Ok(true)
        };
        db::retry(once).await
    }
}
