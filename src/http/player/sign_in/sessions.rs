//! The sessions and devices of a player.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{Accounts, DeviceId, LiveSession};
use crate::auth::{Holder, Player};
use crate::ids::SessionId;

use crate::http::{
    Body, Code, CodeExt as _, Cursors, DeviceText, PageOf, PageQuery, Path, Problem, ProblemBody,
    Query, Time,
};
use bahay_api::ProofHeader;

/// A live session.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Session {
    id: Uuid,
    /// The sign-in method: `guest`, `password` or `openid`.
    #[schema(example = "password")]
    method: &'static str,
    /// The `User-Agent` of the client.
    #[schema(required = true, example = "Tongits/2.1 (Android 15)")]
    user_agent: Option<String>,
    /// The address of the last refresh; for IPv6 only the network.
    #[schema(required = true, example = "203.0.113.7")]
    address: Option<String>,
    created_at: Time,
    /// The time of the sign-in or of the last refresh.
    last_seen_at: Time,
    /// True if this is the session of the request.
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
/// Lists live sessions, newest first.
#[utoipa::path(
    get,
    path = "/v1/me/sessions",
    tag = "me",
    security(("access_token" = [])),
    params(PageQuery),
    responses((status = 200, description = "A page of sessions", body = PageOf<Session>))
)]
pub(crate) async fn list_my_sessions(
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
/// Ends all sessions of the player, including this one. Within a second their access tokens are
/// refused and their sockets closed, on every node. Devices keep signing the player in.
#[utoipa::path(
    delete,
    path = "/v1/me/sessions",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 204, description = "All sessions have ended"))
)]
pub(crate) async fn sign_out_everywhere(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<StatusCode, Problem> {
    accounts.sign_out_everywhere(&player).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// End one of my sessions
///
/// Has the same effect as signing out in that session. Idempotent for a session that has ended.
#[utoipa::path(
    delete,
    path = "/v1/me/sessions/{id}",
    tag = "me",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The session")),
    responses(
        (status = 204, description = "The session has ended"),
        (status = 404, description = "`session_not_found`: the session does not exist, or belongs \
            to another player", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn end_my_session(
    State(accounts): State<Accounts>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    accounts.end_session(&player, SessionId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Forget my devices
///
/// None of the devices signs the player in by itself any more. Sessions are not affected.
#[utoipa::path(
    delete,
    path = "/v1/me/devices",
    tag = "me",
    security(("access_token" = [])),
    params(ProofHeader),
    responses(
        (status = 204, description = "The devices are forgotten"),
        (status = 403, description = "`proof_missing`, `proof_refused`: obtain an account proof by \
            `POST /v1/me/proof` first", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`last_sign_in`: the player would have no sign-in method left",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn forget_my_devices(
    State(accounts): State<Accounts>,
    holder: Holder,
) -> Result<StatusCode, Problem> {
    accounts.forget_devices(&holder.player).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A change of a device's id.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceChangeRequest {
    /// The id that signs the player in at present.
    #[schema(value_type = DeviceText)]
    device_id: DeviceId,
    /// The new id, another random text. Store it before the call, so that it is not lost with the
    /// response.
    #[schema(
        value_type = String,
        pattern = "^[!-~]{16,128}$",
        example = "a9c44f0d-2f6e-4d0b-8f0f-0d7b5d1f6c38"
    )]
    new_device_id: DeviceId,
}

/// Change the id of my device
///
/// For players who fear that somebody has a copy of the id. From now on only the new id signs the
/// player in, and all other sessions of the player end. Idempotent.
#[utoipa::path(
    put,
    path = "/v1/me/device",
    tag = "me",
    security(("access_token" = [])),
    request_body = DeviceChangeRequest,
    responses(
        (status = 204, description = "The change is made"),
        (status = 403, description = "`device_wrong`: the device belongs to another player",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`device_taken`: the new id signs in another player",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`", body = ProblemBody,
            content_type = "application/problem+json"),
    )
)]
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
