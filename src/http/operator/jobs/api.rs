//! The operators' API of dead jobs.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_api::operator::jobs::DeadJob as DeadJobBody;
use bahay_jobs::DeadJob;

use crate::clock;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{PageOf, PageRequest, Path, Problem};
use crate::operators::{DeadJobDecision, DeadJobs, Operator};

fn to_body(job: DeadJob) -> DeadJobBody {
    let DeadJob { id, name, attempts, last_error, created_at, died_at } = job;
    let created_at = clock::from_jiff(created_at).into();
    let died_at = clock::from_jiff(died_at).into();
    DeadJobBody { id, name, attempts, last_error, created_at, died_at }
}

pub(crate) async fn list_dead_jobs(
    State(jobs): State<DeadJobs>,
    request: PageRequest<Operator>,
) -> Result<Json<PageOf<DeadJobBody>>, Problem> {
    Ok(Json(super::list(&jobs, &request).await?.map(to_body)))
}

pub(crate) async fn retry_dead_job(
    State(jobs): State<DeadJobs>,
    operator: Operator,
    Path(id): Path<i64>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    decide(jobs, operator, id, request, DeadJobDecision::Retry).await
}

pub(crate) async fn discard_dead_job(
    State(jobs): State<DeadJobs>,
    operator: Operator,
    Path(id): Path<i64>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    decide(jobs, operator, id, request, DeadJobDecision::Discard).await
}

async fn decide(
    jobs: DeadJobs,
    operator: Operator,
    id: i64,
    request: IdempotentRequest,
    decision: DeadJobDecision,
) -> Result<Response, Problem> {
    operator.require_administrator()?;
    let request = request.require_key()?;
    let by = operator.clone();
    let work = async move |_| {
        super::decide(&jobs, &by, id, decision).await?;
        Ok(StatusCode::NO_CONTENT)
    };
    Ok(request.execute(&operator, work).await)
}
