//! A finished game drawn step by step, all of it on one page: a slider shows one step at a time, and
//! without a script all of them stand one below the other.

use bahay_engine::game::Viewer;
use bahay_engine::table::By;
use maud::{Markup, html};
use serde_json::Value;

use super::parts::time;
use crate::archive::SeatDetail;
use crate::clock::Timestamp;
use crate::replay::{Recalled, Step, Taken, Unplayable};

pub(super) fn replay(recalled: &Recalled, seats: &[SeatDetail]) -> Result<Markup, Unplayable> {
    let steps = recalled.steps(Viewer::Everything, 0, usize::MAX)?;
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
    let public = &step.view["public"];
    html! {
        section class="step" aria-label={ "Step " (step.number) } {
            h2 {
                (step.number) ". "
                @match &step.taken { Some(taken) => (told(taken, seats)), None => "The deal" }
            }
            p { (time(Timestamp::from_ms(step.at_ms))) }
            @for (place, hand) in list(&step.view["hands"]).iter().enumerate() {
                p {
                    span class="whose" { (name(seats, place)) }
                    (cards(hand))
                }
            }
            p { span class="whose" { "Melds" }
                @for meld in list(&public["melds"]) {
                    span class="meld" {
                        (name(seats, place_of(&meld["owner"]))) ": " (cards(&meld["cards"]))
                    }
                }
            }
            p { span class="whose" { "Discards" } (cards(&public["discards"])) }
            p { span class="whose" { "Stock, the next at the end" } (cards(&step.view["stock"])) }
        }
    }
}

fn told(taken: &Taken, seats: &[SeatDetail]) -> Markup {
    let action = &taken.action;
    let kind = action["type"].as_str().unwrap_or_default();
    let chosen = match taken.by {
        By::Player => "",
        By::Clock => " (the clock)",
        By::Ai => " (the AI)",
    };
    html! {
        (name(seats, taken.seat.index())) (chosen) " "
        @match kind {
            "draw" => "draws",
            "chow" => { "takes the discard with " (cards(&action["cards"])) }
            "fight" => "fights",
            "drop" => { "lays " (cards(&action["cards"])) }
            "sapaw" => { "adds " (card(&action["card"])) }
            "dump" => { "dumps " (card(&action["card"])) }
            "tongits" => "declares Tongits",
            "challenge" => "challenges",
            "fold" => "folds",
            other => (other)
        }
    }
}

fn cards(value: &Value) -> Markup {
    html! { span class="hand" { @for one in list(value) { (card(one)) } } }
}

/// A card as its rank and suit, red or black.
fn card(value: &Value) -> Markup {
    let text = value.as_str().unwrap_or_default();
    let rank = match text.get(..1).unwrap_or_default() {
        "T" => "10",
        rank => rank,
    };
    let (suit, colour) = match text.get(1..).unwrap_or_default() {
        "H" => ("♥", "red"),
        "D" => ("♦", "red"),
        "C" => ("♣", "black"),
        _ => ("♠", "black"),
    };
    html! { b class=(colour) { (rank) (suit) } }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn place_of(seat: &Value) -> usize {
    seat.as_u64().and_then(|seat| usize::try_from(seat).ok()).unwrap_or(usize::MAX)
}

fn name(seats: &[SeatDetail], place: usize) -> &str {
    seats.get(place).map_or("Somebody", |seat| seat.name.as_str())
}
