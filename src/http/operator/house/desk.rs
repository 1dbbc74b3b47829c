//! The main switch of the house. A single room is closed on its own page, and a single player is
//! banned on the player's.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::html;
use serde::Deserialize;

use crate::http::operator::desk_ui::components::{badge, button, facts, text_area, time};
use crate::http::operator::desk_ui::layout::page;
use crate::http::operator::desk_ui::{
    EmptyForm, ErrorPage, OperatorForm, OperatorSession, parse_reason,
};
use crate::rooms::Catalog;

const HERE: &str = "/desk/switches";

pub(crate) async fn show_house(
    State(rooms): State<Catalog>,
    session: OperatorSession,
) -> Result<Response, ErrorPage> {
    let state = rooms.house_state().await?;
    let mut properties = vec![(
        "The house is",
        if state.is_open { badge("good", "open") } else { badge("bad", "closed") },
    )];
    if let Some(reason) = &state.reason {
        properties.push(("Reason", html! { (reason) }));
    }
    if let Some(by) = &state.changed_by {
        properties.push(("Changed by", html! { (by) }));
        properties.push(("Changed at (UTC)", time(state.changed_at)));
    }
    let body = html! {
        h2 { "The whole house" }
        (facts(&properties))
        @if session.operator.require_administrator().is_ok() {
            @if state.is_open {
                form method="post" action="/desk/switches/house/closing"
                    data-confirm="Close every room and all private tables?" {
                    (session.form_token())
                    (text_area("reason", "Reason", "10 to 500 characters. Running games are finished; no other begins."))
                    button { "Close the house" }
                }
            } @else {
                (button(&session, "/desk/switches/house/opening", "Open the house", ""))
            }
        }
        h2 { "Rooms and players" }
        p {
            a href="/desk/rooms" { "A room" } " is closed on its own page, and "
            a href="/desk/players" { "a player" } " is banned on the player's page."
        }
    };
    Ok(page(&session, "Switches", body))
}

#[derive(Debug, Deserialize)]
pub(crate) struct CloseHouseForm {
    reason: String,
}

pub(crate) async fn close(
    State(rooms): State<Catalog>,
    OperatorForm { session, input }: OperatorForm<CloseHouseForm>,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_administrator()?;
    rooms.switch_house(&by, Some(&parse_reason(&input.reason)?)).await?;
    Ok(Redirect::to(HERE).into_response())
}

pub(crate) async fn open(
    State(rooms): State<Catalog>,
    OperatorForm { session, input: EmptyForm {} }: OperatorForm<EmptyForm>,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_administrator()?;
    rooms.switch_house(&by, None).await?;
    Ok(Redirect::to(HERE).into_response())
}
