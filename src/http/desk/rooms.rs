//! Rooms: what each is, opened and closed, changed, and made after another.

use axum::extract::{FromRef as _, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use bahay_engine::table::Spectators;
use maud::{Markup, html};
use serde::Deserialize;

use super::parts::{Column, Field, badge, button, choice, coins, field, table, time};
use super::shell::page;
use super::typed::amount;
use super::{Filled, Nothing, Refused, Seat};
use crate::http::{Code, Path, Problem, Services};
use crate::lobby::Room;
use crate::rooms::{Catalog, Draft, Revision, RuleSet};

const HERE: &str = "/desk/rooms";

pub(super) async fn list(
    State(services): State<Services>,
    seat: Seat,
) -> Result<Response, Refused> {
    let playing = services.lobby.playing().await;
    let playing = playing.map_err(|error| Problem::unavailable(&error))?;
    let rooms = services.lobby.rooms();
    let row = |room: &Room| {
        let now = playing.get(room.id()).copied().unwrap_or_default();
        let price = room.terms().price;
        vec![
            html! { a href={ (HERE) "/" (room.id()) } { (room.name()) } },
            if room.is_open() { badge("good", "open") } else { badge("bad", "closed") },
            coins(price.bet),
            html! { (price.multiplier) },
            html! { (hundredths(price.fee_basis_points)) " %" },
            html! { (now.players) },
            html! { a href={ "/desk/tables?room=" (room.id()) } { (now.tables) } },
        ]
    };
    let rows: Vec<Vec<Markup>> = rooms.iter().map(|room| row(room)).collect();
    let columns = [
        Column::Text("Room"),
        Column::Text("State"),
        Column::Number("Bet"),
        Column::Number("Multiplier"),
        Column::Number("Fee"),
        Column::Number("Players"),
        Column::Number("Tables"),
    ];
    let ids: Vec<(&str, &str)> = rooms.iter().map(|room| (room.id(), room.name())).collect();
    let body = html! {
        (table("Rooms, by rising bet", &columns, &rows))
        @if !services.lobby.catalog().house().is_open {
            p class="alert" { "The house is closed, and so is every room: see " a href="/desk/switches" { "Switches" } "." }
        }
        @if seat.operator.administrator().is_ok() {
            h2 { "Make a room" }
            form method="post" action=(HERE) {
                (seat.form_token())
                (field(Field {
                    hint: "As in paths: a lower-case letter, then letters, digits and hyphens.",
                    ..Field::required("id", "Id")
                }))
                (field(Field::required("name", "Name")))
                (choice("like", "Like", &ids, ""))
                button class="main" { "Make it, closed" }
            }
        }
    };
    Ok(page(&seat, "Rooms", body))
}

/// Ten-thousandths as a percentage with two places.
fn hundredths(basis_points: u32) -> String {
    format!("{}.{:02}", basis_points / 100, basis_points % 100)
}

async fn newest(rooms: &Catalog, id: &str) -> Result<Vec<Revision>, Problem> {
    Ok(rooms.revisions(id).await?)
}

pub(super) async fn show(
    State(rooms): State<Catalog>,
    seat: Seat,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let revisions = newest(&rooms, &id).await?;
    let Some(Revision { room, .. }) = revisions.first() else {
        return Err(Code::RoomNotFound.plain().into());
    };
    let rows: Vec<Vec<Markup>> = revisions.iter().map(revision).collect();
    let columns = [
        Column::Number("Revision"),
        Column::Text("Changed at (UTC)"),
        Column::Text("Changed by"),
        Column::Text("State"),
        Column::Number("Bet"),
        Column::Number("Fee"),
    ];
    let here = format!("{HERE}/{id}");
    let body = html! {
        @if seat.operator.administrator().is_ok() {
            @if room.is_open() {
                (button(&seat, &format!("{here}/closing"), "Close this room", "Running games are finished; none begins. Close it?"))
            } @else {
                (button(&seat, &format!("{here}/opening"), "Open this room", ""))
            }
            h2 { "Change" }
            (form(&seat, &here, room))
        }
        h2 { "What it was" }
        (table("Revisions, newest first", &columns, &rows))
        p { a href=(HERE) { "All rooms" } " · " a href={ "/desk/tables?room=" (id) } { "Its tables" } }
    };
    Ok(page(&seat, room.name(), body))
}

fn revision(revision: &Revision) -> Vec<Markup> {
    let Revision { room, changed_by, changed_at } = revision;
    vec![
        html! { (room.revision()) },
        time(*changed_at),
        html! { (changed_by.as_deref().unwrap_or("")) },
        if room.is_open() { badge("good", "open") } else { badge("bad", "closed") },
        coins(room.terms().price.bet),
        html! { (hundredths(room.terms().price.fee_basis_points)) " %" },
    ]
}

fn form(seat: &Seat, here: &str, room: &Room) -> Markup {
    let draft = Draft::from(room);
    let terms = room.terms();
    let number = |name: &'static str, label: &'static str, value: String, hint: &'static str| {
        field(Field { value: &value, hint, inputmode: "numeric", ..Field::required(name, label) })
    };
    let most = draft.coins_max.map_or(String::new(), |most| most.to_string());
    let sets = [("kingdom", "Kingdom"), ("relaxed", "Relaxed"), ("as_it_is", "As it is")];
    let set = match RuleSet::of(&terms.rules) {
        Some(RuleSet::Kingdom) => "kingdom",
        Some(RuleSet::Relaxed) => "relaxed",
        None => "as_it_is",
    };
    let watchable = [("yes", "Anybody, some time late"), ("no", "Nobody")];
    let watched_by = if terms.spectators == Spectators::Anybody { "yes" } else { "no" };
    let clocks = terms.clocks;
    html! {
        form method="post" action=(here) {
            (seat.form_token())
            input type="hidden" name="revision" value=(room.revision());
            div class="columns" {
                (field(Field { value: room.name(), ..Field::required("name", "Name") }))
                (choice("rules", "Rule set", &sets, set))
                (choice("watchable", "Who may watch", &watchable, watched_by))
                (number("bet", "Bet", terms.price.bet.to_string(), "In coins, as in 1.00."))
                (number("multiplier", "Multiplier", terms.price.multiplier.to_string(), ""))
                (number("fee", "Fee", terms.price.fee_basis_points.to_string(), "In hundredths of a percent, 5000 at most."))
                (number("hits", "Hits that take the POT", terms.hits.to_win.to_string(), "2 or 3."))
                (number("bonus", "Bonus of the second hit", terms.hits.second_hit_bonus.to_string(), "In bets."))
                (number("least", "Least wallet", draft.coins_min.to_string(), "In coins; 0 for what the stakes ask for."))
                (field(Field { value: &most, hint: "In coins; empty for no limit.", ..Field::optional("most", "Largest wallet") }))
                (number("prepare", "To be ready", clocks.prepare_ms.to_string(), "Milliseconds."))
                (number("draw", "To draw", terms.rules.countdowns.draw_ms.to_string(), "Milliseconds."))
                (number("play", "To play", terms.rules.countdowns.play_ms.to_string(), "Milliseconds."))
                (number("fight", "To answer a fight", terms.rules.countdowns.fight_ms.to_string(), "Milliseconds."))
                (number("think", "The AI thinks", clocks.think_ms.to_string(), "Milliseconds."))
                (number("lapses", "Lapses to takeover", clocks.lapses_to_takeover.to_string(), ""))
                (number("absence", "A seat is kept", clocks.absence_ms.to_string(), "Milliseconds."))
            }
            p { "Tables take this when their next game begins to be prepared; POT rules when no POT waits." }
            button class="main" { "Change the room" }
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Change {
    revision: u32,
    name: String,
    rules: String,
    watchable: String,
    bet: String,
    multiplier: u32,
    fee: u32,
    hits: u8,
    bonus: u32,
    least: String,
    most: String,
    prepare: u32,
    draw: u32,
    play: u32,
    fight: u32,
    think: u32,
    lapses: u8,
    absence: u32,
}

impl Change {
    /// What the room is to be; what the form does not say stays.
    fn draft(&self, now: &Room) -> Result<Draft, Problem> {
        let coins = |text: &str| {
            let wrong =
                || Code::BodyInvalid.because("an amount has at most two places, as in 12.50");
            amount(text).ok_or_else(wrong)
        };
        let mut draft = Draft::from(now);
        draft.name.clone_from(&self.name);
        draft.coins_min = coins(&self.least)?;
        draft.coins_max = match self.most.trim() {
            "" => None,
            most => Some(coins(most)?),
        };
        let terms = &mut draft.terms;
        terms.price.bet = coins(&self.bet)?;
        terms.spectators = match self.watchable.as_str() {
            "yes" => Spectators::Anybody,
            "no" => Spectators::Nobody,
            _ => return Err(Code::BodyInvalid.because("watchable is yes or no")),
        };
        terms.price.multiplier = self.multiplier;
        terms.price.fee_basis_points = self.fee;
        terms.hits.to_win = self.hits;
        terms.hits.second_hit_bonus = self.bonus;
        terms.clocks.prepare_ms = self.prepare;
        terms.clocks.think_ms = self.think;
        terms.clocks.lapses_to_takeover = self.lapses;
        terms.clocks.absence_ms = self.absence;
        terms.rules.countdowns.draw_ms = self.draw;
        terms.rules.countdowns.play_ms = self.play;
        terms.rules.countdowns.fight_ms = self.fight;
        terms.rules = match self.rules.as_str() {
            "kingdom" => RuleSet::Kingdom.rules(terms.rules.countdowns),
            "relaxed" => RuleSet::Relaxed.rules(terms.rules.countdowns),
            _ => terms.rules,
        };
        Ok(draft)
    }
}

pub(super) async fn change(
    State(rooms): State<Catalog>,
    Path(id): Path<String>,
    Filled { seat, input }: Filled<Change>,
) -> Result<Response, Refused> {
    let by = seat.operator.administrator()?;
    let revisions = newest(&rooms, &id).await?;
    let now = revisions.first().ok_or_else(|| Code::RoomNotFound.plain())?;
    rooms.change(&by, input.revision, &input.draft(&now.room)?).await?;
    Ok(Redirect::to(&format!("{HERE}/{id}")).into_response())
}

#[derive(Debug, Deserialize)]
pub(super) struct Make {
    id: String,
    name: String,
    like: String,
}

pub(super) async fn make(
    State(services): State<Services>,
    Filled { seat, input }: Filled<Make>,
) -> Result<Response, Refused> {
    let by = seat.operator.administrator()?;
    let rooms = Catalog::from_ref(&services);
    let like = rooms.room(&input.like).ok_or_else(|| Code::RoomNotFound.plain())?;
    let mut draft = Draft { name: input.name, is_open: false, ..Draft::from(&*like) };
    draft.terms.room.clone_from(&input.id);
    rooms.create(&by, &draft).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", input.id)).into_response())
}

pub(super) async fn open(
    State(rooms): State<Catalog>,
    Path(id): Path<String>,
    Filled { seat, input: Nothing {} }: Filled<Nothing>,
) -> Result<Response, Refused> {
    let by = seat.operator.administrator()?;
    rooms.set_open(&by, &id, true).await?;
    Ok(Redirect::to(&format!("{HERE}/{id}")).into_response())
}

pub(super) async fn close(
    State(rooms): State<Catalog>,
    Path(id): Path<String>,
    Filled { seat, input: Nothing {} }: Filled<Nothing>,
) -> Result<Response, Refused> {
    let by = seat.operator.administrator()?;
    rooms.set_open(&by, &id, false).await?;
    Ok(Redirect::to(&format!("{HERE}/{id}")).into_response())
}
