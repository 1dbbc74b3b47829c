//! The sessions and devices of a player, and how they end.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{Accounts, DeviceId, LiveSession};
use crate::auth::{Holder, Player};
use crate::ids::SessionId;

use super::proof::ProofHeader;
use super::{
    Body, Code, Cursors, DeviceText, PageOf, PageQuery, Path, Problem, ProblemBody, Query, Time,
};

/// A session that has not ended.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Session {
    id: Uuid,
    /// How it was opened: `guest`, `password` or `openid`.
    #[schema(example = "password")]
    method: &'static str,
    /// What the client calls itself.
    #[schema(required = true, example = "Tongits/2.1 (Android 15)")]
    user_agent: Option<String>,
    /// Where it was last refreshed from; of IPv6 the network.
    #[schema(required = true, example = "203.0.113.7")]
    address: Option<String>,
    created_at: Time,
    /// When it was opened or last refreshed.
    last_seen_at: Time,
    /// Whether it is the one that asks.
    current: bool,
}

impl From<LiveSession> for Session {
    fn from(session: LiveSession) -> Self {
        Self {
            id: session.id.0,
            method: session.method.as_str(),
            user_agent: session.user_agent,
            address: session.address,
            created_at: session.created_at.into(),
            last_seen_at: session.last_seen_at.into(),
            current: session.is_current,
        }
    }
}

/// List my sessions
///
/// Those that have not ended, newest first.
#[utoipa::path(
    get,
    path = "/v1/me/sessions",
    tag = "me",
    security(("access_token" = [])),
    params(PageQuery),
    responses((status = 200, description = "A page of sessions", body = PageOf<Session>))
)]
pub(super) async fn list_my_sessions(
    State(accounts): State<Accounts>,
    State(cursors): State<Cursors>,
    player: Player,
    Query(query): Query<PageQuery>,
) -> Result<Json<PageOf<Session>>, Problem> {
    const LIST: &str = "sessions";
    let cursor = cursors.open(LIST, &player, query.cursor.as_deref())?;
    let page = accounts.sessions(&player, cursor, query.limit.items()).await?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(Session::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(LIST, &player, &next)),
    }))
}

/// Sign out everywhere
///
/// Ends all sessions of the player, this one too: within a second their access tokens are refused
/// and their sockets closed, on every node. Devices are not forgotten by it.
#[utoipa::path(
    delete,
    path = "/v1/me/sessions",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 204, description = "All have ended"))
)]
pub(super) async fn sign_out_everywhere(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<StatusCode, Problem> {
    accounts.sign_out_everywhere(&player).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// End one of my sessions
///
/// As signing out there would. One that has ended stays so.
#[utoipa::path(
    delete,
    path = "/v1/me/sessions/{id}",
    tag = "me",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The session")),
    responses(
        (status = 204, description = "It has ended"),
        (status = 404, description = "`session_not_found`: there is no such session, or it is not \
            yours", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn end_my_session(
    State(accounts): State<Accounts>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    accounts.end_session(&player, SessionId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Forget my devices
///
/// None of them signs the player in by itself any more. Sessions go on.
#[utoipa::path(
    delete,
    path = "/v1/me/devices",
    tag = "me",
    security(("access_token" = [])),
    params(ProofHeader),
    responses(
        (status = 204, description = "They are forgotten"),
        (status = 403, description = "`proof_missing`, `proof_refused`: show first by \
            `POST /v1/me/proof` that the account is yours", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`last_sign_in`: there would be no way left to sign in",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn forget_my_devices(
    State(accounts): State<Accounts>,
    holder: Holder,
) -> Result<StatusCode, Problem> {
    accounts.forget_devices(&holder.player).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Another id for a device.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeDevice {
    /// The one that signs the player in.
    #[schema(value_type = DeviceText)]
    device_id: DeviceId,
    /// Another random text. Keep it before you call, so that it is not lost with the answer.
    #[schema(
        value_type = String,
        pattern = "^[!-~]{16,128}$",
        example = "a9c44f0d-2f6e-4d0b-8f0f-0d7b5d1f6c38"
    )]
    new_device_id: DeviceId,
}

/// Change the id of my device
///
/// For who fears that somebody has a copy of it. The new one signs the player in from now on and the old
/// one does so no more; all other sessions of the player end. The same call again changes nothing.
#[utoipa::path(
    put,
    path = "/v1/me/device",
    tag = "me",
    security(("access_token" = [])),
    request_body = ChangeDevice,
    responses(
        (status = 204, description = "It is changed"),
        (status = 403, description = "`device_wrong`: the device is not this player's",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`device_taken`: the new id signs in another player",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`", body = ProblemBody,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn change_my_device(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<ChangeDevice>,
) -> Result<StatusCode, Problem> {
    let ChangeDevice { device_id, new_device_id } = body;
    if device_id == new_device_id {
        return Err(Code::BodyInvalid.because("the new device id is the old one"));
    }
    accounts.change_device(&player, &device_id, &new_device_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
