//! The operators' API of statements.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::statements::{Statement, StatementPeriod};
use uuid::Uuid;

use super::query;
use crate::http::{Path, Problem, Query, Services};
use crate::ids::PlayerId;
use crate::operators::Operator;

pub(crate) async fn show_statement(
    State(services): State<Services>,
    _: Operator,
    Path(id): Path<Uuid>,
    Query(period): Query<StatementPeriod>,
) -> Result<Json<Statement>, Problem> {
    Ok(Json(query::load_explained(&services, PlayerId(id), period).await?))
}

pub(crate) async fn export_statement(
    State(services): State<Services>,
    operator: Operator,
    Path(id): Path<Uuid>,
    Query(period): Query<StatementPeriod>,
) -> Result<Response, Problem> {
    query::export(&services, &operator, PlayerId(id), period).await
}
