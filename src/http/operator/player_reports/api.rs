//! The operators' API of players' reports.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::player_reports::{DecideReport, PlayerReport, ReportFilter};
use uuid::Uuid;

use super::query;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{Cursors, PageOf, PageQuery, Path, Problem, Query};
use crate::operators::{Moderation, Operator};
use crate::social::Social;

pub(crate) async fn list_reports(
    State(social): State<Social>,
    State(cursors): State<Cursors>,
    operator: Operator,
    Query(query): Query<PageQuery<ReportFilter>>,
) -> Result<Json<PageOf<PlayerReport>>, Problem> {
    let items = query.limit.items();
    Ok(Json(query::list(&social, &cursors, &operator, &query, items).await?))
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
