//! The operators' API of schedules.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_api::operator::tournament_schedules::TournamentSchedule;
use uuid::Uuid;

use super::query::{self, to_schedule};
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{PageOf, PageRequest, Path, Problem};
use crate::operators::Operator;
use crate::tournaments::{ScheduleChange, TournamentSchedules, Tournaments};

pub(crate) async fn create_tournament_schedule(
    State(tournaments): State<Tournaments>,
    State(schedules): State<TournamentSchedules>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let draft = to_schedule(tournaments.now(), request.parse_body()?)?;
    let work = async move |attempt| {
        Ok((StatusCode::CREATED, Json(schedules.create(&by, attempt, &draft).await?)))
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn list_tournament_schedules(
    State(schedules): State<TournamentSchedules>,
    request: PageRequest<Operator>,
) -> Result<Json<PageOf<TournamentSchedule>>, Problem> {
    Ok(Json(query::list(&schedules, &request).await?))
}

pub(crate) async fn pause_tournament_schedule(
    State(schedules): State<TournamentSchedules>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let work = async move |_| {
        schedules.change(&by, id, ScheduleChange::Pause).await?;
        Ok(Json(schedules.find(id).await?))
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn resume_tournament_schedule(
    State(schedules): State<TournamentSchedules>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let work = async move |_| {
        schedules.change(&by, id, ScheduleChange::Resume).await?;
        Ok(Json(schedules.find(id).await?))
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn delete_tournament_schedule(
    State(schedules): State<TournamentSchedules>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let work = async move |_| {
        schedules.change(&by, id, ScheduleChange::Delete).await?;
        Ok(StatusCode::NO_CONTENT)
    };
    Ok(request.execute(&operator, work).await)
}
