//! Blocks, mutes, and reports of other players.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::player::people::{ListedPlayer, ListedPlayers, PlayerReportRequest};
use uuid::Uuid;

use crate::auth::Player;
use crate::http::{Body, Code, CodeExt as _, Path, Problem, Services, Time, database_problem};
use crate::ids::{GameId, PlayerId};
use crate::live_store::{LiveStore, SeatClaim};
use crate::social::{RelatedPlayer, Relation, Report, Social, SocialError, TableBroadcast};

impl From<RelatedPlayer> for ListedPlayer {
    fn from(related: RelatedPlayer) -> Self {
        let RelatedPlayer { player, name, since_ms } = related;
        Self { player: player.0, name, since: Time::from_ms(since_ms) }
    }
}

pub(crate) async fn list_blocks(
    State(social): State<Social>,
    player: Player,
) -> Result<Json<ListedPlayers>, Problem> {
    let items = list_relation(&social, player.id, Relation::Block).await?;
    Ok(Json(ListedPlayers { items }))
}

pub(crate) async fn block_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    add_relation(&services, player, Relation::Block, id).await
}

pub(crate) async fn unblock_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    remove_relation(&services, player, Relation::Block, id).await
}

pub(crate) async fn list_mutes(
    State(social): State<Social>,
    player: Player,
) -> Result<Json<ListedPlayers>, Problem> {
    let items = list_relation(&social, player.id, Relation::Mute).await?;
    Ok(Json(ListedPlayers { items }))
}

pub(crate) async fn mute_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    add_relation(&services, player, Relation::Mute, id).await
}

pub(crate) async fn unmute_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    remove_relation(&services, player, Relation::Mute, id).await
}

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
        reason: body.reason,
        words: body.words.map(String::from),
    };
    social.file_report(&report).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the players whom a player blocks or mutes, the latest first.
pub(crate) async fn list_relation(
    social: &Social,
    player: PlayerId,
    relation: Relation,
) -> Result<Vec<ListedPlayer>, Problem> {
    let related = social.list_relations(player, relation).await.map_err(database_problem)?;
    Ok(related.into_iter().map(ListedPlayer::from).collect())
}

async fn add_relation(
    services: &Services,
    player: Player,
    relation: Relation,
    other: Uuid,
) -> Result<StatusCode, Problem> {
    services.social.add_relation(player.id, relation, PlayerId(other)).await?;
    Ok(announce_relations(&services.live, player).await)
}

async fn remove_relation(
    services: &Services,
    player: Player,
    relation: Relation,
    other: Uuid,
) -> Result<StatusCode, Problem> {
    let removed = services.social.remove_relation(player.id, relation, PlayerId(other)).await;
    removed.map_err(database_problem)?;
    Ok(announce_relations(&services.live, player).await)
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
