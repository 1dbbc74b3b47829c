//! The operators' API of pairs by signs of collusion.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::collusion::{PairFilter, PairPeriod, PairReport, ReviewPair, ScoredPair};
use uuid::Uuid;

use super::query;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{PageOf, PageRequest, Path, Problem, Query, Services};
use crate::operators::Operator;

pub(crate) async fn list_pairs(
    State(services): State<Services>,
    request: PageRequest<Operator, PairFilter>,
) -> Result<Json<PageOf<ScoredPair>>, Problem> {
    Ok(Json(query::list(&services, &request).await?))
}

pub(crate) async fn show_pair(
    State(services): State<Services>,
    _: Operator,
    Path((first, second)): Path<(Uuid, Uuid)>,
    Query(period): Query<PairPeriod>,
) -> Result<Json<PairReport>, Problem> {
    Ok(Json(query::load_report(&services, [first, second], period).await?))
}

pub(crate) async fn review_pair(
    State(services): State<Services>,
    operator: Operator,
    Path((first, second)): Path<(Uuid, Uuid)>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_moderator()?;
    let request = request.require_key()?;
    let ReviewPair { reason } = request.parse_body()?;
    let work =
        async move |_| Ok(Json(query::review(&services, &by, [first, second], &reason).await?));
    Ok(request.execute(&operator, work).await)
}
