//! The operators' API of the search.

use axum::Json;
use axum::extract::State;
use bahay_api::operator::search::{SearchHit, SearchText};

use super::query;
use crate::http::{Problem, Query, Services};
use crate::operators::Operator;

pub(crate) async fn search(
    State(services): State<Services>,
    _: Operator,
    Query(SearchText { text }): Query<SearchText>,
) -> Result<Json<Vec<SearchHit>>, Problem> {
    Ok(Json(query::search(&services, &text).await?))
}
