//! The operators' API of the report on the current day.

use axum::Json;
use axum::extract::State;
use bahay_api::operator::today::TodayReport;

use crate::http::{Problem, Services};
use crate::operators::Operator;

pub(crate) async fn show_today(
    State(services): State<Services>,
    _: Operator,
) -> Result<Json<TodayReport>, Problem> {
    Ok(Json(super::load_today(&services).await?))
}
