//! A finished game drawn step by step, all of it on one page: a slider shows one step at a time, and
//! without a script all of them stand one below the other.

use bahay_engine::game::Viewer;
use bahay_engine::seat::Seat;
use bahay_engine::table::By;
use maud::{Markup, html};

use super::parts::time;
use super::pieces;
use crate::archive::SeatDetail;
use crate::clock::Timestamp;
use crate::replay::{GameReplay, Step, Taken, Unplayable};

pub(super) fn replay(replayed: &GameReplay, seats: &[SeatDetail]) -> Result<Markup, Unplayable> {
    let steps = replayed.steps(Viewer::Everything, 0, usize::MAX)?;
    let last = steps.total.saturating_sub(1);
    Ok(html! {
        div class="replay" data-replay="" {
            div class="field replay-slider" hidden {
                label for="replay-step" { "Step " output for="replay-step" { "0" } " of " (last) }
                input id="replay-step" type="range" min="0" max=(last) value="0";
                p {
                    button type="button" data-by="-1" { "Back" } " "
                    button type="button" data-by="1" { "On" }
                }
            }
            @for step in &steps.steps { (drawn(step, seats)) }
        }
    })
}

fn drawn(step: &Step, seats: &[SeatDetail]) -> Markup {
    let name = |seat: Seat| name(seats, seat.index());
    html! {
        section class="step" aria-label={ "Step " (step.number) } {
            h2 {
                (step.number) ". "
                @match &step.taken { Some(taken) => (told(taken, seats)), None => "The deal" }
            }
            p { (time(Timestamp::from_ms(step.at_ms))) }
            (pieces::rows(&step.rows, name))
        }
    }
}

fn told(taken: &Taken, seats: &[SeatDetail]) -> Markup {
    let chosen = match taken.by {
        By::Player => "",
        By::Clock => " (the clock)",
        By::Ai => " (the AI)",
    };
    let name = |seat: Seat| name(seats, seat.index());
    html! { (name(taken.seat)) (chosen) " " (pieces::pieces(&taken.told, name)) }
}

fn name(seats: &[SeatDetail], place: usize) -> &str {
    seats.get(place).map_or("Somebody", |seat| seat.name.as_str())
}
