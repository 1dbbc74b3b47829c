//! Dead jobs, which administrators retry or discard.

pub(super) mod api;
pub(crate) mod desk;

use axum::extract::FromRef;
use bahay_jobs::DeadJob;

use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem, Services};
use crate::operators::{DeadJobDecision, DeadJobs, Operator};

/// Returns a page of dead jobs, newest first.
async fn list(
    jobs: &DeadJobs,
    request: &PageRequest<Operator>,
) -> Result<PageOf<DeadJob>, Problem> {
    request.caller.require_administrator()?;
    request.read("jobs", |below, limit| jobs.list(below, limit)).await
}

/// Retries or discards a dead job.
async fn decide(
    jobs: &DeadJobs,
    operator: &Operator,
    id: i64,
    decision: DeadJobDecision,
) -> Result<(), Problem> {
    let by = operator.require_administrator()?;
    match jobs.decide(&by, id, decision).await? {
        true => Ok(()),
        false => Err(Code::JobNotFound.problem()),
    }
}

impl FromRef<Services> for DeadJobs {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone())
    }
}
