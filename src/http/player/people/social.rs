//! Blocks, mutes, and reports of other players.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::ids::{GameId, PlayerId};
use crate::live_store::{LiveStore, SeatClaim};
use crate::social::{self, RelatedPlayer, Relation, Report, Social, SocialError, TableBroadcast};

use crate::http::{
    Body, Code, CodeExt as _, Path, Problem, ProblemBody, Services, Time, database_problem,
};

/// The blocked or muted players, the latest first; at most 500.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedPlayers {
    items: Vec<ListedPlayer>,
}

/// A blocked or muted player.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedPlayer {
    player: Uuid,
    #[schema(example = "Maria")]
    name: String,
    since: Time,
}

impl From<RelatedPlayer> for ListedPlayer {
    fn from(related: RelatedPlayer) -> Self {
        let RelatedPlayer { player, name, since_ms } = related;
        Self { player: player.0, name, since: Time::from_ms(since_ms) }
    }
}

/// List the players I block
#[utoipa::path(
    get,
    path = "/v1/me/blocks",
    tag = "players",
    security(("access_token" = [])),
    responses((status = 200, description = "The players", body = ListedPlayers))
)]
pub(crate) async fn list_blocks(
    State(social): State<Social>,
    player: Player,
) -> Result<Json<ListedPlayers>, Problem> {
    list_relation(&social, player, Relation::Block).await
}

/// Block a player
///
/// The house does not seat the two players together, and the other player's messages are not shown.
#[utoipa::path(
    put,
    path = "/v1/me/blocks/{id}",
    tag = "players",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The other player")),
    responses(
        (status = 204, description = "The player is blocked"),
        (status = 404, description = "`player_not_found`: the player does not exist",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`own_player`, or `too_many_relations`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn block_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    services.social.add_relation(player.id, Relation::Block, PlayerId(id)).await?;
    Ok(announce_relations(&services.live, player).await)
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
pub(crate) async fn unblock_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let removed = services.social.remove_relation(player.id, Relation::Block, PlayerId(id)).await;
    removed.map_err(database_problem)?;
    Ok(announce_relations(&services.live, player).await)
}

/// List the players I mute
#[utoipa::path(
    get,
    path = "/v1/me/mutes",
    tag = "players",
    security(("access_token" = [])),
    responses((status = 200, description = "The players", body = ListedPlayers))
)]
pub(crate) async fn list_mutes(
    State(social): State<Social>,
    player: Player,
) -> Result<Json<ListedPlayers>, Problem> {
    list_relation(&social, player, Relation::Mute).await
}

/// Mute a player
///
/// The other player's messages are not shown from now on.
#[utoipa::path(
    put,
    path = "/v1/me/mutes/{id}",
    tag = "players",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The other player")),
    responses(
        (status = 204, description = "The player is muted"),
        (status = 404, description = "`player_not_found`: the player does not exist",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`own_player`, or `too_many_relations`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn mute_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    services.social.add_relation(player.id, Relation::Mute, PlayerId(id)).await?;
    Ok(announce_relations(&services.live, player).await)
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
pub(crate) async fn unmute_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let removed = services.social.remove_relation(player.id, Relation::Mute, PlayerId(id)).await;
    removed.map_err(database_problem)?;
    Ok(announce_relations(&services.live, player).await)
}

/// The reason for a report.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportReason {
    Cheating,
    Collusion,
    Abuse,
    Name,
    Stalling,
    Other,
}

/// A report about another player of a game.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlayerReportRequest {
    player: Uuid,
    reason: ReportReason,
    /// A description in the player's own words. Control characters are not allowed, except line
    /// breaks.
    #[schema(
        value_type = Option<String>,
        min_length = 1,
        max_length = 500,
        pattern = "^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f]+$",
        example = "They showed each other their cards."
    )]
    words: Option<ReportText>,
}

/// The text of a report: 1 to 500 characters.
#[derive(Debug)]
struct ReportText(String);

impl<'de> Deserialize<'de> for ReportText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_long = text.chars().count() > social::REPORT_TEXT_MAX;
        let is_odd = |letter: char| letter.is_ascii_control() && letter != '\n';
        if text.is_empty() || is_long || text.contains(is_odd) {
            return Err(serde::de::Error::custom(
                "a text has 1 to 500 characters, without control characters except line breaks",
            ));
        }
        Ok(Self(text))
    }
}

/// Report a player of my game
///
/// The record of the game is the evidence. A player may make one report per game about each other
/// player. Operators read the reports.
#[utoipa::path(
    post,
    path = "/v1/games/{id}/reports",
    tag = "players",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The game")),
    request_body = PlayerReportRequest,
    responses(
        (status = 204, description = "The report is stored"),
        (status = 404, description = "`game_not_found`: the two players did not both play in the \
            game", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`own_player`, or `already_reported`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn report_player(
    State(social): State<Social>,
    player: Player,
    Path(id): Path<Uuid>,
    Body(body): Body<PlayerReportRequest>,
) -> Result<StatusCode, Problem> {
    let report = Report {
        game: GameId(id),
        reporter: player.id,
        reported: PlayerId(body.player),
        reason: body.reason.into(),
        words: body.words.map(|ReportText(text)| text),
    };
    social.file_report(&report).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list_relation(
    social: &Social,
    player: Player,
    relation: Relation,
) -> Result<Json<ListedPlayers>, Problem> {
    let related = social.list_relations(player.id, relation).await.map_err(database_problem)?;
    Ok(Json(ListedPlayers { items: related.into_iter().map(ListedPlayer::from).collect() }))
}

/// Publishes the change to the player's table, wherever its connections are. A connection that
/// misses it reads the relations when it next joins a table.
async fn announce_relations(live: &LiveStore, player: Player) -> StatusCode {
    let announced = async {
        match live.seat_claim(player.id).await? {
            SeatClaim::None => Ok(()),
            SeatClaim::Pending(table) | SeatClaim::Held(table) => {
                let line = TableBroadcast::Relations { player: player.id }.to_line();
                live.publish_talk(table, &line).await
            }
        }
    };
    if let Err(error) = announced.await {
        let player = player.id;
        tracing::warn!(%player, %error, "a change of blocks or mutes takes effect later");
    }
    StatusCode::NO_CONTENT
}

impl From<ReportReason> for social::ReportReason {
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

impl From<social::ReportReason> for ReportReason {
    fn from(reason: social::ReportReason) -> Self {
        match reason {
            social::ReportReason::Cheating => Self::Cheating,
            social::ReportReason::Collusion => Self::Collusion,
            social::ReportReason::Abuse => Self::Abuse,
            social::ReportReason::Name => Self::Name,
            social::ReportReason::Stalling => Self::Stalling,
            social::ReportReason::Other => Self::Other,
        }
    }
}

impl From<SocialError> for Problem {
    fn from(error: SocialError) -> Self {
        match error {
            SocialError::Oneself => Code::OwnPlayer.problem(),
            SocialError::NoSuchPlayer => Code::PlayerNotFound.problem(),
            SocialError::TooMany => Code::TooManyRelations.problem(),
            SocialError::NotInGame => Code::GameNotFound.problem(),
            SocialError::Reported => Code::AlreadyReported.problem(),
            SocialError::Database(error) => database_problem(error),
        }
    }
}
