//! Switches: the whole house, and single players.

use std::str::FromStr as _;

use axum::extract::{FromRef as _, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::parts::{Column, Field, area, badge, button, facts, field, table, time};
use super::shell::page;
use super::{Filled, Nothing, Refused, Seat, reason};
use crate::accounts::ListedBan;
use crate::http::operators::bans::ban_of;
use crate::http::{Code, Problem, Query, Services};
use crate::ids::PlayerId;
use crate::operators::Barring;
use crate::rooms::Catalog;

const HERE: &str = "/desk/switches";

#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    player: String,
}

pub(super) async fn show(
    State(services): State<Services>,
    seat: Seat,
    Query(Asked { player }): Query<Asked>,
) -> Result<Response, Refused> {
    let state = Catalog::from_ref(&services).house_state().await?;
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
    let bans = match player.trim() {
        "" => html! {},
        player => bans(&services, player_of(player)?).await?,
    };
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
        h2 { "A player" }
        form class="filter" method="get" action=(HERE) {
            (field(Field { value: &player, hint: "The player's id.", ..Field::required("player", "Player") }))
            button { "Show the bans" }
        }
        (bans)
        @if !player.is_empty() && seat.operator.guardian().is_ok() {
            form method="post" action="/desk/switches/bans" {
                (seat.form_token())
                input type="hidden" name="player" value=(player);
                (field(Field {
                    inputmode: "numeric", hint: "Left empty, for good.",
                    ..Field::optional("hours", "Hours")
                }))
                (ban_reason())
                button { "Keep this player out" }
            }
            form class="inline" method="post" action="/desk/switches/bans/lifting" {
                (seat.form_token())
                input type="hidden" name="player" value=(player);
                button { "Let this player in again" }
            }
        }
    };
    Ok(page(&seat, "Switches", body))
}

/// The page may have two reasons, and each field an id of its own.
fn ban_reason() -> Markup {
    html! {
        div class="field" {
            label for="f-ban-reason" { "Reason" }
            textarea id="f-ban-reason" name="reason" rows="3" required
                aria-describedby="h-ban-reason" {}
            small id="h-ban-reason" { "10 to 500 characters. The player reads it." }
        }
    }
}

async fn bans(services: &Services, player: PlayerId) -> Result<Markup, Refused> {
    let listed = Barring::from_ref(services).of(player).await.map_err(crate::http::unread)?;
    let rows: Vec<Vec<Markup>> = listed.iter().map(row).collect();
    let columns = [
        Column::Text("Since (UTC)"),
        Column::Text("Until (UTC)"),
        Column::Text("Lifted (UTC)"),
        Column::Text("Reason"),
    ];
    Ok(table("Bans, newest first", &columns, &rows))
}

fn row(ListedBan { ban, banned_at, lifted_at }: &ListedBan) -> Vec<Markup> {
    vec![
        time(*banned_at),
        ban.ends_at.map_or_else(|| html! { "for good" }, time),
        lifted_at.map_or_else(|| html! {}, time),
        html! { (ban.reason) },
    ]
}

fn player_of(text: &str) -> Result<PlayerId, Problem> {
    let invalid = |_| Code::BodyInvalid.because("a player's id is a UUID");
    PlayerId::from_str(text.trim()).map_err(invalid)
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

#[derive(Debug, Deserialize)]
pub(super) struct Ban {
    player: String,
    hours: String,
    reason: String,
}

pub(super) async fn ban(
    State(services): State<Services>,
    Filled { seat, input }: Filled<Ban>,
) -> Result<Response, Refused> {
    let by = seat.operator.guardian()?;
    let player = player_of(&input.player)?;
    let hours = match input.hours.trim() {
        "" => None,
        text => Some(text.parse().map_err(|_| Code::BodyInvalid.because("hours are a number"))?),
    };
    let ban = ban_of(&services, &reason(&input.reason)?, hours)?;
    Barring::from_ref(&services).ban(&by, player, &ban).await?;
    Ok(Redirect::to(&format!("{HERE}?player={player}")).into_response())
}

pub(super) async fn lift(
    State(barring): State<Barring>,
    Filled { seat, input: Asked { player } }: Filled<Asked>,
) -> Result<Response, Refused> {
    let by = seat.operator.guardian()?;
    let player = player_of(&player)?;
    barring.lift(&by, player).await?;
    Ok(Redirect::to(&format!("{HERE}?player={player}")).into_response())
}
