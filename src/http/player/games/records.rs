//! Finished games, for their players.

use axum::Json;
use axum::extract::State;
use bahay_engine::catalog;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::archive::{self, GameDetail, GameState, PlayedGame, RecordedGame, SeatDetail};
use crate::auth::Player;
use crate::clock::{BoundedTimestamp, Timestamp};
use crate::db::PgPool;
use crate::ids::GameId;
use crate::ids::GameName;
use crate::records::Records;
use crate::replay::{ActionCounts, GameReplay};

use crate::http::core::pagination::Limit;
use crate::http::{
    Code, CodeExt as _, Coins, Cursors, PageOf, Path, Problem, ProblemBody, Query, Time,
    database_problem, record_problem,
};

/// A finished game in the history of one of its players.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GameSummary {
    id: Uuid,
    table: Uuid,
    /// The game's kind.
    #[schema(example = "tongits")]
    kind: String,
    #[schema(example = "newbie")]
    room: String,
    #[schema(inline)]
    state: FinalGameState,
    /// The outcome for the player.
    outcome: GameOutcome,
    /// The way in which the game ended; null if it was voided, and for some seconds after it was
    /// settled.
    #[schema(required = true, example = "fight")]
    ending: Option<String>,
    /// The player's seat, counted from 0.
    #[schema(maximum = 7)]
    seat: u8,
    /// The number of house bots that played.
    #[schema(maximum = 7)]
    bots: u8,
    /// The amount that the player paid into the POT before the deal.
    ante: Coins,
    /// The most that the player could lose beside the ante.
    stake: Coins,
    /// The change of the player's coins without the ante, after the fee and including the POT. Zero
    /// if the game was voided or its settlement was reversed.
    net: Coins,
    /// The time at which the house reversed the settlement; null unless it did.
    #[schema(required = true)]
    reversed_at: Option<Time>,
    /// The time of the house's clock, by which deadlines are set.
    opened_at: Time,
    /// The time of the house's clock; that of the database if the game was voided.
    finished_at: Time,
}

/// The final state of a game.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FinalGameState {
    Settled,
    /// The game ended without a settlement, and every coin was returned.
    Voided,
}

/// The outcome of a game for a player; `drawn` if nobody won.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GameOutcome {
    Won,
    Lost,
    Drawn,
    Voided,
}

/// Selects games of the history.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct GamesQuery {
    /// Restricts the list to games in this room.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9-]{0,31}$")]
    room: Option<crate::ids::RoomId>,
    /// Restricts the list to games finished at or after this time: RFC 3339.
    #[param(value_type = Option<Time>, inline)]
    from: Option<BoundedTimestamp>,
    /// Restricts the list to games finished before this time: RFC 3339, later than `from`.
    #[param(value_type = Option<Time>, inline)]
    to: Option<BoundedTimestamp>,
    /// Restricts the list to games with this outcome for the player.
    #[param(inline)]
    outcome: Option<GameOutcome>,
    /// Restricts the list to games with this ending.
    #[param(
        value_type = Option<String>,
        max_length = 32,
        pattern = "^[a-z][a-z0-9_]{0,31}$",
        example = "fight"
    )]
    ending: Option<GameName>,
    /// Restricts the list to games of this kind.
    #[param(
        value_type = Option<String>,
        max_length = 32,
        pattern = "^[a-z][a-z0-9_]{0,31}$",
        example = "tongits"
    )]
    kind: Option<GameName>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[param(max_length = 256)]
    cursor: Option<String>,
    /// The maximum number of items.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    limit: Limit,
}

impl GamesQuery {
    fn to_filter(&self) -> Result<archive::Filter, Problem> {
        if self.from.zip(self.to).is_some_and(|(from, to)| from >= to) {
            return Err(Code::QueryInvalid.with_detail("`from` is not before `to`"));
        }
        let kinds = catalog::kinds();
        if let Some(ending) = &self.ending
            && !kinds.iter().any(|kind| kind.endings.iter().any(|one| one.name == ending.as_str()))
        {
            return Err(Code::QueryInvalid.with_detail("`ending` names no ending of a game"));
        }
        if let Some(kind_name) = &self.kind
            && !kinds.iter().any(|kind| kind.name == kind_name.as_str())
        {
            return Err(Code::QueryInvalid.with_detail("`kind` names no game of the house"));
        }
        Ok(archive::Filter {
            room: self.room.as_ref().map(ToString::to_string),
            from: self.from.map(Timestamp::from),
            to: self.to.map(Timestamp::from),
            outcome: self.outcome.map(archive::Outcome::from),
            ending: self.ending.as_ref().map(ToString::to_string),
            kind: self.kind.as_ref().map(ToString::to_string),
        })
    }
}

