//! Settled games: a filtered list that is refreshed continuously, its totals, and an export as CSV.

use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use bahay_api::operator::settlements::{Settled, SettledTotals, SettlementFilter};
use bahay_engine::catalog;
use maud::{Markup, html};

use super::query;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, FilterForm, OperatorSession, SearchForm, badge, coins, facts, field,
    game_link, page, pager, player_link, select, table_of, time,
};
use crate::http::{Cursors, PageQuery, PageRequest, Problem};
use crate::operators::{Audit, Operator};
use crate::reports::Reports;

const HERE: &str = "/desk/settlements";
const LIVE: &str = "/desk/settlements/live";
const FILE: &str = "/desk/settlements.csv";

/// The number of settlements on one page.
const PAGE: u32 = 50;

pub(crate) async fn list(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let query = form.to_query()?;
    let totals = query::total(&reports, &query.filter).await?;
    let is_newest = query.cursor.is_none();
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let list = draw_list(&reports, &form, &request).await?;
    let body = html! {
        (draw_form(&form))
        h2 { "Totals" }
        (totals_section(&totals))
        p { a class="button" href=(form.to_url(FILE)) { "Export all as CSV" } }
        h2 { "Newest first" }
        @if is_newest {
            p {
                button type="button" data-hold="settled" aria-pressed="false" hidden { "Pause updates" }
            }
        }
        div id="settled" data-live=[is_newest.then(|| form.to_url(LIVE))] { (list) }
    };
    Ok(page(&session, "Settlements", body))
}

/// Returns the first page of the list without its surroundings, for the script to refresh.
pub(crate) async fn refresh(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let query = PageQuery { cursor: None, ..form.to_query()? };
    let request = PageRequest::new(session.operator, query, PAGE, cursors);
    let list = draw_list(&reports, &form, &request).await?;
    Ok(Html(list.into_string()).into_response())
}

/// Returns the list as a CSV file, after recording the export in the audit log.
pub(crate) async fn export_csv(
    State(reports): State<Reports>,
    State(audit): State<Audit>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let filter = form.to_query()?.filter;
    Ok(query::export(&audit, &session.operator, reports, filter).await?)
}

fn draw_form(form: &SearchForm) -> Markup {
    let input = |name, label, kind| {
        field(Field { kind, value: form.value(name), ..Field::optional(name, label) })
    };
    let amount = |name, label| {
        let value = form.value(name);
        field(Field { value, inputmode: "decimal", ..Field::optional(name, label) })
    };
    let select = |name, label, options: &[_]| select(name, label, options, form.value(name));
    let kinds = catalog::kinds();
    let shown = || kinds.iter().filter(|kind| !kind.is_hidden);
    let mut games = vec![("", "Any")];
    games.extend(shown().map(|kind| (kind.name, kind.title)));
    let mut endings = vec![("", "Any")];
    for ending in shown().flat_map(|kind| kind.endings) {
        if !endings.iter().any(|(name, _)| *name == ending.name) {
            endings.push((ending.name, ending.title));
        }
    }
    let either = [("", "Either"), ("yes", "Yes"), ("no", "No")];
    html! {
        form class="filter" method="get" action=(HERE) {
            (input("from", "From (UTC)", "datetime-local"))
            (input("to", "Before (UTC)", "datetime-local"))
            (input("room", "Room's id", "text"))
            (input("player", "Player's id", "text"))
            (select("kind", "Game", &games))
            (select("ending", "End", &endings))
            (amount("least", "Paid at least"))
            (amount("most", "Paid at most"))
            (select("pot", "POT taken", &either))
            (select("takeover", "AI played", &either))
            button { "Show" }
        }
    }
}

fn totals_section(totals: &SettledTotals) -> Markup {
    facts(&[
        ("Games", html! { (totals.games) }),
        ("Paid by losers", coins(totals.gross)),
        ("Fees", coins(totals.fees)),
        ("POTs taken", html! { (totals.pots_taken) " (" (coins(totals.pots)) ")" }),
        ("AI played", html! { (totals.taken_over) }),
        ("Reversed", html! { (totals.reversed) }),
    ])
}

async fn draw_list(
    reports: &Reports,
    form: &SearchForm,
    request: &PageRequest<Operator, SettlementFilter>,
) -> Result<Markup, Problem> {
    let listed = query::list(reports, request).await?;
    Ok(html! {
        (settlements_table("Settlements", &listed.items))
        (pager(HERE, &form.conditions(), listed.next_cursor.as_deref()))
    })
}

/// Draws a table of settlements.
pub(crate) fn settlements_table(caption: &str, settlements: &[Settled]) -> Markup {
    table_of(
        caption,
        settlements,
        &[
            ("Finished (UTC)", &|row| game_link(row.game, time(row.finished_at))),
            ("Game", &|row| html! { (row.kind) }),
            ("Room", &|row| html! { (row.room) }),
            ("End", &|row| html! { (row.ending.as_deref().unwrap_or("?")) }),
            ("Players", &draw_seats),
            ("#Paid", &|row| coins(row.gross)),
            ("#Fee", &|row| coins(row.fee)),
            ("#POT", &|row| html! { @if let Some(pot) = row.pot { (coins(pot)) } }),
            ("AI", &|row| html! { @if row.taken_over { (badge("waiting", "AI")) } }),
            ("Reversed (UTC)", &|row| {
                html! { @if let Some(at) = row.reversed_at { (badge("bad", "reversed")) " " (time(at)) } }
            }),
        ],
    )
}

fn draw_seats(settled: &Settled) -> Markup {
    html! {
        @for seat in &settled.seats {
            (player_link(seat.player, &seat.name)) " " (coins(seat.net))
            @if Some(seat.player) == settled.winner { " " (badge("good", "won")) }
            br;
        }
    }
}
