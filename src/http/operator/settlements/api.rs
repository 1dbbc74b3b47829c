//! The operators' API of settlements.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::settlements::{Settled, SettledTotals, SettlementFilter};

use super::query;
use crate::http::{PageOf, PageRequest, Problem, Query, Services};
use crate::operators::Operator;
use crate::reports::Reports;

pub(crate) async fn list_settlements(
    State(reports): State<Reports>,
    request: PageRequest<Operator, SettlementFilter>,
) -> Result<Json<PageOf<Settled>>, Problem> {
    Ok(Json(query::list(&reports, &request).await?))
}

pub(crate) async fn total_settlements(
    State(reports): State<Reports>,
    _: Operator,
    Query(filter): Query<SettlementFilter>,
) -> Result<Json<SettledTotals>, Problem> {
    Ok(Json(query::total(&reports, &filter).await?))
}

pub(crate) async fn export_settlements(
    State(services): State<Services>,
    operator: Operator,
    Query(filter): Query<SettlementFilter>,
) -> Result<Response, Problem> {
    query::export(&services, &operator, filter, false).await
}