/// Returns the name of the list that these filters select, to which cursors are bound.
fn list_name(filter: &archive::Filter) -> String {
    let archive::Filter { kind, room, from, to, outcome, ending } = filter;
    let ms = |time: &Option<Timestamp>| time.map_or(String::new(), |at| at.ms().to_string());
    format!(
        "games {} {} {} {} {} {}",
        kind.as_deref().unwrap_or_default(),
        room.as_deref().unwrap_or_default(),
        ms(from),
        ms(to),
        outcome.map_or("", archive::Outcome::as_str),
        ending.as_deref().unwrap_or_default()
    )
}

/// List my games
///
/// Finished games, newest first. A cursor is valid only with the filters for which it was issued.
#[utoipa::path(
    get,
    path = "/v1/me/games",
    tag = "games",
    security(("access_token" = [])),
    params(GamesQuery),
    responses((status = 200, description = "A page of games", body = PageOf<GameSummary>))
)]
pub(crate) async fn list_my_games(
    State(pool): State<PgPool>,
    State(cursors): State<Cursors>,
    player: Player,
    Query(query): Query<GamesQuery>,
) -> Result<Json<PageOf<GameSummary>>, Problem> {
    let filter = query.to_filter()?;
    let list = list_name(&filter);
    let cursor = cursors.open(&list, &player, query.cursor.as_deref())?;
    let page = archive::list_by_player(&pool, player.id, &filter, cursor, query.limit.items());
    let page = page.await.map_err(database_problem)?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(GameSummary::try_from).collect::<Result<_, _>>()?,
        next_cursor: page.next.map(|next| cursors.seal(&list, &player, &next)),
    }))
}

impl TryFrom<PlayedGame> for GameSummary {
    type Error = Problem;

    fn try_from(game: PlayedGame) -> Result<Self, Problem> {
        let state = match game.state {
            GameState::Settled => FinalGameState::Settled,
            GameState::Voided => FinalGameState::Voided,
            GameState::Open => {
                return Err(Problem::internal(&"an open game is in a list of finished games"));
            }
        };
        Ok(Self {
            id: game.game.0,
            table: game.table.0,
            kind: game.kind,
            room: game.room,
            state,
            outcome: game.outcome.into(),
            ending: game.ending,
            seat: seat_number(game.seat),
            bots: game.bots,
            ante: game.ante.into(),
            stake: game.stake.into(),
            net: game.net.into(),
            reversed_at: game.reversed_at_ms.map(Time::from_ms),
            opened_at: Time::from_ms(game.opened_at_ms),
            finished_at: Time::from_ms(game.finished_at_ms),
        })
    }
}

/// A finished game in full.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Game {
    id: Uuid,
    table: Uuid,
    /// The game's kind.
    #[schema(example = "tongits")]
    kind: String,
    #[schema(example = "newbie")]
    room: String,
    #[schema(inline)]
    state: FinalGameState,
    /// The way in which the game ended; null if it was voided.
    #[schema(required = true, example = "fight")]
    ending: Option<String>,
    /// The amount that each seat paid into the POT before the deal.
    ante: Coins,
    seats: Vec<GameSeat>,
    /// The settlement as the ledger booked it: the schema `Settlement` of asyncapi.yaml. Null if
    /// the game was voided.
    #[schema(required = true, value_type = Option<Object>)]
    settlement: Option<Value>,
    /// The time at which the house reversed the settlement; null unless it did.
    #[schema(required = true)]
    reversed_at: Option<Time>,
    /// The time of the house's clock, by which deadlines are set.
    opened_at: Time,
    /// The time of the house's clock; that of the database if the game was voided.
    finished_at: Time,
}

