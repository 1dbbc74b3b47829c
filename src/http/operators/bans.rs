//! Bans and mutes as operators make and lift them.

use axum::Json;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{Ban, BanError, Bar, ListedBan};
use crate::clock;
use crate::db::Failure;
use crate::ids::PlayerId;
use crate::operators::{Barring, Operator};
use crate::reason::Reason;

use super::super::idempotency::{Once, RequiredKey};
use super::super::{Code, Path, Problem, ProblemBody, ReasonText, Services, Time};

/// A ban or a mute to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct BarPlayer {
    /// Told to the player.
    #[schema(value_type = ReasonText)]
    reason: Reason,
    /// How long, in hours, up to ten years; null for good.
    #[schema(required = false, minimum = 1, maximum = 87_600, example = 72)]
    hours: Option<u32>,
}

/// A ban or a mute of a player.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct BarOfPlayer {
    reason: String,
    /// When it began.
    banned_at: Time,
    /// Null for good.
    #[schema(required = true)]
    ends_at: Option<Time>,
    #[schema(required = true)]
    lifted_at: Option<Time>,
}

/// All bans, or all mutes, that a player has had, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct BarsOfPlayer {
    items: Vec<BarOfPlayer>,
}

/// The longest ban or mute that ends, in hours.
pub(in crate::http) const HOURS_MAX: u32 = 87_600;

/// A ban or a mute that begins now.
pub(in crate::http) fn ban_of(
    services: &Services,
    reason: Reason,
    hours: Option<u32>,
) -> Result<Ban, Problem> {
    if hours.is_some_and(|hours| !(1..=HOURS_MAX).contains(&hours)) {
        return Err(Code::BodyInvalid.because("hours are 1 to 87600"));
    }
    let hour = std::time::Duration::from_hours(1);
    let ends_at = hours.map(|hours| clock::after(services.clock.now(), hour * hours));
    Ok(Ban { reason, ends_at })
}

/// What is listed, begun or lifted.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::http) enum Bars {
    Bans,
    Mutes,
}

impl From<Bars> for Bar {
    fn from(bars: Bars) -> Self {
        match bars {
            Bars::Bans => Self::Entry,
            Bars::Mutes => Self::Speech,
        }
    }
}

/// List a player's bans or mutes
///
/// For operators of every role. A player that there is not has none.
#[utoipa::path(
    get,
    path = "/v1/operator/players/{id}/{bars}",
    tag = "operators",
    security(("operator_token" = [])),
    params(
        ("id" = Uuid, Path, description = "The player"),
        ("bars" = inline(Bars), Path, description = "What the player is kept from")
    ),
    responses((status = 200, description = "The bans or mutes", body = BarsOfPlayer))
)]
pub(in crate::http) async fn list_bars(
    State(barring): State<Barring>,
    _operator: Operator,
    Path((player, bars)): Path<(Uuid, Bars)>,
) -> Result<Json<BarsOfPlayer>, Problem> {
    bars_of(&barring, PlayerId(player), bars.into()).await
}

/// Ban or mute a player
///
/// A ban ends all of the player's sessions, on every node within a second; a running game is
/// finished by the AI. What a muted player says at tables is refused from now on, on every node; it
/// plays on. For the roles `support` and `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/players/{id}/{bars}",
    tag = "operators",
    security(("operator_token" = [])),
    params(
        ("id" = Uuid, Path, description = "The player"),
        ("bars" = inline(Bars), Path, description = "What the player is kept from"),
        RequiredKey
    ),
    request_body = BarPlayer,
    responses(
        (status = 201, description = "The player's bans or mutes", body = BarsOfPlayer),
        (status = 404, description = "`player_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`idempotency_key_in_use`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(in crate::http) async fn bar_player(
    State(services): State<Services>,
    operator: Operator,
    Path((player, bars)): Path<(Uuid, Bars)>,
    once: Once,
) -> Result<Response, Problem> {
    let by = operator.guardian()?;
    let once = once.keyed()?;
    let BarPlayer { reason, hours } = once.body()?;
    let ban = ban_of(&services, reason, hours)?;
    let barring = Barring::from_ref(&services);
    let (player, bar) = (PlayerId(player), Bar::from(bars));
    let work = async move |_| {
        barring.ban(&by, player, bar, &ban).await?;
        Ok((StatusCode::CREATED, bars_of(&barring, player, bar).await?))
    };
    Ok(once.answer(&operator, work).await)
}

/// Lift a player's bans or mutes
///
/// All that are in force. For the roles `support` and `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/players/{id}/{bars}/lifting",
    tag = "operators",
    security(("operator_token" = [])),
    params(
        ("id" = Uuid, Path, description = "The player"),
        ("bars" = inline(Bars), Path, description = "What the player is kept from"),
        RequiredKey
    ),
    responses(
        (status = 200, description = "The player's bans or mutes", body = BarsOfPlayer),
        (status = 409, description = "`not_banned`, `not_muted`. Or `idempotency_key_in_use`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(in crate::http) async fn lift_bars(
    State(barring): State<Barring>,
    operator: Operator,
    Path((player, bars)): Path<(Uuid, Bars)>,
    once: Once,
) -> Result<Response, Problem> {
    let by = operator.guardian()?;
    let once = once.keyed()?;
    let (player, bar) = (PlayerId(player), Bar::from(bars));
    let work = async move |_| {
        barring.lift(&by, player, bar).await?;
        bars_of(&barring, player, bar).await
    };
    Ok(once.answer(&operator, work).await)
}

async fn bars_of(
    barring: &Barring,
    player: PlayerId,
    bar: Bar,
) -> Result<Json<BarsOfPlayer>, Problem> {
    let listed = barring.of(player, bar).await.map_err(BanError::from)?;
    let items = listed.into_iter().map(|ListedBan { ban, banned_at, lifted_at }| BarOfPlayer {
        reason: ban.reason.to_string(),
        banned_at: banned_at.into(),
        ends_at: ban.ends_at.map(Time::from),
        lifted_at: lifted_at.map(Time::from),
    });
    Ok(Json(BarsOfPlayer { items: items.collect() }))
}

impl FromRef<Services> for Barring {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone(), services.clock.clone())
    }
}

impl From<BanError> for Problem {
    fn from(error: BanError) -> Self {
        match &error {
            BanError::PlayerNotFound => Code::PlayerNotFound.plain(),
            BanError::NotBanned => Code::NotBanned.plain(),
            BanError::NotMuted => Code::NotMuted.plain(),
            BanError::Database(cause) => {
                if Failure::classify(cause).is_transient() {
                    Self::unavailable(&error)
                } else {
                    Self::internal(&error)
                }
            }
        }
    }
}
