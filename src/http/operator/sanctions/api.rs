//! The operators' API of sanctions.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_api::operator::sanctions::{
    PlayerSanction, PlayerSanctions, SanctionFilter, SanctionInForce, SanctionPath,
};
use uuid::Uuid;

use super::query;
use crate::accounts::{SanctionKind, SanctionRecord};
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{PageOf, PageRequest, Path, Problem};
use crate::ids::PlayerId;
use crate::operators::{Operator, Sanctions};

const fn to_kind(path: SanctionPath) -> SanctionKind {
    match path {
        SanctionPath::Bans => SanctionKind::Ban,
        SanctionPath::Mutes => SanctionKind::Mute,
    }
}

pub(crate) async fn list_sanctions_in_force(
    State(sanctions): State<Sanctions>,
    request: PageRequest<Operator, SanctionFilter>,
) -> Result<Json<PageOf<SanctionInForce>>, Problem> {
    Ok(Json(query::list_in_force(&sanctions, &request).await?))
}

pub(crate) async fn list_sanctions(
    State(sanctions): State<Sanctions>,
    _operator: Operator,
    Path((player, path)): Path<(Uuid, SanctionPath)>,
) -> Result<Json<PlayerSanctions>, Problem> {
    list(&sanctions, PlayerId(player), to_kind(path)).await
}

pub(crate) async fn impose_sanction(
    State(sanctions): State<Sanctions>,
    operator: Operator,
    Path((player, path)): Path<(Uuid, SanctionPath)>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_moderator()?;
    let request = request.require_key()?;
    let sanction = query::check(request.parse_body()?)?;
    let player = PlayerId(player);
    let kind = to_kind(path);
    let work = async move |_| {
        query::impose(&sanctions, &by, player, kind, sanction).await?;
        Ok((StatusCode::CREATED, list(&sanctions, player, kind).await?))
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn lift_sanctions(
    State(sanctions): State<Sanctions>,
    operator: Operator,
    Path((player, path)): Path<(Uuid, SanctionPath)>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_moderator()?;
    let request = request.require_key()?;
    let player = PlayerId(player);
    let kind = to_kind(path);
    let work = async move |_| {
        sanctions.lift(&by, player, kind).await?;
        list(&sanctions, player, kind).await
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn lift_sanction(
    State(sanctions): State<Sanctions>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_moderator()?;
    let request = request.require_key()?;
    let work = async move |_| {
        let (player, kind) = sanctions.lift_one(&by, id).await?;
        list(&sanctions, player, kind).await
    };
    Ok(request.execute(&operator, work).await)
}

async fn list(
    sanctions: &Sanctions,
    player: PlayerId,
    kind: SanctionKind,
) -> Result<Json<PlayerSanctions>, Problem> {
    let listed = sanctions.list(player, kind).await?.into_iter();
    let items = listed.map(
        |SanctionRecord { id, sanction, imposed_at, lifted_at, imposed_by, lifted_by }| {
            PlayerSanction {
                id,
                reason: sanction.reason.to_string(),
                imposed_at: imposed_at.into(),
                imposed_by,
                ends_at: sanction.ends_at.map(Into::into),
                lifted_at: lifted_at.map(Into::into),
                lifted_by,
            }
        },
    );
    Ok(Json(PlayerSanctions { items: items.collect() }))
}