/// A seat in a finished game.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GameSeat {
    /// The number of the seat, counted from 0.
    #[schema(maximum = 7)]
    seat: u8,
    player: Uuid,
    /// The player's present name.
    #[schema(example = "Maria")]
    name: String,
    /// True if the player is a bot of the house, without a person's account.
    is_bot: bool,
    /// The most that the seat could lose beside the ante.
    stake: Coins,
    /// The change of the player's coins without the ante; 0 once the settlement was reversed.
    net: Coins,
    /// The number of actions by their origin.
    actions: SeatActions,
}

/// The number of a seat's actions by their origin. All are 0 in a game that was voided.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct SeatActions {
    player: u32,
    /// Actions taken because a countdown had ended.
    clock: u32,
    /// Actions taken because the player was away.
    ai: u32,
}

/// Show one of my games
///
/// Only players of the game may request it; for everybody else the game does not exist.
#[utoipa::path(
    get,
    path = "/v1/games/{id}",
    tag = "games",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The game")),
    responses(
        (status = 200, description = "The game", body = Game),
        (status = 404, description = "`game_not_found`: the game does not exist, or the player did \
            not play in it",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_not_finished`: the game is still being played",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn show_game(
    State(pool): State<PgPool>,
    State(records): State<Records>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<Game>, Problem> {
    let game = archive::read_detail(&pool, &records, GameId(id))
        .await
        .map_err(record_problem)?
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
        seats: seats
            .map(|(index, seat)| GameSeat::from_detail(seat, actions.get(index).copied()))
            .collect(),
        settlement: game.settlement,
        reversed_at: game.reversed_at_ms.map(Time::from_ms),
        opened_at: Time::from_ms(game.opened_at_ms),
        finished_at: Time::from_ms(finished_at_ms),
    }))
}

impl GameSeat {
    fn from_detail(seat: SeatDetail, actions: Option<ActionCounts>) -> Self {
        let chosen =
            actions.map(|ActionCounts { player, clock, ai }| SeatActions { player, clock, ai });
        Self {
            seat: seat_number(seat.seat),
            player: seat.player.0,
            name: seat.name,
            is_bot: seat.is_bot,
            stake: seat.stake.into(),
            net: seat.net.unwrap_or_default().into(),
            actions: chosen.unwrap_or_default(),
        }
    }
}

/// Show the record of a game
///
/// Returns everything that is needed to verify the game: save the response and pass it to `bahay
/// verify`. Only players of the game may request it; for everybody else the game does not exist.
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
            description = "`game_not_found`: the game does not exist, or the player did not play \
                in it",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 409,
            description = "`game_not_finished` or `game_voided`: the game has no record",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
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
    let game = archive::read_game(pool, records, GameId(id))
        .await
        .map_err(record_problem)?
        // The response does not reveal whether a game of other players exists.
        .filter(|game| game.players.contains(&player.id))
        .ok_or_else(|| Code::GameNotFound.problem())?;
    require_record(game)
}

/// Takes the record out of a settled game.
pub(crate) fn require_record(mut game: RecordedGame) -> Result<(RecordedGame, Value), Problem> {
    match (game.state, game.record.take()) {
        (GameState::Settled, Some(record)) => Ok((game, record)),
        (GameState::Settled, None) => {
            Err(Problem::internal(&format_args!("settled game {} has no record", game.game)))
        }
        (GameState::Open, _) => Err(Code::GameNotFinished.problem()),
        (GameState::Voided, _) => Err(Code::GameVoided.problem()),
    }
}

/// Returns the number of a seat as the API counts it, from 0.
pub(crate) fn seat_number(seat: bahay_engine::seat::Seat) -> u8 {
    u8::try_from(seat.index()).unwrap_or(u8::MAX)
}

impl From<archive::Outcome> for GameOutcome {
    fn from(outcome: archive::Outcome) -> Self {
        match outcome {
            archive::Outcome::Won => Self::Won,
            archive::Outcome::Lost => Self::Lost,
            archive::Outcome::Drawn => Self::Drawn,
            archive::Outcome::Voided => Self::Voided,
        }
    }
}

impl From<GameOutcome> for archive::Outcome {
    fn from(outcome: GameOutcome) -> Self {
        match outcome {
            GameOutcome::Won => Self::Won,
            GameOutcome::Lost => Self::Lost,
            GameOutcome::Drawn => Self::Drawn,
            GameOutcome::Voided => Self::Voided,
        }
    }
}
