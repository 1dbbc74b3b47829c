//! The operators' API of the report on the current day and of the comparison of periods.

use axum::Json;
use axum::extract::State;
use bahay_api::operator::today::{ComparisonQuery, PeriodComparison, TodayReport};

use super::query;
use crate::http::{Problem, Query, Services};
use crate::operators::Operator;

pub(crate) async fn show_today(
    State(services): State<Services>,
    _: Operator,
) -> Result<Json<TodayReport>, Problem> {
    Ok(Json(query::load_today(&services).await?))
}

pub(crate) async fn compare_periods(
    State(services): State<Services>,
    _: Operator,
    Query(query): Query<ComparisonQuery>,
) -> Result<Json<PeriodComparison>, Problem> {
    Ok(Json(query::load_comparison(&services, query).await?))
}
