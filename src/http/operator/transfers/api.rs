//! The operators' API of transfers: their sums, and the file of single ones.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::transfers::{TransferPeriod, TransferReport};

use super::query;
use crate::http::{Problem, Query, Services};
use crate::operators::Operator;

pub(crate) async fn total_transfers(
    State(services): State<Services>,
    _: Operator,
    Query(period): Query<TransferPeriod>,
) -> Result<Json<TransferReport>, Problem> {
    Ok(Json(query::load_report(&services, period).await?))
}

pub(crate) async fn export_transfers(
    State(services): State<Services>,
    operator: Operator,
    Query(period): Query<TransferPeriod>,
) -> Result<Response, Problem> {
    query::export(&services, &operator, period).await
}

pub(crate) async fn export_bookings(
    State(services): State<Services>,
    operator: Operator,
    Query(period): Query<TransferPeriod>,
) -> Result<Response, Problem> {
    query::export_bookings(&services, &operator, period).await
}
