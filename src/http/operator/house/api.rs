//! The main switch of the house, which permits games to begin.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operators::Operator;
use crate::reason::Reason;
use crate::rooms::{Catalog, HouseState};

use crate::http::core::idempotency::{IdempotentRequest, RequiredKeyHeader};
use crate::http::{Problem, ProblemBody, ReasonText, Time};

/// The main switch of the house.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HouseSwitch {
    is_open: bool,
    /// The reason why the house is closed.
    #[schema(required = true)]
    reason: Option<String>,
    /// The operator's name; null if the house was never closed.
    #[schema(required = true, example = "ate.luz")]
    changed_by: Option<String>,
    changed_at: Time,
}

impl From<HouseState> for HouseSwitch {
    fn from(state: HouseState) -> Self {
        let HouseState { is_open, reason, changed_by, changed_at } = state;
        Self { is_open, reason, changed_by, changed_at: changed_at.into() }
    }
}

/// A request to close the house.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloseHouse {
    /// The reason, which is stored with the switch.
    #[schema(value_type = ReasonText)]
    reason: Reason,
}

/// Show whether the house is open
///
/// For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/house",
    tag = "operators",
    security(("operator_token" = [])),
    responses((status = 200, description = "The main switch", body = HouseSwitch))
)]
pub(crate) async fn show_house(
    State(rooms): State<Catalog>,
    _operator: Operator,
) -> Result<Json<HouseSwitch>, Problem> {
    Ok(Json(rooms.house_state().await?.into()))
}

/// Close the house
///
/// Closes every room and all private tables, on every node within a second: running games are
/// finished, and no other begins. The rooms' own states stay unchanged. For the role `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/house/closing",
    tag = "operators",
    security(("operator_token" = [])),
    params(RequiredKeyHeader),
    request_body = CloseHouse,
    responses(
        (status = 200, description = "The main switch", body = HouseSwitch),
        (status = 409, description = "`idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn close_house(
    State(rooms): State<Catalog>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let CloseHouse { reason } = request.parse_body()?;
    let work =
        async move |_| Ok(Json(HouseSwitch::from(rooms.switch_house(&by, Some(&reason)).await?)));
    Ok(request.execute(&operator, work).await)
}

/// Open the house
///
/// For the role `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/house/opening",
    tag = "operators",
    security(("operator_token" = [])),
    params(RequiredKeyHeader),
    responses(
        (status = 200, description = "The main switch", body = HouseSwitch),
        (status = 409, description = "`idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn open_house(
    State(rooms): State<Catalog>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let work = async move |_| Ok(Json(HouseSwitch::from(rooms.switch_house(&by, None).await?)));
    Ok(request.execute(&operator, work).await)
}
