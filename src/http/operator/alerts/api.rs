//! The operators' API of the alerts.

use axum::Json;
use axum::extract::State;
use bahay_api::operator::alerts::HouseAlerts;

use super::query;
use crate::http::{Problem, Services};
use crate::operators::Operator;

pub(crate) async fn show_alerts(
    State(services): State<Services>,
    _: Operator,
) -> Result<Json<HouseAlerts>, Problem> {
    Ok(Json(query::read_alerts(&services).await?))
}
