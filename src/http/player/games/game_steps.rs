//! A finished game replayed step by step, for its players.
//!
//! The record of a finished game shows all hands to its players, so no hand is withheld here
//! either. By default the steps show what the player's own seat saw; `hands=all` shows everything.

use axum::Json;
use axum::extract::State;
use bahay_api::player::games::{
    ActionSource, GameStep, GameSteps, HandVisibility, STEPS_MAX, STEPS_OFFSET_MAX, StepAction,
    StepsQuery,
};
use bahay_engine::game::Viewer;
use bahay_engine::table::ActionOrigin;
use serde_json::Value;
use uuid::Uuid;

use super::records::{load_record, seat_of};
use crate::auth::Player;
use crate::db::PgPool;
use crate::http::{Code, CodeExt as _, Path, Problem, Query, Time};
use crate::records::Records;
use crate::replay::{GameReplay, Step, Steps};

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
    if query.offset > STEPS_OFFSET_MAX {
        return Err(Code::QueryInvalid.with_detail("an offset is at most 1000000"));
    }
    let (game, record) = load_record(&pool, &records, player, id).await?;
    let seat = seat_of(player, &game)?;
    let viewer = match query.hands.unwrap_or(HandVisibility::Own) {
        HandVisibility::Own => Viewer::Seat(seat),
        HandVisibility::All => Viewer::Everything,
    };
    let offset = query.offset as usize;
    let Steps { steps, total } = select_steps(record, viewer, offset, query.limit as usize)?;
    let next = offset.saturating_add(steps.len());
    Ok(Json(GameSteps {
        game: id,
        seat: seat.number(),
        total: total as u64,
        next_offset: (next < total && !steps.is_empty()).then_some(next as u64),
        items: steps.into_iter().map(to_step).collect(),
    }))
}

/// Replays a record and returns the steps of a range.
pub(crate) fn select_steps(
    record: Value,
    viewer: Viewer,
    offset: usize,
    limit: usize,
) -> Result<Steps, Problem> {
    let steps = GameReplay::from_value(record).and_then(|game| game.steps(viewer, offset, limit));
    steps.map_err(|error| Problem::internal(&error))
}

pub(crate) fn to_step(step: Step) -> GameStep {
    let taken = step.taken.map(|taken| StepAction {
        seat: taken.seat.number(),
        by: match taken.by {
            ActionOrigin::Player => ActionSource::Player,
            ActionOrigin::Clock => ActionSource::Clock,
            ActionOrigin::Ai => ActionSource::Ai,
        },
        action: taken.action,
    });
    GameStep {
        number: step.number as u64,
        at: Time::from_ms(step.at_ms),
        taken,
        events: step.events,
        view: step.view,
    }
}
