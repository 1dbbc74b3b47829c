//! The operators' API of tables.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_api::operator::tables::{
    BusyTables, PublicTable, RevealedHands, StrandedTables, TableReason, TablesQuery, VoidTable,
};
use bahay_engine::table::TableId;
use uuid::Uuid;

use super::query;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{Body, Path, Problem, Query, Services};
use crate::operators::Operator;

pub(crate) async fn list_tables(
    State(services): State<Services>,
    _operator: Operator,
    Query(TablesQuery { room }): Query<TablesQuery>,
) -> Result<Json<BusyTables>, Problem> {
    Ok(Json(BusyTables { items: query::list_busy(&services, &room).await? }))
}

pub(crate) async fn list_stranded(
    State(services): State<Services>,
    _operator: Operator,
) -> Result<Json<StrandedTables>, Problem> {
    Ok(Json(query::find_stranded(&services).await?))
}

pub(crate) async fn show_operated_table(
    State(services): State<Services>,
    _operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<PublicTable>, Problem> {
    let table = query::find_table(&services, TableId(id)).await?;
    let view = serde_json::to_value(table.view(None)).map_err(|error| Problem::internal(&error))?;
    Ok(Json(PublicTable { view }))
}

pub(crate) async fn view_hands(
    State(services): State<Services>,
    operator: Operator,
    Path(id): Path<Uuid>,
    Body(TableReason { reason }): Body<TableReason>,
) -> Result<Json<RevealedHands>, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let view = query::reveal_hands(&services, &by, TableId(id), &reason).await?;
    let view = serde_json::to_value(view).map_err(|error| Problem::internal(&error))?;
    Ok(Json(RevealedHands { view }))
}

pub(crate) async fn void_table(
    State(services): State<Services>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let request = request.require_key()?;
    let order: VoidTable = request.parse_body()?;
    let work = async move |_| Ok(Json(query::void(&services, &by, TableId(id), &order).await?));
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn release_table(
    State(services): State<Services>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let request = request.require_key()?;
    let work = async move |_| {
        query::release(&services, &by, TableId(id)).await?;
        Ok(StatusCode::NO_CONTENT)
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn refund_lost_pot(
    State(services): State<Services>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let request = request.require_key()?;
    let work = async move |_| Ok(Json(query::refund_pot(&services, &by, TableId(id)).await?));
    Ok(request.execute(&operator, work).await)
}
