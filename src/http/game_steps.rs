//! A finished game again, step by step, for those who played it.
//!
//! After the end its record shows all hands to its players, so nothing is kept from them here
//! either: the default is what the own seat saw, and `hands=all` shows everything.

use axum::Json;
use axum::extract::State;
use bahay_engine::game::Viewer;
use bahay_engine::seat::Seat;
use bahay_engine::table::By;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::auth::Player;
use crate::db::PgPool;
use crate::records::Records;
use crate::replay::{GameReplay, Step};

use super::games::{number, record_of};
use super::{Code, Path, Problem, ProblemBody, Query, Time};

/// The most steps that one answer shows: more than a game of Tong-its has.
const STEPS_MAX: u32 = 500;

/// A game cannot have more steps than this, however long it is.
const OFFSET_MAX: u32 = 1_000_000;

/// Which steps, and what of them.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StepsQuery {
    /// Whose cards are shown: those that the own seat saw, if this is left out, or all.
    #[param(inline)]
    hands: Option<Hands>,
    /// The first step that is shown; 0 is the deal.
    #[serde(default)]
    #[param(required = false, default = 0, minimum = 0, maximum = 1_000_000)]
    offset: u32,
    /// How many steps at most.
    #[serde(default = "steps_max")]
    #[param(required = false, default = 500, minimum = 1, maximum = 500)]
    limit: u32,
}

/// Whose cards are shown.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Hands {
    Own,
    All,
}

const fn steps_max() -> u32 {
    STEPS_MAX
}

/// Some steps of a finished game.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GameSteps {
    game: Uuid,
    /// Where the player sat.
    #[schema(maximum = 7)]
    seat: u8,
    /// How many steps the game has in all.
    total: u64,
    items: Vec<GameStep>,
    /// The `offset` of the steps after these; null when there are none.
    #[schema(required = true)]
    next_offset: Option<u64>,
}

/// One step of a finished game.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GameStep {
    /// From 0, which is the deal.
    number: u64,
    at: Time,
    /// Who acted; null for the deal, and where a countdown was over with nobody to act (rule 4.2).
    #[schema(required = true)]
    taken: Option<StepTaken>,
    /// What happened, as it was told: the schema `TongitsEvent` of asyncapi.yaml.
    #[schema(value_type = Vec<Object>)]
    events: Vec<Value>,
    /// The game after it: the schema `TongitsView` of asyncapi.yaml.
    #[schema(value_type = Object)]
    view: Value,
}

/// Who acted in a step.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct StepTaken {
    #[schema(maximum = 7)]
    seat: u8,
    by: ChosenByWhom,
    /// The schema `TongitsAction` of asyncapi.yaml.
    #[schema(value_type = Object)]
    action: Value,
}

/// Who chose an action: the player, the clock, or the AI.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChosenByWhom {
    Player,
    Clock,
    Ai,
}

/// Show one of my games step by step
///
/// The game is played again from its record, so what is shown is what the record proves. Only for
/// the players of the game; to everybody else it does not exist.
#[utoipa::path(
    get,
    path = "/v1/games/{id}/steps",
    tag = "games",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The game"), StepsQuery),
    responses(
        (status = 200, description = "Some steps", body = GameSteps),
        (status = 404, description = "`game_not_found`: there is no such game, or it was not yours",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_not_finished` or `game_voided`: there is no record",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn list_game_steps(
    State(pool): State<PgPool>,
    State(records): State<Records>,
    player: Player,
    Path(id): Path<Uuid>,
    Query(query): Query<StepsQuery>,
) -> Result<Json<GameSteps>, Problem> {
    if !(1..=STEPS_MAX).contains(&query.limit) {
        return Err(Code::QueryInvalid.because("a limit is from 1 to 500"));
    }
    if query.offset > OFFSET_MAX {
        return Err(Code::QueryInvalid.because("an offset is at most 1000000"));
    }
    let (game, record) = record_of(&pool, &records, player, id).await?;
    let place = game.players.iter().position(|one| *one == player.id);
    let seat = place.and_then(|place| u8::try_from(place).ok()).and_then(Seat::new);
    let seat = seat.ok_or_else(|| Problem::internal(&"a player of a game has no seat in it"))?;
    let viewer = match query.hands.unwrap_or(Hands::Own) {
        Hands::Own => Viewer::Seat(seat),
        Hands::All => Viewer::Everything,
    };
    let (offset, limit) = (query.offset as usize, query.limit as usize);
    let some = some_steps(record, viewer, offset, limit)?;
    let SomeSteps { total, items, next_offset } = some;
    Ok(Json(GameSteps { game: id, seat: number(seat), total, items, next_offset }))
}

/// Some steps of a record.
pub(super) struct SomeSteps {
    pub(super) total: u64,
    pub(super) items: Vec<GameStep>,
    pub(super) next_offset: Option<u64>,
}

pub(super) fn some_steps(
    record: Value,
    viewer: Viewer,
    offset: usize,
    limit: usize,
) -> Result<SomeSteps, Problem> {
    let steps = GameReplay::of_value(record).and_then(|game| game.steps(viewer, offset, limit));
    let steps = steps.map_err(|error| Problem::internal(&error))?;
    let next = offset.saturating_add(steps.steps.len());
    Ok(SomeSteps {
        total: steps.total as u64,
        next_offset: (next < steps.total && !steps.steps.is_empty()).then_some(next as u64),
        items: steps.steps.into_iter().map(GameStep::from).collect(),
    })
}

impl From<Step> for GameStep {
    fn from(step: Step) -> Self {
        let taken = step.taken.map(|taken| StepTaken {
            seat: number(taken.seat),
            by: match taken.by {
                By::Player => ChosenByWhom::Player,
                By::Clock => ChosenByWhom::Clock,
                By::Ai => ChosenByWhom::Ai,
            },
            action: taken.action,
        });
        Self {
            number: step.number as u64,
            at: Time::from_ms(step.at_ms),
            taken,
            events: step.events,
            view: step.view,
        }
    }
}
