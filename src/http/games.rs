//! Finished games, for those who played them.

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
use crate::replay::{Actions, GameReplay};

use super::page::Limit;
use super::{
    Code, Coins, Cursors, PageOf, Path, Problem, ProblemBody, Query, Services, Time, unread,
    unread_record,
};

/// A finished game as one of its players lists it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MyGame {
    id: Uuid,
    table: Uuid,
    /// The game, by its name.
    #[schema(example = "tongits")]
    kind: String,
    #[schema(example = "newbie")]
    room: String,
    #[schema(inline)]
    state: Finished,
    /// What it came to for the player.
    outcome: GameOutcome,
    /// How it ended; null when it was voided, and for some seconds after it was settled.
    #[schema(required = true, example = "fight")]
    ending: Option<String>,
    /// Where the player sat, from 0.
    #[schema(maximum = 7)]
    seat: u8,
    /// How many bots of the house played.
    #[schema(maximum = 7)]
    bots: u8,
    /// What the player paid into the POT before the deal.
    ante: Coins,
    /// The most that the player could lose beside the ante.
    stake: Coins,
    /// The change of the player's coins, the ante aside: the fee is taken off, the POT is in it.
    /// Zero when the game was voided or its settlement reversed.
    net: Coins,
    /// The time at which the house reversed the settlement; null unless it did.
    #[schema(required = true)]
    reversed_at: Option<Time>,
    /// By the house's time, as deadlines are.
    opened_at: Time,
    /// By the house's time; by the clock of the database when the game was voided.
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

/// What a game came to for a player: `drawn` when nobody won.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum GameOutcome {
    Won,
    Lost,
    Drawn,
    Voided,
}

/// Which games are asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct GamesQuery {
    /// Only games in this room.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9-]{0,31}$")]
    room: Option<crate::ids::RoomId>,
    /// Only games that were finished then or later: RFC 3339.
    #[param(value_type = Option<Time>, inline)]
    from: Option<BoundedTimestamp>,
    /// Only games that were finished before that: RFC 3339, later than `from`.
    #[param(value_type = Option<Time>, inline)]
    to: Option<BoundedTimestamp>,
    /// Only games that came to this for the player.
    #[param(inline)]
    outcome: Option<GameOutcome>,
    /// Only games that ended so.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9_]{0,31}$", example = "fight")]
    ending: Option<GameName>,
    /// Only games of this kind.
    #[param(value_type = Option<String>, max_length = 32, pattern = "^[a-z][a-z0-9_]{0,31}$", example = "tongits")]
    kind: Option<GameName>,
    /// `next_cursor` of the page before; nothing for the first page.
    #[param(max_length = 256)]
    cursor: Option<String>,
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    limit: Limit,
}

