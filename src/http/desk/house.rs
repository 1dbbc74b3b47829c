//! Switches: the whole house. A single room is closed on its page, and a single player is kept out
//! on the player's.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::html;
use serde::Deserialize;

use super::parts::{area, badge, button, facts, time};
use super::shell::page;
use super::{Filled, Nothing, Refused, Seat, reason};
use crate::rooms::Catalog;

const HERE: &str = "/desk/switches";

pub(super) async fn show(State(rooms): State<Catalog>, seat: Seat) -> Result<Response, Refused> {
    let state = rooms.house_state().await?;
    let mut known = vec![(
        "The house is",
        if state.is_open { badge("good", "open") } else { badge("bad", "closed") },
    )];
    if let Some(reason) = &state.reason {
        known.push(("Closed because", html! { (reason) }));
    }
    if let Some(by) = &state.changed_by {
        known.push(("Switched by", html! { (by) }));
        known.push(("Switched at (UTC)", time(state.changed_at)));
    }
    let body = html! {
        h2 { "The whole house" }
        (facts(&known))
        @if seat.operator.administrator().is_ok() {
            @if state.is_open {
                form method="post" action="/desk/switches/house/closing"
                    data-confirm="Close every room and all private tables?" {
                    (seat.form_token())
                    (area("reason", "Reason", "10 to 500 characters. Running games are finished; none begins."))
                    button { "Close the house" }
                }
            } @else {
                (button(&seat, "/desk/switches/house/opening", "Open the house", ""))
            }
        }
        h2 { "A room, or a player" }
        p {
            a href="/desk/rooms" { "A room" } " is closed on its page, and "
            a href="/desk/players" { "a player" } " is kept out on the player's."
        }
    };
    Ok(page(&seat, "Switches", body))
}

#[derive(Debug, Deserialize)]
pub(super) struct Close {
    reason: String,
}

pub(super) async fn close(
    State(rooms): State<Catalog>,
    Filled { seat, input }: Filled<Close>,
) -> Result<Response, Refused> {
    let by = seat.operator.administrator()?;
    rooms.switch_house(&by, Some(&reason(&input.reason)?)).await?;
    Ok(Redirect::to(HERE).into_response())
}

pub(super) async fn open(
    State(rooms): State<Catalog>,
    Filled { seat, input: Nothing {} }: Filled<Nothing>,
) -> Result<Response, Refused> {
    let by = seat.operator.administrator()?;
    rooms.switch_house(&by, None).await?;
    Ok(Redirect::to(HERE).into_response())
}
