//! The operators' API of the main switch.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::house::{CloseHouse, HouseSwitch};

use crate::db::PgPool;
use crate::http::Problem;
use crate::http::core::idempotency::IdempotentRequest;
use crate::operators::Operator;
use crate::rooms::{self, Catalog};

pub(crate) async fn show_house(
    State(pool): State<PgPool>,
    _operator: Operator,
) -> Result<Json<HouseSwitch>, Problem> {
    Ok(Json(rooms::read_house_state(&pool).await?))
}

pub(crate) async fn close_house(
    State(rooms): State<Catalog>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let CloseHouse { reason } = request.parse_body()?;
    let work = async move |_| Ok(Json(rooms.switch_house(&by, Some(&reason)).await?));
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn open_house(
    State(rooms): State<Catalog>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let work = async move |_| Ok(Json(rooms.switch_house(&by, None).await?));
    Ok(request.execute(&operator, work).await)
}
