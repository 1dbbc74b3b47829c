//! Finished games, for those who played them.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::db::{Failure, PgPool};
use crate::games::{self, GameState, PlayedGame, RecordedGame};
use crate::ids::GameId;

use super::{
    Code, Coins, Cursors, PageOf, PageQuery, Path, Problem, ProblemBody, Query, Services, Time,
};

/// A finished game as one of its players lists it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MyGame {
    id: Uuid,
    table: Uuid,
    #[schema(example = "newbie")]
    room: String,
    #[schema(inline)]
    state: Finished,
    /// Where the player sat, from 0.
    #[schema(maximum = 7)]
    seat: u8,
    /// What the player paid into the POT before the deal.
    ante: Coins,
    /// The most that the player could lose beside the ante.
    stake: Coins,
    /// What the game changed for the player, the ante aside: the fee is taken off, the POT is in
    /// it. Zero when the game was voided.
    net: Coins,
    opened_at: Time,
    finished_at: Time,
}

/// How a game ended as far as coins are concerned.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Finished {
    Settled,
    /// The game could not be finished; every coin went back.
    Voided,
}

/// List my games
///
/// Finished games, newest first.
#[utoipa::path(
    get,
    path = "/v1/me/games",
    tag = "games",
    security(("access_token" = [])),
    params(PageQuery),
    responses((status = 200, description = "A page of games", body = PageOf<MyGame>))
)]
pub(super) async fn list_my_games(
    State(pool): State<PgPool>,
    State(cursors): State<Cursors>,
    player: Player,
    Query(query): Query<PageQuery>,
) -> Result<Json<PageOf<MyGame>>, Problem> {
    const LIST: &str = "games";
    let cursor = cursors.open(LIST, &player, query.cursor.as_deref())?;
    let page = games::by_player(&pool, player.id, cursor, query.limit.items())
        .await
        .map_err(|error| unread(Failure::of(&error), &error))?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(MyGame::try_from).collect::<Result<_, _>>()?,
        next_cursor: page.next.map(|next| cursors.seal(LIST, &player, &next)),
    }))
}

impl TryFrom<PlayedGame> for MyGame {
    type Error = Problem;

    fn try_from(game: PlayedGame) -> Result<Self, Problem> {
        let state = match game.state {
            GameState::Settled => Finished::Settled,
            GameState::Voided => Finished::Voided,
            GameState::Open => {
                return Err(Problem::internal(&"an open game in a list of finished"));
            }
        };
        Ok(Self {
            id: game.game.0,
            table: game.table.0,
            room: game.room,
            state,
            seat: u8::try_from(game.seat.index()).unwrap_or(u8::MAX),
            ante: game.ante.into(),
            stake: game.stake.into(),
            net: game.net.into(),
            opened_at: Time::from_ms(game.opened_at_ms),
            finished_at: Time::from_ms(game.finished_at_ms),
        })
    }
}

/// Show the record of a game
///
/// Everything that is needed to verify the game: save the answer and give it to `bahay verify`.
/// Only for the players of the game; to everybody else it does not exist.
#[utoipa::path(
    get,
    path = "/v1/games/{id}/record",
    tag = "games",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The game")),
    responses(
        (status = 200, description = "The record", body = Object),
        (
            status = 404,
            description = "`game_not_found`: there is no such game, or it was not yours",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 409,
            description = "`game_not_finished` or `game_voided`: there is no record",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(super) async fn show_game_record(
    State(pool): State<PgPool>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<Value>, Problem> {
    let game = games::record(&pool, GameId(id))
        .await
        .map_err(|error| unread(Failure::of(&error), &error))?
        // Whether a game of others exists is not told.
        .filter(|game| game.players.contains(&player.id))
        .ok_or_else(|| Code::GameNotFound.plain())?;
    match game {
        RecordedGame { state: GameState::Settled, record: Some(record), .. } => Ok(Json(record)),
        RecordedGame { state: GameState::Settled, record: None, .. } => {
            Err(Problem::internal(&format_args!("settled game {id} has no record")))
        }
        RecordedGame { state: GameState::Open, .. } => Err(Code::GameNotFinished.plain()),
        RecordedGame { state: GameState::Voided, .. } => Err(Code::GameVoided.plain()),
    }
}

fn unread(failure: Failure, error: &dyn std::fmt::Display) -> Problem {
    match failure {
        Failure::Contended | Failure::Lost | Failure::Exhausted => Problem::unavailable(error),
        Failure::Broken => Problem::internal(error),
    }
}

impl axum::extract::FromRef<Services> for PgPool {
    fn from_ref(services: &Services) -> Self {
        services.pool.clone()
    }
}
