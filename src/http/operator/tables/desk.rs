//! Tables: those of a room, a single one as it is played, halted tables and lost POTs.
//!
//! A table is displayed in its public view. Hidden cards are displayed once per request, to
//! operators with the capability, after the act and its reason are recorded in the audit log.

use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use bahay_api::operator::tables::{HaltedTable, LostPot, StrandedTables, TableReason};
use bahay_engine::catalog::{self, AnyGame};
use bahay_engine::game::Describe;
use bahay_engine::seat::Seat;
use bahay_engine::table::{PhaseView, SeatView, TableId, TableView};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::orders::{HERE, cause_section};
use super::query;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, OperatorForm, OperatorSession, coins, facts, field, id, operator_title, page,
    select, table, text_area,
};
use crate::http::operator::games::game_rows;
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Code, CodeExt as _, Path, Query, Services};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TableSearchForm {
    room: String,
    table: String,
}

pub(crate) async fn list(
    State(services): State<Services>,
    session: OperatorSession,
    Query(TableSearchForm { room, table: table_id }): Query<TableSearchForm>,
) -> Result<Response, ErrorPage> {
    if !table_id.trim().is_empty() {
        let table_id = Uuid::try_parse(table_id.trim());
        let table_id =
            table_id.map_err(|_| Code::QueryInvalid.with_detail("a table's id is a UUID"))?;
        return Ok(Redirect::to(&format!("{HERE}/{table_id}")).into_response());
    }
    let rooms = services.lobby.rooms();
    let first = rooms.first().map_or(String::new(), |room| room.id().to_owned());
    let room = if room.is_empty() { first } else { room };
    let busy = query::list_busy(&services, &room).await?;
    let rows = busy.iter().map(|busy| {
        vec![
            html! { a href={ (HERE) "/" (busy.table) } { (id(&busy.table)) } },
            html! { (busy.players) },
        ]
    });
    let StrandedTables { halted, lost_pots } = query::find_stranded(&services).await?;
    let ids: Vec<(&str, &str)> = rooms.iter().map(|room| (room.id(), room.name())).collect();
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (select("room", "Room", &ids, &room))
            button { "Show" }
        }
        form class="filter" method="get" action=(HERE) {
            (field(Field {
                hint: "A table of any room, or a private table.", ..Field::required("table", "Table's id")
            }))
            button { "Show table" }
        }
        (table("Tables with players, fullest first", "Table | #Players", rows))
        h2 id="halted" { "Halted" }
        (halted_tables(&session, &halted))
        h2 id="pots" { "Lost POTs" }
        (pots(&session, &lost_pots))
    };
    Ok(page(&session, "Tables", body))
}

fn halted_tables(session: &OperatorSession, halted: &[HaltedTable]) -> Markup {
    let may = session.operator.require_administrator().is_ok();
    let rows = halted.iter().map(|halted| {
        vec![
            html! { a href={ (HERE) "/" (halted.table) } { (id(&halted.table)) } },
            html! { (halted.room.as_deref().unwrap_or("")) },
            session.zone.time(halted.halted_at),
            cause_section(halted),
            html! {
                @if may {
                    a class="button" href={ (HERE) "/" (halted.table) "/voiding" } { "Void or release" }
                }
            },
        ]
    });
    let columns = "Table | Room | Since | Cause | Action";
    table("Halted tables, oldest first", columns, rows)
}

fn pots(session: &OperatorSession, lost: &[LostPot]) -> Markup {
    let may = session.operator.require_administrator().is_ok();
    let rows = lost.iter().map(|lost| {
        vec![
            id(&lost.table),
            coins(lost.pot),
            session.zone.time(lost.finished_at),
            html! {
                @if may {
                    a class="button" href={ (HERE) "/" (lost.table) "/pot-refund" } { "Show the refunds" }
                }
            },
        ]
    });
    let columns = "Table | #POT | Last game ended | Action";
    table("POTs whose table no longer exists", columns, rows)
}

pub(crate) async fn show_table(
    State(services): State<Services>,
    session: OperatorSession,
    Path(table): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    let here = format!("{HERE}/{table}");
    let now = live_part(&services, &session, TableId(table)).await;
    let body = html! {
        p { "Table " (id(&table)) }
        p { button type="button" data-hold="live" aria-pressed="false" hidden { "Pause updates" } }
        div id="live" data-live={ (here) "/live" } { (now) }
        @if session.operator.require_administrator().is_ok() {
            h2 { "Hidden cards" }
            form method="post" action={ (here) "/hands" } {
                (session.form_token())
                (text_area("reason", "Reason", "10 to 500 characters, recorded in the audit log."))
                button { "Show all hands once" }
            }
            h2 { "Void or release" }
            p {
                a class="button" href={ (here) "/voiding" } { "Void or release this table" }
                " The next page shows the refunds first."
            }
        }
    };
    Ok(page(&session, "Table", body))
}

