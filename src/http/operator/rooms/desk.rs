//! Rooms: the list, the settings, opening and closing, and the creation of a room after the model
//! of another one.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use bahay_api::operator::rooms::RoomSettings;
use bahay_engine::catalog;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::query;
use super::settings_form::{
    ChangeText, FieldErrors, RoomForm, describe_changes, find_field, list_rule_sets,
};
use crate::http::operator::desk_ui::{
    ErrorPage, Field, HouseZone, OperatorForm, OperatorSession, badge, button, coins, count, field,
    page, select, sortable_by_script, table,
};
use crate::http::{Code, CodeExt as _, Path, Problem, Services};
use crate::lobby::Room;
use crate::rooms::{Catalog, RoomError, RoomRevision, choose_rules, to_room_pot};

const HERE: &str = "/desk/rooms";

pub(crate) async fn list(
    State(services): State<Services>,
    session: OperatorSession,
) -> Result<Response, ErrorPage> {
    let playing = services.lobby.playing_counts().await;
    let playing = playing.map_err(|error| Problem::unavailable(&error))?;
    let rooms = services.lobby.rooms();
    let row = |room: &Room| {
        let now = playing.get(room.id()).copied().unwrap_or_default();
        let price = room.terms().price;
        vec![
            html! { a href={ (HERE) "/" (room.id()) } { (room.name()) } },
            coins(price.bet),
            html! { (hundredths(price.fee_basis_points)) " %" },
            count(price.multiplier),
            count(now.players),
            html! { a href={ "/desk/tables?room=" (room.id()) } { (count(now.tables)) } },
            if room.is_open() { badge("good", "open") } else { badge("bad", "closed") },
            html! { (catalog::kind_title(room.kind())) ", " (rule_set_title(room)) },
        ]
    };
    let columns = "Room | #Bet | #Fee | #Multiplier | #Players | #Tables | State | Game";
    let listed = table("Rooms, by ascending bet", columns, rooms.iter().map(|room| row(room)));
    let ids: Vec<(&str, &str)> = rooms.iter().map(|room| (room.id(), room.name())).collect();
    let body = html! {
        (sortable_by_script(listed))
        @if !services.lobby.catalog().house().is_open {
            p class="alert" { "The house is closed, and so is every room: see " a href="/desk/switches" { "Switches" } "." }
        }
        @if session.operator.require_administrator().is_ok() {
            h2 { "Create a room" }
            form method="post" action=(HERE) {
                (session.form_token())
                (field(Field {
                    hint: "Used in paths: a lower-case letter, then letters, digits and hyphens.",
                    ..Field::required("id", "Id")
                }))
                (field(Field::required("name", "Name")))
                (select("kind", "Game", &kinds(), ""))
                (select("like", "Copy settings from", &ids, ""))
                button class="main" { "Create it, closed" }
            }
        }
    };
    Ok(page(&session, "Rooms", body))
}

/// Formats basis points as a percentage with two decimal places.
fn hundredths(basis_points: u32) -> String {
    format!("{}.{:02}", basis_points / 100, basis_points % 100)
}

pub(crate) async fn show_room(
    State(rooms): State<Catalog>,
    session: OperatorSession,
    Path(id): Path<String>,
) -> Result<Response, ErrorPage> {
    let revisions = rooms.revisions(&id).await?;
    let room = newest_room(&revisions)?;
    let form = RoomForm::from_room(room);
    Ok(draw_room(&session, &revisions, room, &form, &html! {}, &FieldErrors::new()))
}

fn newest_room(revisions: &[RoomRevision]) -> Result<&Room, Problem> {
    let newest = revisions.first().map(|revision| &revision.room);
    newest.ok_or_else(|| Code::RoomNotFound.problem())
}

/// Draws the page of a room. `notice` precedes the form.
fn draw_room(
    session: &OperatorSession,
    revisions: &[RoomRevision],
    room: &Room,
    form: &RoomForm,
    notice: &Markup,
    errors: &FieldErrors,
) -> Response {
    let here = format!("{HERE}/{}", room.id());
    let columns = "#Revision | Changed at | Changed by | Changes";
    let before = revisions.iter().skip(1).map(Some).chain([None]);
    let history = revisions
        .iter()
        .zip(before)
        .map(|(revision, before)| draw_revision(&session.zone, revision, before));
    let body = html! {
        @if session.operator.require_administrator().is_ok() {
            @if room.is_open() {
                (button(session, &format!("{here}/closing"), "Close this room", "Running games are finished; no other begins. Close it?"))
            } @else {
                (button(session, &format!("{here}/opening"), "Open this room", ""))
            }
            h2 { "Change" }
            (notice)
            (form.draw(session, &here, room, errors))
        }
        h2 { "History" }
        (table("Revisions, newest first", columns, history))
        p { a href=(HERE) { "All rooms" } " · " a href={ "/desk/tables?room=" (room.id()) } { "Tables of this room" } }
    };
    page(session, room.name(), body)
}

