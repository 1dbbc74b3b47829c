//! The operators' API of rooms.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_api::operator::rooms::{ChangeRoom, CreateRoom, RoomRevision, RoomRevisions};
use bahay_engine::table::Clocks;

use super::query;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{Path, Problem};
use crate::operators::Operator;
use crate::rooms::Catalog;

pub(crate) async fn list_room_revisions(
    State(rooms): State<Catalog>,
    _operator: Operator,
    Path(id): Path<String>,
) -> Result<Json<RoomRevisions>, Problem> {
    let items = rooms.revisions(&id).await?.into_iter().map(RoomRevision::from).collect();
    Ok(Json(RoomRevisions { items }))
}

pub(crate) async fn create_room(
    State(rooms): State<Catalog>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let CreateRoom { id, settings } = request.parse_body()?;
    let work = async move |_| {
        let draft = query::draft(id, settings, Clocks::default())?;
        let revision = rooms.create(&by, &draft).await?;
        Ok((StatusCode::CREATED, Json(RoomRevision::from(revision))))
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn change_room(
    State(rooms): State<Catalog>,
    operator: Operator,
    Path(id): Path<String>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let ChangeRoom { revision, settings } = request.parse_body()?;
    let work = async move |_| {
        let draft = query::draft(id, settings, Clocks::default())?;
        Ok(Json(RoomRevision::from(rooms.change(&by, revision, &draft).await?)))
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn open_room(
    State(rooms): State<Catalog>,
    operator: Operator,
    Path(id): Path<String>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    set_open(rooms, operator, id, true, request).await
}

pub(crate) async fn close_room(
    State(rooms): State<Catalog>,
    operator: Operator,
    Path(id): Path<String>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    set_open(rooms, operator, id, false, request).await
}

async fn set_open(
    rooms: Catalog,
    operator: Operator,
    id: String,
    is_open: bool,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let request = request.require_key()?;
    let work =
        async move |_| Ok(Json(RoomRevision::from(rooms.set_open(&by, &id, is_open).await?)));
    Ok(request.execute(&operator, work).await)
}