/// Returns the live part of the page, for the script to refresh.
pub(crate) async fn refresh(
    State(services): State<Services>,
    session: OperatorSession,
    Path(table): Path<Uuid>,
) -> Response {
    Html(live_part(&services, &session, TableId(table)).await.into_string()).into_response()
}

async fn live_part(services: &Services, session: &OperatorSession, table: TableId) -> Markup {
    let alert = |text: &str| html! { p class="alert" { (text) "." } };
    let table = match query::find_table(services, table).await {
        Ok(table) => table,
        Err(problem) => return alert(operator_title(problem.code)),
    };
    let Ok(shown) = services.lobby.tables().render(&table, |table| table.view(None)) else {
        return alert("The table cannot be displayed and is halted");
    };
    let players = shown.seats.iter().flatten().map(|seat| seat.player.0);
    // A table is displayed without badges while PostgreSQL is unavailable.
    let named = NamedPlayers::load(services, players).await.unwrap_or_default();
    draw_table(session, &shown, &named)
}

fn draw_table(
    session: &OperatorSession,
    shown: &TableView<AnyGame>,
    named: &NamedPlayers,
) -> Markup {
    let (phase, game, playing) = match &shown.phase {
        PhaseView::Waiting => ("waiting for players", None, None),
        PhaseView::Preparing { game, .. } => ("preparing", Some(game), None),
        PhaseView::Opening { game } => ("opening in the ledger", Some(game), None),
        PhaseView::Revealing { game, .. } => ("collecting the clients' seeds", Some(game), None),
        PhaseView::Playing { game, view, .. } => ("playing", Some(game), Some(view)),
        PhaseView::Settling { game, .. } => ("settling", Some(game), None),
    };
    let rows = shown.seats.iter().enumerate().map(|(place, seat)| {
        let crown = seat.as_ref().and_then(|seat| {
            shown.crown.filter(|crown| crown.player == seat.player).map(|crown| crown.wins)
        });
        vec![
            html! { (place + 1) },
            html! {
                @if let Some(seat) = seat { (named.link(seat.player.0, &seat.name)) } @else { "free" }
            },
            html! { (seat.as_ref().map_or("", played_by)) },
            html! { @if let Some(wins) = crown { (wins) } },
        ]
    });
    let columns = "#Seat | Player | Played by | #Crown";
    html! {
        (facts(&[
            ("Room", html! { (session.rooms.title(&shown.terms.room)) }),
            ("Game played", html! { (catalog::kind_title(&shown.kind)) }),
            ("State", html! { (phase) }),
            ("Game", html! { @if let Some(game) = game { (id(game)) } }),
            ("POT", coins(shown.pot)),
        ]))
        (table("Seats", columns, rows))
        @if let Some(view) = playing { (game_rows::draw_rows(&AnyGame::describe(view), seat_name)) }
    }
}

/// Returns the name of a seat. The table of seats above contains the names of the players.
fn seat_name(seat: Seat) -> &'static str {
    const NAMES: [&str; 8] =
        ["Seat 1", "Seat 2", "Seat 3", "Seat 4", "Seat 5", "Seat 6", "Seat 7", "Seat 8"];
    NAMES.get(seat.index()).copied().unwrap_or("Unknown seat")
}

fn played_by(seat: &SeatView) -> &'static str {
    match (seat.taken_over, seat.connected) {
        (true, _) => "the AI",
        (false, true) => "the player",
        (false, false) => "the player, not connected",
    }
}

pub(crate) async fn reveal_hands(
    State(services): State<Services>,
    Path(table): Path<Uuid>,
    OperatorForm { session, input: TableReason { reason } }: OperatorForm<TableReason>,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_administrator()?.require_session()?;
    let view = query::reveal_hands(&services, &by, TableId(table), &reason).await?;
    let body = html! {
        p class="alert" { "This view was recorded. The game continues: do not pass this on." }
        (game_rows::draw_rows(&AnyGame::describe(&view), seat_name))
        p { a href={ (HERE) "/" (table) } { "Back to the table" } }
    };
    Ok(page(&session, "Hidden cards", body))
}