impl GamesQuery {
    fn filter(&self) -> Result<archive::Filter, Problem> {
        if self.from.zip(self.to).is_some_and(|(from, to)| from >= to) {
            return Err(Code::QueryInvalid.because("`from` is not before `to`"));
        }
        let kinds = catalog::kinds();
        if let Some(ending) = &self.ending
            && !kinds.iter().any(|kind| kind.endings.iter().any(|one| one.name == ending.as_str()))
        {
            return Err(Code::QueryInvalid.because("no game ends like `ending`"));
        }
        if let Some(wanted) = &self.kind
            && !kinds.iter().any(|kind| kind.name == wanted.as_str())
        {
            return Err(Code::QueryInvalid.because("`kind` names no game of this house"));
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

/// The name of the list that these filters make.
fn list_of(filter: &archive::Filter) -> String {
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
/// Finished games, newest first. A cursor is good for the filters that it was given with.
#[utoipa::path(
    get,
    path = "/v1/me/games",
    tag = "games",
    security(("access_token" = [])),
    params(GamesQuery),
    responses((status = 200, description = "A page of games", body = PageOf<MyGame>))
)]
pub(super) async fn list_my_games(
    State(pool): State<PgPool>,
    State(cursors): State<Cursors>,
    player: Player,
    Query(query): Query<GamesQuery>,
) -> Result<Json<PageOf<MyGame>>, Problem> {
    let filter = query.filter()?;
    let list = list_of(&filter);
    let cursor = cursors.open(&list, &player, query.cursor.as_deref())?;
    let page = archive::by_player(&pool, player.id, &filter, cursor, query.limit.items());
    let page = page.await.map_err(unread)?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(MyGame::try_from).collect::<Result<_, _>>()?,
        next_cursor: page.next.map(|next| cursors.seal(&list, &player, &next)),
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
            kind: game.kind,
            room: game.room,
            state,
            outcome: game.outcome.into(),
            ending: game.ending,
            seat: number(game.seat),
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
pub(super) struct Game {
    id: Uuid,
    table: Uuid,
    /// The game, by its name.
    #[schema(example = "tongits")]
    kind: String,
    #[schema(example = "newbie")]
    room: String,
    #[schema(inline)]
    state: Finished,
    /// How it ended; null when it was voided.
    #[schema(required = true, example = "fight")]
    ending: Option<String>,
    /// What each seat paid into the POT before the deal.
    ante: Coins,
    seats: Vec<GameSeat>,
    /// What the ledger booked, line by line: the schema `Settlement` of asyncapi.yaml. Null when
    /// the game was voided.
    #[schema(required = true, value_type = Option<Object>)]
    settlement: Option<Value>,
    /// The time at which the house reversed the settlement; null unless it did.
    #[schema(required = true)]
    reversed_at: Option<Time>,
    /// By the house's time, as deadlines are.
    opened_at: Time,
    /// By the house's time; by the clock of the database when the game was voided.
    finished_at: Time,
}

/// A seat in a finished game.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GameSeat {
    /// From 0.
    #[schema(maximum = 7)]
    seat: u8,
    player: Uuid,
    /// As the player is called now.
    #[schema(example = "Maria")]
    name: String,
    /// A bot of the house, and nobody's account.
    is_bot: bool,
    /// The most that the seat could lose beside the ante.
    stake: Coins,
    /// The change of the player's coins, the ante aside; 0 once the settlement was reversed.
    net: Coins,
    /// How many actions were chosen by whom.
    actions: ChosenBy,
}

/// Who chose the actions of a seat. All are 0 in a game that was voided.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct ChosenBy {
    player: u32,
    /// Because a countdown had passed.
    clock: u32,
    /// Because the player was away.
    ai: u32,
}

/// Show one of my games
///
/// Only for the players of the game; to everybody else it does not exist.
#[utoipa::path(
    get,
    path = "/v1/games/{id}",
    tag = "games",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The game")),
    responses(
        (status = 200, description = "The game", body = Game),
        (status = 404, description = "`game_not_found`: there is no such game, or it was not yours",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_not_finished`: the game goes on",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn show_game(
    State(pool): State<PgPool>,
    State(records): State<Records>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<Game>, Problem> {
    let game = archive::detail(&pool, &records, GameId(id))
        .await
        .map_err(unread_record)?
        // Whether a game of others exists is not told.
        .filter(|game| game.seats.iter().any(|seat| seat.player == player.id))
        .ok_or_else(|| Code::GameNotFound.plain())?;
    let state = match game.state {
        GameState::Settled => Finished::Settled,
        GameState::Voided => Finished::Voided,
        GameState::Open => return Err(Code::GameNotFinished.plain()),
    };
    let GameDetail { record, .. } = &game;
    let replayed = record.clone().map(GameReplay::of_value).transpose();
    let replayed = replayed.map_err(|error| Problem::internal(&error))?;
    let actions = replayed.as_ref().map(GameReplay::actions).unwrap_or_default();
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
        seats: seats.map(|(place, seat)| GameSeat::of(seat, actions.get(place).copied())).collect(),
        settlement: game.settlement,
        reversed_at: game.reversed_at_ms.map(Time::from_ms),
        opened_at: Time::from_ms(game.opened_at_ms),
        finished_at: Time::from_ms(finished_at_ms),
    }))
}

impl GameSeat {
    fn of(seat: SeatDetail, actions: Option<Actions>) -> Self {
        let chosen = actions.map(|Actions { player, clock, ai }| ChosenBy { player, clock, ai });
        Self {
            seat: number(seat.seat),
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
        ),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn show_game_record(
    State(pool): State<PgPool>,
    State(records): State<Records>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<Value>, Problem> {
    record_of(&pool, &records, player, id).await.map(|(_, record)| Json(record))
}

/// A settled game of this player, and its record.
pub(super) async fn record_of(
    pool: &PgPool,
    records: &Records,
    player: Player,
    id: Uuid,
) -> Result<(RecordedGame, Value), Problem> {
    let game = archive::record(pool, records, GameId(id))
        .await
        .map_err(unread_record)?
        // Whether a game of others exists is not told.
        .filter(|game| game.players.contains(&player.id))
        .ok_or_else(|| Code::GameNotFound.plain())?;
    recorded(game)
}

/// A settled game's record.
pub(super) fn recorded(mut game: RecordedGame) -> Result<(RecordedGame, Value), Problem> {
    match (game.state, game.record.take()) {
        (GameState::Settled, Some(record)) => Ok((game, record)),
        (GameState::Settled, None) => {
            Err(Problem::internal(&format_args!("settled game {} has no record", game.game)))
        }
        (GameState::Open, _) => Err(Code::GameNotFinished.plain()),
        (GameState::Voided, _) => Err(Code::GameVoided.plain()),
    }
}

/// A seat as the wire counts it.
pub(super) fn number(seat: bahay_engine::seat::Seat) -> u8 {
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

impl axum::extract::FromRef<Services> for PgPool {
    fn from_ref(services: &Services) -> Self {
        services.pool.clone()
    }
}

impl axum::extract::FromRef<Services> for Records {
    fn from_ref(services: &Services) -> Self {
        services.records.clone()
    }
}
