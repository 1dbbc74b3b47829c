//! The page of the main switch.

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::house::{CloseHouse, HouseSwitch};
use maud::html;

use crate::db::PgPool;
use crate::http::operator::desk_ui::{
    ErrorPage, OperatorForm, OperatorSession, author_text, badge, button, facts, page, text_area,
};
use crate::rooms::{self, Catalog};

const HERE: &str = "/desk/switches";

/// Draws the page of the switch. A single room is closed on its own page, and a single player is
/// banned on the player's.
pub(crate) async fn show_switches(
    State(pool): State<PgPool>,
    State(rooms): State<Catalog>,
    session: OperatorSession,
) -> Result<Response, ErrorPage> {
    let state = rooms::read_house_state(&pool).await?;
    let HouseSwitch { is_open, reason, changed_by, changed_at } = state;
    let mut properties = vec![(
        "The house is",
        if is_open { badge("good", "open") } else { badge("bad", "closed") },
    )];
    if let Some(reason) = &reason {
        properties.push(("Reason", html! { (reason) }));
    }
    // The copy of this process may be a second old.
    if !is_open || rooms.house().revision > 0 {
        properties.push(("Changed by", author_text(changed_by.as_deref())));
        properties.push(("Changed at", session.zone.time(changed_at)));
    }
    let body = html! {
        h2 { "The whole house" }
        (facts(&properties))
        @if session.operator.require_administrator().is_ok() {
            @if is_open {
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

pub(crate) async fn close(
    State(rooms): State<Catalog>,
    OperatorForm { session, input: CloseHouse { reason } }: OperatorForm<CloseHouse>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?;
    rooms.switch_house(&by, Some(&reason)).await?;
    Ok(Redirect::to(HERE))
}

pub(crate) async fn open(
    State(rooms): State<Catalog>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?;
    rooms.switch_house(&by, None).await?;
    Ok(Redirect::to(HERE))
}
