//! The operators' API of tournaments.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_api::operator::tournaments::{
    CancelTournament, Cancellation, OperatedTournament, OperatedTournamentDetail,
    OperatedTournamentFilter,
};
use bahay_api::player::tournaments::{Tournament, TournamentResults, TournamentStanding};
use bahay_engine::table::TournamentId;
use uuid::Uuid;

use super::query;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::player::tables::tournaments::{list_results, list_standings, show_announced};
use crate::http::{PageOf, PageRequest, Path, Problem, Services};
use crate::operators::Operator;
use crate::tournaments::Tournaments;

pub(crate) async fn announce_tournament(
    State(services): State<Services>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let wanted = request.parse_body()?;
    let work = async move |attempt| {
        let id = query::announce(&services, &by, attempt, wanted).await?;
        let announced: Tournament = show_announced(&*services.tournaments.read(id).await?);
        Ok((StatusCode::CREATED, Json(announced)))
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn list_operated_tournaments(
    State(services): State<Services>,
    request: PageRequest<Operator, OperatedTournamentFilter>,
) -> Result<Json<PageOf<OperatedTournament>>, Problem> {
    Ok(Json(query::list(&services, &request).await?))
}

pub(crate) async fn show_operated_tournament(
    State(services): State<Services>,
    _operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<OperatedTournamentDetail>, Problem> {
    Ok(Json(query::show_tournament(&services, TournamentId(id)).await?.0))
}

pub(crate) async fn list_operated_standings(
    State(tournaments): State<Tournaments>,
    Path(id): Path<Uuid>,
    request: PageRequest<Operator>,
) -> Result<Json<PageOf<TournamentStanding>>, Problem> {
    Ok(Json(list_standings(&tournaments, TournamentId(id), &request, None).await?))
}

pub(crate) async fn list_operated_results(
    State(tournaments): State<Tournaments>,
    Path(id): Path<Uuid>,
    request: PageRequest<Operator>,
) -> Result<Json<PageOf<TournamentResults>>, Problem> {
    Ok(Json(list_results(&tournaments, TournamentId(id), &request).await?))
}

pub(crate) async fn preview_cancellation(
    State(tournaments): State<Tournaments>,
    _operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<Cancellation>, Problem> {
    let refunds = tournaments.preview_cancellation(TournamentId(id)).await?;
    Ok(Json(query::to_cancellation(&refunds)))
}

pub(crate) async fn cancel_tournament(
    State(tournaments): State<Tournaments>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let CancelTournament { reason, digest } = request.parse_body()?;
    let work = async move |_| {
        let id = TournamentId(id);
        let refunds = tournaments.cancel(id, by.actor(), &reason, digest).await?;
        Ok(Json(query::to_cancellation(&refunds)))
    };
    Ok(request.execute(&operator, work).await)
}
