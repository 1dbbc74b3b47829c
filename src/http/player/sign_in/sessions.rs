//! The sessions and devices of a player.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::player::sign_in::{DeviceChangeRequest, Session};
use uuid::Uuid;

use crate::accounts::Accounts;
use crate::auth::{Holder, Player};
use crate::http::{Body, Code, CodeExt as _, PageOf, PageRequest, Path, Problem};
use crate::ids::SessionId;

pub(crate) async fn list_my_sessions(
    State(accounts): State<Accounts>,
    request: PageRequest<Player>,
) -> Result<Json<PageOf<Session>>, Problem> {
    let read = |below, limit| accounts.sessions(&request.caller, below, limit);
    Ok(Json(request.read("sessions", read).await?))
}

pub(crate) async fn sign_out_everywhere(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<StatusCode, Problem> {
    accounts.sign_out_everywhere(&player).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn end_my_session(
    State(accounts): State<Accounts>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    accounts.end_session(&player, SessionId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn forget_my_devices(
    State(accounts): State<Accounts>,
    holder: Holder,
) -> Result<StatusCode, Problem> {
    accounts.forget_devices(&holder.player).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn change_my_device(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<DeviceChangeRequest>,
) -> Result<StatusCode, Problem> {
    let DeviceChangeRequest { device_id, new_device_id } = body;
    if device_id == new_device_id {
        return Err(Code::BodyInvalid.with_detail("the new device id equals the old one"));
    }
    accounts.change_device(&player, &device_id, &new_device_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
