//! The operators' API of players' reports.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::player_reports::{DecideReport, PlayerReport, ReportFilter};
use uuid::Uuid;

use super::query;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{PageOf, PageRequest, Path, Problem};
use crate::operators::{Moderation, Operator};
use crate::social::Social;

pub(crate) async fn list_reports(
    State(social): State<Social>,
    request: PageRequest<Operator, ReportFilter>,
) -> Result<Json<PageOf<PlayerReport>>, Problem> {
    Ok(Json(query::list(&social, &request).await?))
}

pub(crate) async fn decide_report(
    State(moderation): State<Moderation>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_moderator()?;
    let request = request.require_key()?;
    let DecideReport { outcome, note } = request.parse_body()?;
    let work = async move |_| Ok(Json(moderation.decide_report(&by, id, outcome, &note).await?));
    Ok(request.execute(&operator, work).await)
}
