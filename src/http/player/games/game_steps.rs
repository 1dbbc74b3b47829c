//! A finished game replayed step by step, for its players.
//!
//! The record of a finished game shows all hands to its players, so no hand is withheld here
//! either. By default the steps show what the player's own seat saw; `hands=all` shows everything.

use axum::Json;
use axum::extract::State;
use bahay_engine::game::Viewer;
use bahay_engine::seat::Seat;
use bahay_engine::table::ActionOrigin;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::auth::Player;
use crate::db::PgPool;
use crate::records::Records;
use crate::replay::{GameReplay, Step};

use super::records::{load_record, seat_number};
use crate::http::{Code, CodeExt as _, Path, Problem, ProblemBody, Query, Time};

/// The maximum number of steps in one response. No game of Tong-its has more.
const STEPS_MAX: u32 = 500;

/// The maximum offset. No game has more steps.
const OFFSET_MAX: u32 = 1_000_000;

/// Selects steps and their redaction.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StepsQuery {
    /// The hands that are shown: those that the player's own seat saw (the default), or all.
    #[param(inline)]
    hands: Option<HandVisibility>,
    /// The number of the first step; 0 is the deal.
    #[serde(default)]
    #[param(required = false, default = 0, minimum = 0, maximum = 1_000_000)]
    offset: u32,
    /// The maximum number of steps.
    #[serde(default = "default_limit")]
    #[param(required = false, default = 500, minimum = 1, maximum = 500)]
    limit: u32,
}

/// The hands that are shown.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HandVisibility {
    Own,
    All,
}

const fn default_limit() -> u32 {
    STEPS_MAX
}

/// A range of steps of a finished game.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GameSteps {
    game: Uuid,
    /// The player's seat.
    #[schema(maximum = 7)]
    seat: u8,
    /// The total number of steps of the game.
    total: u64,
    items: Vec<GameStep>,
    /// The `offset` of the next range; null after the last step.
    #[schema(required = true)]
    next_offset: Option<u64>,
}

/// One step of a finished game.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GameStep {
    /// The number of the step; 0 is the deal.
    number: u64,
    at: Time,
    /// The action of the step; null for the deal, and for a countdown that ended with no seat to
    /// act (rule 4.2).
    #[schema(required = true)]
    taken: Option<StepAction>,
    /// The events as they were sent: the schema `TongitsEvent` of asyncapi.yaml.
    #[schema(value_type = Vec<Object>)]
    events: Vec<Value>,
    /// The game after the step: the schema `TongitsView` of asyncapi.yaml.
    #[schema(value_type = Object)]
    view: Value,
}

/// An action, with the seat that took it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StepAction {
    #[schema(maximum = 7)]
    seat: u8,
    by: ActionSource,
    /// The schema `TongitsAction` of asyncapi.yaml.
    #[schema(value_type = Object)]
    action: Value,
}

/// The origin of an action: the player, the clock, or the AI.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActionSource {
    Player,
    Clock,
    Ai,
}

/// Show one of my games step by step
///
/// The game is replayed from its record, so the steps show what the record proves. Only players of
/// the game may request it; for everybody else the game does not exist.
#[utoipa::path(
    get,
    path = "/v1/games/{id}/steps",
    tag = "games",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The game"), StepsQuery),
    responses(
        (status = 200, description = "The selected steps", body = GameSteps),
        (status = 404, description = "`game_not_found`: the game does not exist, or the player did \
            not play in it",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_not_finished` or `game_voided`: the game has no record",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list_game_steps(
    State(pool): State<PgPool>,
    State(records): State<Records>,
    player: Player,
    Path(id): Path<Uuid>,
    Query(query): Query<StepsQuery>,
) -> Result<Json<GameSteps>, Problem> {
    if !(1..=STEPS_MAX).contains(&query.limit) {
        return Err(Code::QueryInvalid.with_detail("a limit is from 1 to 500"));
    }
    if query.offset > OFFSET_MAX {
        return Err(Code::QueryInvalid.with_detail("an offset is at most 1000000"));
    }
    let (game, record) = load_record(&pool, &records, player, id).await?;
    let index = game.players.iter().position(|one| *one == player.id);
    let seat = index.and_then(|index| u8::try_from(index).ok()).and_then(Seat::new);
    let seat =
        seat.ok_or_else(|| Problem::internal(&"a player of a game has no seat in its record"))?;
    let viewer = match query.hands.unwrap_or(HandVisibility::Own) {
        HandVisibility::Own => Viewer::Seat(seat),
        HandVisibility::All => Viewer::Everything,
    };
    let offset = query.offset as usize;
    let limit = query.limit as usize;
    let page = select_steps(record, viewer, offset, limit)?;
    let StepsPage { total, items, next_offset } = page;
    Ok(Json(GameSteps { game: id, seat: seat_number(seat), total, items, next_offset }))
}

/// A range of steps, as it was selected from a record.
pub(crate) struct StepsPage {
    pub(crate) total: u64,
    pub(crate) items: Vec<GameStep>,
    pub(crate) next_offset: Option<u64>,
}

pub(crate) fn select_steps(
    record: Value,
    viewer: Viewer,
    offset: usize,
    limit: usize,
) -> Result<StepsPage, Problem> {
    let steps = GameReplay::from_value(record).and_then(|game| game.steps(viewer, offset, limit));
    let steps = steps.map_err(|error| Problem::internal(&error))?;
    let next = offset.saturating_add(steps.steps.len());
    Ok(StepsPage {
        total: steps.total as u64,
        next_offset: (next < steps.total && !steps.steps.is_empty()).then_some(next as u64),
        items: steps.steps.into_iter().map(GameStep::from).collect(),
    })
}

impl From<Step> for GameStep {
    fn from(step: Step) -> Self {
        let taken = step.taken.map(|taken| StepAction {
            seat: seat_number(taken.seat),
            by: match taken.by {
                ActionOrigin::Player => ActionSource::Player,
                ActionOrigin::Clock => ActionSource::Clock,
                ActionOrigin::Ai => ActionSource::Ai,
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
