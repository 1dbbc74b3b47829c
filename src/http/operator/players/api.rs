//! The operators' API of players.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_api::operator::players::{NewNote, Partner, PlayerDossier, PlayerMatch, PlayerSearch};
use bahay_api::player::tournaments::TournamentPass;
use uuid::Uuid;

use super::query;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{Path, Problem, Query, Services};
use crate::ids::PlayerId;
use crate::operators::{Moderation, Operator};
use crate::reports::Reports;

pub(crate) async fn find_players(
    State(reports): State<Reports>,
    _: Operator,
    Query(PlayerSearch { search }): Query<PlayerSearch>,
) -> Result<Json<Vec<PlayerMatch>>, Problem> {
    Ok(Json(query::find(&reports, &search).await?))
}

pub(crate) async fn show_player_report(
    State(services): State<Services>,
    operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<PlayerDossier>, Problem> {
    Ok(Json(query::load_dossier(&services, &operator, PlayerId(id)).await?))
}

pub(crate) async fn list_partners(
    State(reports): State<Reports>,
    _: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<Vec<Partner>>, Problem> {
    query::find_report(&reports, PlayerId(id)).await?;
    Ok(Json(reports.partners(PlayerId(id)).await?))
}

pub(crate) async fn list_passes(
    State(services): State<Services>,
    _: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<Vec<TournamentPass>>, Problem> {
    query::find_report(&services.reports, PlayerId(id)).await?;
    Ok(Json(query::list_passes(&services, PlayerId(id)).await?))
}

pub(crate) async fn write_note(
    State(moderation): State<Moderation>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_moderator()?;
    let request = request.require_key()?;
    let NewNote { words } = request.parse_body()?;
    let text = query::parse_note(&words)?;
    let work = async move |attempt| {
        moderation.write_note(&by, PlayerId(id), &text, attempt).await?;
        Ok(StatusCode::NO_CONTENT)
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn end_sessions(
    State(moderation): State<Moderation>,
    operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    moderation.end_sessions(&operator.require_moderator()?, PlayerId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
