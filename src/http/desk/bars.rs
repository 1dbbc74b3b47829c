//! Keeping a player out, or silent, on the player's page: what is and was in force, and the forms.

use std::str::FromStr;

use axum::extract::{FromRef as _, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::parts::{Column, Field, area, choice, field, table, time};
use super::{Filled, Refused, Seat, reason};
use crate::accounts::{Bar, ListedBan};
use crate::http::operators::bans::ban_of;
use crate::http::{Code, Path, Problem, Services, unread};
use crate::ids::PlayerId;
use crate::operators::Barring;

const BARS: [(Bar, &str, &str); 2] =
    [(Bar::Entry, "Ban", "Lift the ban"), (Bar::Speech, "Mute", "Lift the mute")];

/// What a player is and was kept from, and for those who may, the forms that change it. `here` is
/// the player's page.
pub(super) async fn section(
    barring: &Barring,
    seat: &Seat,
    player: PlayerId,
    here: &str,
) -> Result<Markup, Refused> {
    let now = barring.now();
    let (mut rows, mut in_force) = (Vec::new(), Vec::new());
    for (bar, name, lift) in BARS {
        let listed = barring.of(player, bar).await.map_err(unread)?;
        if listed.iter().any(|one| one.is_in_force(now)) {
            in_force.push((bar, lift));
        }
        rows.extend(listed.iter().map(|one| (one.banned_at, row(name, one))));
    }
    rows.sort_by_key(|(banned_at, _)| std::cmp::Reverse(*banned_at));
    let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
    let columns = [
        Column::Text("What"),
        Column::Text("Since (UTC)"),
        Column::Text("Until (UTC)"),
        Column::Text("Lifted (UTC)"),
        Column::Text("Reason"),
    ];
    let kinds = BARS.map(|(bar, name, _)| (bar.as_str(), name));
    Ok(html! {
        (table("Bans and mutes, newest first", &columns, &rows))
        @if seat.operator.guardian().is_ok() {
            @for (bar, lift) in &in_force {
                form class="inline" method="post" action={ (here) "/bars/lifting" } {
                    (seat.form_token())
                    input type="hidden" name="bars" value=(bar.as_str());
                    button { (lift) }
                }
            }
            form method="post" action={ (here) "/bars" } {
                (seat.form_token())
                (choice("bars", "Ban or mute", &kinds, ""))
                (field(Field {
                    inputmode: "numeric", hint: "Left empty, for good.",
                    ..Field::optional("hours", "Hours")
                }))
                (area("reason", "Reason", "10 to 500 characters. The player reads it."))
                button { "Ban or mute this player" }
            }
        }
    })
}

fn row(what: &str, ListedBan { ban, banned_at, lifted_at }: &ListedBan) -> Vec<Markup> {
    vec![
        html! { (what) },
        time(*banned_at),
        ban.ends_at.map_or_else(|| html! { "for good" }, time),
        lifted_at.map_or_else(|| html! {}, time),
        html! { (ban.reason) },
    ]
}

#[derive(Debug, Deserialize)]
pub(super) struct NewBar {
    bars: String,
    hours: String,
    reason: String,
}

pub(super) async fn begin(
    State(services): State<Services>,
    Path(player): Path<Uuid>,
    Filled { seat, input }: Filled<NewBar>,
) -> Result<Response, Refused> {
    let by = seat.operator.guardian()?;
    let hours = match input.hours.trim() {
        "" => None,
        text => Some(text.parse().map_err(|_| Code::BodyInvalid.because("hours are a number"))?),
    };
    let ban = ban_of(&services, reason(&input.reason)?, hours)?;
    let barring = Barring::from_ref(&services);
    barring.ban(&by, PlayerId(player), bar_of(&input.bars)?, &ban).await?;
    Ok(back(player))
}

#[derive(Debug, Deserialize)]
pub(super) struct Lifted {
    bars: String,
}

pub(super) async fn lift(
    State(barring): State<Barring>,
    Path(player): Path<Uuid>,
    Filled { seat, input }: Filled<Lifted>,
) -> Result<Response, Refused> {
    let by = seat.operator.guardian()?;
    barring.lift(&by, PlayerId(player), bar_of(&input.bars)?).await?;
    Ok(back(player))
}

fn bar_of(text: &str) -> Result<Bar, Problem> {
    Bar::from_str(text).map_err(|error| Code::BodyInvalid.because(error.to_string()))
}

fn back(player: Uuid) -> Response {
    Redirect::to(&format!("/desk/players/{player}")).into_response()
}
