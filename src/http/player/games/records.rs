//! Finished games, for their players.

use axum::Json;
use axum::extract::State;
use bahay_api::player::games::{
    FinalGameState, Game, GameFilter, GameSeat, GameSummary, SeatActions,
};
use bahay_engine::seat::Seat;
use serde_json::Value;
use uuid::Uuid;

use crate::archive::{self, GameDetail, GameState, RecordedGame, SeatDetail};
use crate::auth::Player;
use crate::db::PgPool;
use crate::ids::GameId;
use crate::records::Records;
use crate::replay::{ActionCounts, GameReplay};

use crate::http::core::game_names::{check_ending, require_kind};
use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Path, Problem, Time};

/// Checks what the types of the filter leave open.
fn check_filter(filter: &GameFilter) -> Result<(), Problem> {
    if filter.from.zip(filter.to).is_some_and(|(from, to)| from >= to) {
        return Err(Code::QueryInvalid.with_detail("`from` is not before `to`"));
    }
    filter.ending.as_ref().map_or(Ok(()), check_ending)?;
    filter.kind.as_ref().map(require_kind).transpose()?;
    Ok(())
}

pub(crate) async fn list_my_games(
    State(pool): State<PgPool>,
    request: PageRequest<Player, GameFilter>,
) -> Result<Json<PageOf<GameSummary>>, Problem> {
    let PageRequest { caller, filter, .. } = &request;
    check_filter(filter)?;
    let list = format!("games {filter:?}");
    let read = |below, limit| archive::list_by_player(&pool, caller.id, filter, below, limit);
    Ok(Json(request.read(&list, read).await?))
}

pub(crate) async fn show_game(
    State(pool): State<PgPool>,
    State(records): State<Records>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<Game>, Problem> {
    let game = archive::read_detail(&pool, &records, GameId(id))
        .await?
        // The response does not reveal whether a game of other players exists.
        .filter(|game| game.seats.iter().any(|seat| seat.player == player.id))
        .ok_or_else(|| Code::GameNotFound.problem())?;
    let state = match game.state {
        GameState::Settled => FinalGameState::Settled,
        GameState::Voided => FinalGameState::Voided,
        GameState::Open => return Err(Code::GameNotFinished.problem()),
    };
    let GameDetail { record, .. } = &game;
    let replayed = record.clone().map(GameReplay::from_value).transpose();
    let replayed = replayed.map_err(|error| Problem::internal(&error))?;
    let actions = replayed.as_ref().map(GameReplay::action_counts).unwrap_or_default();
    let ending = match (&replayed, &game.ending) {
        (_, Some(ending)) => Some(ending.clone()),
        (Some(replayed), None) => {
            Some(replayed.ending().map_err(|error| Problem::internal(&error))?.to_owned())
        }
        (None, None) => None,
    };
    let finished_at_ms = game.finished_at_ms;
    let finished_at_ms =
        finished_at_ms.ok_or_else(|| Problem::internal(&"a finished game has no end"))?;
    let seats = game.seats.into_iter().enumerate();
    Ok(Json(Game {
        id: game.game.0,
        table: game.table.0,
        kind: game.kind,
        room: game.room,
        state,
        ending,
        ante: game.ante.into(),
        seats: seats.map(|(index, seat)| game_seat(seat, actions.get(index).copied())).collect(),
        settlement: game.settlement,
        reversed_at: game.reversed_at_ms.map(Time::from_ms),
        opened_at: Time::from_ms(game.opened_at_ms),
        finished_at: Time::from_ms(finished_at_ms),
    }))
}

fn game_seat(seat: SeatDetail, actions: Option<ActionCounts>) -> GameSeat {
    let ActionCounts { player, clock, ai } = actions.unwrap_or_default();
    GameSeat {
        seat: seat.seat.number(),
        player: seat.player.0,
        name: seat.name,
        is_bot: seat.is_bot,
        stake: seat.stake.into(),
        net: seat.net.unwrap_or_default().into(),
        actions: SeatActions { player, clock, ai },
    }
}

pub(crate) async fn show_game_record(
    State(pool): State<PgPool>,
    State(records): State<Records>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<Value>, Problem> {
    load_record(&pool, &records, player, id).await.map(|(_, record)| Json(record))
}

/// Returns a settled game of this player, with its record.
///
/// # Errors
/// `game_not_found` unless the player played in it, `game_not_finished`, `game_voided`, or a failed
/// read.
pub(crate) async fn load_record(
    pool: &PgPool,
    records: &Records,
    player: Player,
    id: Uuid,
) -> Result<(RecordedGame, Value), Problem> {
    let mut game = archive::read_game(pool, records, GameId(id))
        .await?
        // The response does not reveal whether a game of other players exists.
        .filter(|game| game.players.contains(&player.id))
        .ok_or_else(|| Code::GameNotFound.problem())?;
    let record = require_record(game.game, game.state, game.record.take())?;
    Ok((game, record))
}

/// Returns the record of a game, which is refused unless it is settled.
pub(crate) fn require_record(
    game: GameId,
    state: GameState,
    record: Option<Value>,
) -> Result<Value, Problem> {
    match (state, record) {
        (GameState::Settled, Some(record)) => Ok(record),
        (GameState::Settled, None) => {
            Err(Problem::internal(&format_args!("settled game {game} has no record")))
        }
        (GameState::Open, _) => Err(Code::GameNotFinished.problem()),
        (GameState::Voided, _) => Err(Code::GameVoided.problem()),
    }
}

/// Returns the seat of a player in a game that it played.
pub(crate) fn seat_of(player: Player, game: &RecordedGame) -> Result<Seat, Problem> {
    let index = game.players.iter().position(|one| *one == player.id);
    let seat = index.and_then(|index| u8::try_from(index).ok()).and_then(Seat::new);
    seat.ok_or_else(|| Problem::internal(&"a player of a game has no seat in its record"))
}
