//! The operators' API of requests for tournaments.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_api::operator::tournament_requests::{
    RejectTournament, RequestTournament, TournamentRequest, TournamentRequestFilter,
};
use uuid::Uuid;

use super::query;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::operator::tournaments::to_draft;
use crate::http::{PageOf, PageRequest, Path, Problem};
use crate::operators::Operator;
use crate::tournaments::{TournamentRequests, Tournaments};

pub(crate) async fn request_tournament(
    State(tournaments): State<Tournaments>,
    State(requests): State<TournamentRequests>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let request = request.require_key()?;
    let RequestTournament { tournament, reason } = request.parse_body()?;
    let draft = to_draft(tournaments.now(), tournament)?;
    let work = async move |attempt| {
        let requested = requests.request(&by, &draft, &reason, attempt).await?;
        Ok((StatusCode::CREATED, Json(requested)))
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn list_tournament_requests(
    State(requests): State<TournamentRequests>,
    request: PageRequest<Operator, TournamentRequestFilter>,
) -> Result<Json<PageOf<TournamentRequest>>, Problem> {
    Ok(Json(query::list(&requests, &request).await?))
}

pub(crate) async fn show_tournament_request(
    State(requests): State<TournamentRequests>,
    _operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<TournamentRequest>, Problem> {
    Ok(Json(requests.find(id).await?))
}

pub(crate) async fn approve_tournament(
    State(requests): State<TournamentRequests>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let request = request.require_key()?;
    let work = async move |_| Ok(Json(requests.approve(&by, id).await?));
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn reject_tournament(
    State(requests): State<TournamentRequests>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let request = request.require_key()?;
    let RejectTournament { reason } = request.parse_body()?;
    let work = async move |_| Ok(Json(requests.reject(&by, id, &reason).await?));
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn withdraw_tournament_request(
    State(requests): State<TournamentRequests>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let request = request.require_key()?;
    let work = async move |_| Ok(Json(requests.withdraw(&by, id).await?));
    Ok(request.execute(&operator, work).await)
}
