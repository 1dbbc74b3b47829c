//! Dead jobs, which administrators retry or discard.

mod api;
pub(crate) mod desk;

use axum::extract::FromRef;
use bahay_api::operator::jobs as operations;
use bahay_api::{PageOf, PageQuery};
use bahay_jobs::DeadJob;

use crate::http::core::routing::Routes;
use crate::http::{Code, CodeExt as _, Cursors, Problem, Services};
use crate::operators::{DeadJobDecision, DeadJobs, Operator};

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::LIST_DEAD_JOBS, api::list_dead_jobs)
        .bind(&operations::RETRY_DEAD_JOB, api::retry_dead_job)
        .bind(&operations::DISCARD_DEAD_JOB, api::discard_dead_job)
}

/// Returns a page of dead jobs, newest first.
async fn list(
    jobs: &DeadJobs,
    cursors: &Cursors,
    operator: &Operator,
    query: &PageQuery,
    items: u32,
) -> Result<PageOf<DeadJob>, Problem> {
    operator.require_administrator()?;
    let below = cursors.position("jobs", operator, query.cursor.as_deref())?;
    let page = jobs.list(below, items).await?;
    Ok(cursors.page("jobs", operator, page))
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
