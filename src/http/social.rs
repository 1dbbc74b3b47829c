//! Whom a player mutes or blocks, and reports.

use axum::Json;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::ids::{GameId, PlayerId};
use crate::live_store::{LiveStore, SeatClaim};
use crate::social::{self, Related, Relation, Report, Social, SocialError, Talk};

use super::{Body, Code, Path, Problem, ProblemBody, Services, Time, unread};

/// Players whom the player has listed, the latest first. At most 500.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ListedPlayers {
    items: Vec<ListedPlayer>,
}

/// A player whom another has listed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ListedPlayer {
    player: Uuid,
    #[schema(example = "Maria")]
    name: String,
    since: Time,
}

impl From<Related> for ListedPlayer {
    fn from(related: Related) -> Self {
        let Related { player, name, since_ms } = related;
        Self { player: player.0, name, since: Time::from_ms(since_ms) }
    }
}

/// List whom I block
#[utoipa::path(
    get,
    path = "/v1/me/blocks",
    tag = "players",
    security(("access_token" = [])),
    responses((status = 200, description = "The players", body = ListedPlayers))
)]
pub(super) async fn list_blocks(
    State(social): State<Social>,
    player: Player,
) -> Result<Json<ListedPlayers>, Problem> {
    listed(&social, player, Relation::Block).await
}

/// Block a player
///
/// The two are not seated together by the house, and what the other says is not heard.
#[utoipa::path(
    put,
    path = "/v1/me/blocks/{id}",
    tag = "players",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The other player")),
    responses(
        (status = 204, description = "The player is blocked"),
        (status = 404, description = "`player_not_found`: there is no such player",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`own_player`, or `too_many_relations`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn block_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    services.social.relate(player.id, Relation::Block, PlayerId(id)).await?;
    Ok(told(&services.live, player).await)
}

/// Unblock a player
#[utoipa::path(
    delete,
    path = "/v1/me/blocks/{id}",
    tag = "players",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The other player")),
    responses((status = 204, description = "The player is not blocked"))
)]
pub(super) async fn unblock_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let gone = services.social.unrelate(player.id, Relation::Block, PlayerId(id)).await;
    gone.map_err(unread)?;
    Ok(told(&services.live, player).await)
}

/// List whom I mute
#[utoipa::path(
    get,
    path = "/v1/me/mutes",
    tag = "players",
    security(("access_token" = [])),
    responses((status = 200, description = "The players", body = ListedPlayers))
)]
pub(super) async fn list_mutes(
    State(social): State<Social>,
    player: Player,
) -> Result<Json<ListedPlayers>, Problem> {
    listed(&social, player, Relation::Mute).await
}

/// Mute a player
///
/// What the other says is not heard, from now on.
#[utoipa::path(
    put,
    path = "/v1/me/mutes/{id}",
    tag = "players",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The other player")),
    responses(
        (status = 204, description = "The player is muted"),
        (status = 404, description = "`player_not_found`: there is no such player",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`own_player`, or `too_many_relations`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn mute_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    services.social.relate(player.id, Relation::Mute, PlayerId(id)).await?;
    Ok(told(&services.live, player).await)
}

/// Unmute a player
#[utoipa::path(
    delete,
    path = "/v1/me/mutes/{id}",
    tag = "players",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The other player")),
    responses((status = 204, description = "The player is not muted"))
)]
pub(super) async fn unmute_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let gone = services.social.unrelate(player.id, Relation::Mute, PlayerId(id)).await;
    gone.map_err(unread)?;
    Ok(told(&services.live, player).await)
}

/// Why a player is reported.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReportReason {
    Cheating,
    Collusion,
    Abuse,
    Name,
    Stalling,
    Other,
}

/// What a player reports about another one of a game.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportPlayer {
    player: Uuid,
    reason: ReportReason,
    /// In the player's own words; nothing invisible but line breaks.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 500,
        pattern = "^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f]+$", example = "They showed each other their cards.")]
    words: Option<Words>,
}

/// A text that people are to read.
#[derive(Debug)]
struct Words(String);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_long = text.chars().count() > social::WORDS_MAX;
        let is_odd = |letter: char| letter.is_ascii_control() && letter != '\n';
        if text.is_empty() || is_long || text.contains(is_odd) {
            let why = "words are 1 to 500 characters, and of control characters only line breaks";
            return Err(serde::de::Error::custom(why));
        }
        Ok(Self(text))
    }
}

/// Report a player of my game
///
/// The game's record is the evidence. One report about each other player a game; people read it.
#[utoipa::path(
    post,
    path = "/v1/games/{id}/reports",
    tag = "players",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The game")),
    request_body = ReportPlayer,
    responses(
        (status = 204, description = "The report is kept"),
        (status = 404, description = "`game_not_found`: you have not played that game with that \
            player", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`own_player`, or `already_reported`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn report_player(
    State(social): State<Social>,
    player: Player,
    Path(id): Path<Uuid>,
    Body(body): Body<ReportPlayer>,
) -> Result<StatusCode, Problem> {
    let report = Report {
        game: GameId(id),
        reporter: player.id,
        reported: PlayerId(body.player),
        reason: body.reason.into(),
        words: body.words.map(|Words(text)| text),
    };
    social.report(&report).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn listed(
    social: &Social,
    player: Player,
    relation: Relation,
) -> Result<Json<ListedPlayers>, Problem> {
    let related = social.related(player.id, relation).await.map_err(unread)?;
    Ok(Json(ListedPlayers { items: related.into_iter().map(ListedPlayer::from).collect() }))
}

/// Tells the player's connections, wherever they are. One that is not told learns it when it joins
/// a table the next time.
async fn told(live: &LiveStore, player: Player) -> StatusCode {
    let told = async {
        match live.seat_claim(player.id).await? {
            SeatClaim::None => Ok(()),
            SeatClaim::Pending(table) | SeatClaim::Held(table) => {
                live.talk(table, &Talk::Relations { player: player.id }.line()).await
            }
        }
    };
    if let Err(error) = told.await {
        tracing::warn!(player = %player.id, %error, "a mute takes effect later");
    }
    StatusCode::NO_CONTENT
}

impl From<ReportReason> for social::Reason {
    fn from(reason: ReportReason) -> Self {
        match reason {
            ReportReason::Cheating => Self::Cheating,
            ReportReason::Collusion => Self::Collusion,
            ReportReason::Abuse => Self::Abuse,
            ReportReason::Name => Self::Name,
            ReportReason::Stalling => Self::Stalling,
            ReportReason::Other => Self::Other,
        }
    }
}

impl From<social::Reason> for ReportReason {
    fn from(reason: social::Reason) -> Self {
        match reason {
            social::Reason::Cheating => Self::Cheating,
            social::Reason::Collusion => Self::Collusion,
            social::Reason::Abuse => Self::Abuse,
            social::Reason::Name => Self::Name,
            social::Reason::Stalling => Self::Stalling,
            social::Reason::Other => Self::Other,
        }
    }
}

impl From<SocialError> for Problem {
    fn from(error: SocialError) -> Self {
        match error {
            SocialError::Oneself => Code::OwnPlayer.plain(),
            SocialError::NoSuchPlayer => Code::PlayerNotFound.plain(),
            SocialError::TooMany => Code::TooManyRelations.plain(),
            SocialError::NotInGame => Code::GameNotFound.plain(),
            SocialError::Reported => Code::AlreadyReported.plain(),
            SocialError::Database(error) => unread(error),
        }
    }
}

impl FromRef<Services> for Social {
    fn from_ref(services: &Services) -> Self {
        services.social.clone()
    }
}
