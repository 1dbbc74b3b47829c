//! Sanctions, that is bans and mutes, as operators impose and lift them.

use axum::Json;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{Sanction, SanctionError, SanctionKind, SanctionRecord};
use crate::clock;
use crate::db::Failure;
use crate::ids::PlayerId;
use crate::operators::{Operator, Sanctions};
use crate::reason::Reason;

use crate::http::core::idempotency::{IdempotentRequest, RequiredKeyHeader};
use crate::http::{Code, CodeExt as _, Path, Problem, ProblemBody, ReasonText, Services, Time};

/// A request to ban or mute a player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SanctionRequest {
    /// The reason, which the player can read.
    #[schema(value_type = ReasonText)]
    reason: Reason,
    /// The duration in hours, up to ten years; null for a permanent sanction.
    #[schema(required = false, minimum = 1, maximum = 87_600, example = 72)]
    hours: Option<u32>,
}

/// A ban or a mute of a player.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayerSanction {
    reason: String,
    /// The time at which it was imposed.
    imposed_at: Time,
    /// The time at which it ends; null if it is permanent.
    #[schema(required = true)]
    ends_at: Option<Time>,
    #[schema(required = true)]
    lifted_at: Option<Time>,
}

/// All bans, or all mutes, of a player, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayerSanctions {
    items: Vec<PlayerSanction>,
}

/// The longest temporary sanction, in hours.
pub(crate) const HOURS_MAX: u32 = 87_600;

/// Returns a sanction that begins now, or an error if the hours are out of bounds.
pub(crate) fn build_sanction(
    services: &Services,
    reason: Reason,
    hours: Option<u32>,
) -> Result<Sanction, Problem> {
    if hours.is_some_and(|hours| !(1..=HOURS_MAX).contains(&hours)) {
        return Err(Code::BodyInvalid.with_detail("hours must be 1 to 87600"));
    }
    let hour = std::time::Duration::from_hours(1);
    let ends_at = hours.map(|hours| clock::add(services.clock.now(), hour * hours));
    Ok(Sanction { reason, ends_at })
}

/// The kind of sanction in a path.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SanctionPath {
    Bans,
    Mutes,
}

impl From<SanctionPath> for SanctionKind {
    fn from(path: SanctionPath) -> Self {
        match path {
            SanctionPath::Bans => Self::Ban,
            SanctionPath::Mutes => Self::Mute,
        }
    }
}

/// List a player's bans or mutes
///
/// For operators of every role. The list of an unknown player is empty.
#[utoipa::path(
    get,
    path = "/v1/operator/players/{id}/{sanctions}",
    tag = "operators",
    security(("operator_token" = [])),
    params(
        ("id" = Uuid, Path, description = "The player"),
        ("sanctions" = inline(SanctionPath), Path, description = "The kind of sanction")
    ),
    responses((status = 200, description = "The bans or mutes", body = PlayerSanctions))
)]
pub(crate) async fn list_sanctions(
    State(sanctions): State<Sanctions>,
    _operator: Operator,
    Path((player, path)): Path<(Uuid, SanctionPath)>,
) -> Result<Json<PlayerSanctions>, Problem> {
    list_of_kind(&sanctions, PlayerId(player), path.into()).await
}

/// Ban or mute a player
///
/// A ban ends all of the player's sessions, on every node within a second; the AI finishes a
/// running game. A mute rejects the player's chat messages from now on, on every node; the player
/// plays on. For the roles `support` and `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/players/{id}/{sanctions}",
    tag = "operators",
    security(("operator_token" = [])),
    params(
        ("id" = Uuid, Path, description = "The player"),
        ("sanctions" = inline(SanctionPath), Path, description = "The kind of sanction"),
        RequiredKeyHeader
    ),
    request_body = SanctionRequest,
    responses(
        (status = 201, description = "The player's bans or mutes", body = PlayerSanctions),
        (status = 404, description = "`player_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn impose_sanction(
    State(services): State<Services>,
    operator: Operator,
    Path((player, path)): Path<(Uuid, SanctionPath)>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_moderator()?;
    let request = request.require_key()?;
    let SanctionRequest { reason, hours } = request.parse_body()?;
    let sanction = build_sanction(&services, reason, hours)?;
    let sanctions = Sanctions::from_ref(&services);
    let player = PlayerId(player);
    let kind = SanctionKind::from(path);
    let work = async move |_| {
        sanctions.impose(&by, player, kind, &sanction).await?;
        Ok((StatusCode::CREATED, list_of_kind(&sanctions, player, kind).await?))
    };
    Ok(request.execute(&operator, work).await)
}

/// Lift a player's bans or mutes
///
/// Lifts all that are in force. For the roles `support` and `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/players/{id}/{sanctions}/lifting",
    tag = "operators",
    security(("operator_token" = [])),
    params(
        ("id" = Uuid, Path, description = "The player"),
        ("sanctions" = inline(SanctionPath), Path, description = "The kind of sanction"),
        RequiredKeyHeader
    ),
    responses(
        (status = 200, description = "The player's bans or mutes", body = PlayerSanctions),
        (status = 409, description = "`not_banned`, `not_muted`. Or `idempotency_key_in_use`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn lift_sanctions(
    State(sanctions): State<Sanctions>,
    operator: Operator,
    Path((player, path)): Path<(Uuid, SanctionPath)>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_moderator()?;
    let request = request.require_key()?;
    let player = PlayerId(player);
    let kind = SanctionKind::from(path);
    let work = async move |_| {
        sanctions.lift(&by, player, kind).await?;
        list_of_kind(&sanctions, player, kind).await
    };
    Ok(request.execute(&operator, work).await)
}

async fn list_of_kind(
    sanctions: &Sanctions,
    player: PlayerId,
    kind: SanctionKind,
) -> Result<Json<PlayerSanctions>, Problem> {
    let listed = sanctions.list(player, kind).await.map_err(SanctionError::from)?;
    let items = listed.into_iter().map(|SanctionRecord { sanction, imposed_at, lifted_at }| {
        PlayerSanction {
            reason: sanction.reason.to_string(),
            imposed_at: imposed_at.into(),
            ends_at: sanction.ends_at.map(Time::from),
            lifted_at: lifted_at.map(Time::from),
        }
    });
    Ok(Json(PlayerSanctions { items: items.collect() }))
}

impl FromRef<Services> for Sanctions {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone(), services.clock.clone())
    }
}

impl From<SanctionError> for Problem {
    fn from(error: SanctionError) -> Self {
        match &error {
            SanctionError::PlayerNotFound => Code::PlayerNotFound.problem(),
            SanctionError::NotBanned => Code::NotBanned.problem(),
            SanctionError::NotMuted => Code::NotMuted.problem(),
            SanctionError::Database(cause) => {
                if Failure::classify(cause).is_transient() {
                    Self::unavailable(&error)
                } else {
                    Self::internal(&error)
                }
            }
        }
    }
}
