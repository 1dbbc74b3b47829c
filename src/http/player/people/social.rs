//! Blocks, mutes, and reports of other players.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::player::people::{ListedPlayers, PlayerReportRequest};
use uuid::Uuid;

use crate::auth::Player;
use crate::http::{Body, Code, CodeExt as _, Path, Problem, Services};
use crate::ids::{GameId, PlayerId};
use crate::live_store::{LiveStore, SeatClaim};
use crate::social::{Relation, Report, Social, SocialError, TableBroadcast};

pub(crate) async fn list_blocks(
    State(social): State<Social>,
    player: Player,
) -> Result<Json<ListedPlayers>, Problem> {
    let items = social.list_relations(player.id, Relation::Block).await?;
    Ok(Json(ListedPlayers { items }))
}

pub(crate) async fn block_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    services.social.add_relation(player.id, Relation::Block, PlayerId(id)).await?;
    Ok(announce_relations(&services.live, player).await)
}

pub(crate) async fn unblock_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    services.social.remove_relation(player.id, Relation::Block, PlayerId(id)).await?;
    Ok(announce_relations(&services.live, player).await)
}

pub(crate) async fn list_mutes(
    State(social): State<Social>,
    player: Player,
) -> Result<Json<ListedPlayers>, Problem> {
    let items = social.list_relations(player.id, Relation::Mute).await?;
    Ok(Json(ListedPlayers { items }))
}

pub(crate) async fn mute_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    services.social.add_relation(player.id, Relation::Mute, PlayerId(id)).await?;
    Ok(announce_relations(&services.live, player).await)
}

pub(crate) async fn unmute_player(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    services.social.remove_relation(player.id, Relation::Mute, PlayerId(id)).await?;
    Ok(announce_relations(&services.live, player).await)
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
            SocialError::Database(error) => error.into(),
        }
    }
}
