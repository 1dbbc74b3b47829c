//! The replay of a finished game on one page: a slider selects one step, and without a script all
//! steps are displayed one below the other.

use bahay_engine::catalog::AnyGame;
use bahay_engine::game::{Describe as _, Game as _, Viewer};
use bahay_engine::seat::Seat;
use bahay_engine::table::ActionOrigin;
use maud::{Markup, html};

use super::game_clock::GameClock;
use super::game_rows;
use crate::archive::SeatDetail;
use crate::clock::Timestamp;
use crate::http::operator::desk_ui::HouseZone;
use crate::replay::{GameReplay, ReplayError, Step, TakenAction};

/// Draws the replay. The slider selects the last step before `until`, or the first one without it.
pub(crate) fn draw_replay(
    zone: &HouseZone,
    clock: GameClock,
    replayed: &GameReplay,
    seats: &[SeatDetail],
    until: Option<Timestamp>,
) -> Result<Markup, ReplayError> {
    let steps = replayed.steps(Viewer::Everything, 0, usize::MAX)?;
    let last = steps.total.saturating_sub(1);
    let is_before = |step: &&Step| until.is_some_and(|until| clock.to_ledger(step.at_ms) <= until);
    let selected = steps.steps.iter().rfind(is_before).map_or(0, |step| step.number);
    Ok(html! {
        div class="replay" data-replay="" {
            div class="field replay-slider" hidden {
                label for="replay-step" { "Step " output for="replay-step" { (selected) } " of " (last) }
                input id="replay-step" type="range" min="0" max=(last) value=(selected);
                p {
                    button type="button" data-by="-1" { "Previous" } " "
                    button type="button" data-by="1" { "Next" }
                }
            }
            @for step in &steps.steps { (draw_step(step, &zone.time(clock.to_ledger(step.at_ms)), seats)) }
        }
    })
}

/// Draws the result of each player at the end: points or chips, and the cards.
pub(super) fn draw_result(
    replayed: &GameReplay,
    seats: &[SeatDetail],
) -> Result<Markup, ReplayError> {
    let view = replayed.end()?.view(Viewer::Public);
    let name = |seat: Seat| player_name(seats, seat.index());
    Ok(game_rows::draw_rows(&AnyGame::describe_result(&view), name))
}

fn draw_step(step: &Step, at: &Markup, seats: &[SeatDetail]) -> Markup {
    let name = |seat: Seat| player_name(seats, seat.index());
    html! {
        section class="step" aria-label={ "Step " (step.number) } {
            h2 {
                (step.number) ". "
                @match &step.taken { Some(taken) => (draw_action(taken, seats)), None => "The deal" }
            }
            p { (at) }
            (game_rows::draw_rows(&step.rows, name))
        }
    }
}

fn draw_action(taken: &TakenAction, seats: &[SeatDetail]) -> Markup {
    let chosen = match taken.by {
        ActionOrigin::Player => "",
        ActionOrigin::Clock => " (the clock)",
        ActionOrigin::Ai => " (the AI)",
    };
    let name = |seat: Seat| player_name(seats, seat.index());
    html! { (name(taken.seat)) (chosen) " " (game_rows::draw_pieces(&taken.description, name)) }
}

/// Returns the name of the player at a place.
pub(super) fn player_name(seats: &[SeatDetail], place: usize) -> &str {
    seats.get(place).map_or("Unknown player", |seat| seat.name.as_str())
}