/// Draws a revision with what it changed; `before` is absent for the oldest one of the list.
fn draw_revision(
    zone: &HouseZone,
    revision: &RoomRevision,
    before: Option<&RoomRevision>,
) -> Vec<Markup> {
    let RoomRevision { room, changed_by, changed_at } = revision;
    let changes = before.map(|before| before.room.compare_settings(room)).unwrap_or_default();
    vec![
        html! { (room.revision()) },
        zone.time(*changed_at),
        html! { (changed_by.as_deref().unwrap_or("")) },
        html! {
            @if room.revision() == 1 { "Created" }
            @for ChangeText { label, before, after } in describe_changes(room.kind(), changes) {
                (label) ": " (before) " → " (after) br;
            }
        },
    ]
}

/// Returns the visible kinds of game, as options of a selection.
fn kinds() -> Vec<(&'static str, &'static str)> {
    let shown = catalog::kinds().into_iter().filter(|kind| !kind.is_hidden);
    shown.map(|kind| (kind.name, kind.title)).collect()
}

fn rule_set_title(room: &Room) -> &'static str {
    let sets = list_rule_sets(room.kind()).into_iter();
    let named = sets.filter(|(name, _)| *name == room.rule_set()).map(|(_, title)| title).next();
    named.unwrap_or("own rules")
}

/// Shows the changes of a sent form, and performs them once they are confirmed. A refused form keeps
/// its texts.
pub(crate) async fn change(
    State(rooms): State<Catalog>,
    Path(id): Path<String>,
    OperatorForm { session, input: form }: OperatorForm<RoomForm>,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_administrator()?;
    let revisions = rooms.revisions(&id).await?;
    let room = newest_room(&revisions)?;
    let here = format!("{HERE}/{id}");
    let seen_revision = form.revision()?;
    let draw =
        |notice: Markup| draw_room(&session, &revisions, room, &form, &notice, &FieldErrors::new());
    let refuse = |status: StatusCode, errors: &FieldErrors| {
        let page = draw_room(&session, &revisions, room, &form, &html! {}, errors);
        Ok((status, page).into_response())
    };
    let draft = match form.to_settings(room) {
        Ok(settings) => query::draft(id, settings, room.terms().clocks),
        Err(errors) => return refuse(StatusCode::UNPROCESSABLE_ENTITY, &errors),
    };
    let checked = match &draft {
        Ok(draft) => rooms.preview_change(seen_revision, draft).await,
        Err(error) => Err(error.clone()),
    };
    let (draft, changes) = match (draft, checked) {
        (Ok(draft), Ok(changes)) => (draft, changes),
        (_, Err(RoomError::Unsound { field, why })) => {
            let errors = [(find_field(room, &field), why.into_owned())].into();
            return refuse(StatusCode::UNPROCESSABLE_ENTITY, &errors);
        }
        (_, Err(error @ RoomError::NameTaken { .. })) => {
            let errors = [("name".to_owned(), error.to_string())].into();
            return refuse(StatusCode::CONFLICT, &errors);
        }
        (Err(error), _) | (_, Err(error)) => return Err(error.into()),
    };
    if changes.is_empty() {
        return Ok(draw(
            html! { p class="notice" role="status" { "No setting differs: there is nothing to change." } },
        ));
    }
    if form.is_confirmed() {
        rooms.change(&by, seen_revision, &draft).await?;
        return Ok(Redirect::to(&here).into_response());
    }
    let rows = describe_changes(room.kind(), changes).into_iter().map(|change| {
        let ChangeText { label, before, after } = change;
        vec![html! { (label) }, html! { (before) }, html! { (after) }]
    });
    Ok(draw(html! {
        (table("Changes that wait for your confirmation", "Setting | Before | After", rows))
        (form.draw_confirmation(&session, &here))
        h3 { "Edit the change" }
    }))
}

#[derive(Debug, Deserialize)]
pub(crate) struct CreateRoomForm {
    id: String,
    name: String,
    kind: String,
    like: String,
}

pub(crate) async fn create(
    State(rooms): State<Catalog>,
    OperatorForm { session, input }: OperatorForm<CreateRoomForm>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?;
    let CreateRoomForm { id, name, kind, like } = input;
    let like = rooms.room(&like).ok_or_else(|| Code::RoomNotFound.problem())?;
    let mut settings = RoomSettings { name, is_open: false, ..like.settings() };
    if kind != like.kind() {
        let first = list_rule_sets(&kind).first().map_or("", |(name, _)| name);
        let chosen = choose_rules(&kind, first, &Value::Null)?;
        settings.pot = chosen.hits.map(to_room_pot);
        settings =
            RoomSettings { kind, rule_set: first.to_owned(), rules: Value::Null, ..settings };
    }
    rooms.create(&by, &query::draft(id.clone(), settings, like.terms().clocks)?).await?;
    Ok(Redirect::to(&format!("{HERE}/{id}")))
}

pub(crate) async fn open(
    State(rooms): State<Catalog>,
    Path(id): Path<String>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    rooms.set_open(&session.operator.require_administrator()?, &id, true).await?;
    Ok(Redirect::to(&format!("{HERE}/{id}")))
}

pub(crate) async fn close(
    State(rooms): State<Catalog>,
    Path(id): Path<String>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    rooms.set_open(&session.operator.require_administrator()?, &id, false).await?;
    Ok(Redirect::to(&format!("{HERE}/{id}")))
}
