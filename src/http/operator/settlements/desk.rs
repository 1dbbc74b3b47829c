//! Settled games: a filtered list that is refreshed continuously, its totals, and an export as CSV.

use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use bahay_api::operator::players::PlayerMatch;
use bahay_api::operator::settlements::{
    PlayerTotals, Settled, SettledTotals, SettlementFilter, SettlementOrder,
};
use bahay_engine::catalog;
use maud::{Markup, html};
use uuid::Uuid;

use super::query;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, FilterForm, OperatorSession, SearchForm, SortDirection, SortLink, badge,
    coins, count, ending_title, facts, field, game_link, id, page, pager, select,
    sortable_table_of, table_of,
};
use crate::http::operator::players::find_by_name;
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Cursors, PageQuery, PageRequest, Problem, Services};
use crate::operators::Operator;
use crate::reports::Reports;
use crate::rooms;

const HERE: &str = "/desk/settlements";
const LIVE: &str = "/desk/settlements/live";
const FILE: &str = "/desk/settlements.csv";

/// The number of settlements on one page.
const PAGE: u32 = 50;

/// The columns by which the list is sorted, each with the order that its heading selects first.
const SORTED_COLUMNS: [(&str, SettlementOrder); 10] = [
    ("Finished", SettlementOrder::Newest),
    ("Paid", SettlementOrder::Largest),
    ("Fee", SettlementOrder::LargestFee),
    ("POT", SettlementOrder::LargestPot),
    ("Ante", SettlementOrder::LargestAnte),
    ("Reversed", SettlementOrder::NewestReversal),
    ("Game", SettlementOrder::FirstKind),
    ("Room", SettlementOrder::FirstRoom),
    ("End", SettlementOrder::FirstEnding),
    ("AI", SettlementOrder::WithAi),
];

pub(crate) async fn list(
    State(services): State<Services>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let Services { reports, .. } = &services;
    let form = match find_player(reports, form).await? {
        FoundPlayer::One(form) => form,
        FoundPlayer::Several(form, players) => return Ok(choose_player(&session, &form, &players)),
    };
    let query = form.to_query(&session.zone)?;
    let totals = query::total(reports, &query.filter).await?;
    let is_live = query.cursor.is_none() && order_of(&query.filter) == SettlementOrder::Newest;
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let list = draw_list(&services, &session, &form, &request).await?;
    let body = html! {
        (draw_form(&form, &services))
        (form.period_links(HERE, &session.zone, services.clock.now(), Some("All")))
        h2 { "Totals" }
        (totals_section(&totals))
        p { a class="button" data-export href=(form.to_url(FILE)) { "Export all as CSV" } }
        h2 { "List" }
        @if is_live {
            p {
                button type="button" data-hold="settled" aria-pressed="false" hidden { "Pause updates" }
            }
        }
        div id="settled" data-live=[is_live.then(|| form.to_url(LIVE))] { (list) }
    };
    Ok(page(&session, "Settlements", body))
}

/// The result of the search for the player whom the form names.
enum FoundPlayer {
    /// The form with the player's id, or without a player.
    One(SearchForm),
    Several(SearchForm, Vec<PlayerMatch>),
}

/// Finds the player whose name or its beginning was typed instead of an id.
async fn find_player(reports: &Reports, form: SearchForm) -> Result<FoundPlayer, Problem> {
    let typed = form.value("player").trim();
    if typed.is_empty() || Uuid::try_parse(typed).is_ok() {
        return Ok(FoundPlayer::One(form));
    }
    let found = find_by_name(reports, typed).await?;
    match found.as_slice() {
        [one] => Ok(FoundPlayer::One(form.replace_fields(&[("player", &one.id.to_string())]))),
        _ => Ok(FoundPlayer::Several(form, found)),
    }
}

/// Returns the page on which an operator chooses among the players with the typed name.
fn choose_player(
    session: &OperatorSession,
    form: &SearchForm,
    players: &[PlayerMatch],
) -> Response {
    let body = html! {
        p { "Choose the player whose name begins with “" (form.value("player").trim()) "”." }
        (table_of(
            "Players, at most 20",
            players,
            &[
                ("Name", &|player| {
                    let id = player.id.to_string();
                    html! { a href=(form.replace_fields(&[("player", &id)]).to_url(HERE)) { (player.name) } }
                }),
                ("Id", &|player| id(&player.id)),
            ],
        ))
        p { a href=(form.replace_fields(&[("player", "")]).to_url(HERE)) { "All players" } }
    };
    page(session, "Settlements", body)
}

/// Returns the first page of the list without its surroundings, for the script to refresh.
pub(crate) async fn refresh(
    State(services): State<Services>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let query = PageQuery { cursor: None, ..form.to_query(&session.zone)? };
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let list = draw_list(&services, &session, &form, &request).await?;
    Ok(Html(list.into_string()).into_response())
}

/// Returns the list with its totals as a CSV file, after recording the export in the audit log.
pub(crate) async fn export_csv(
    State(services): State<Services>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let filter = form.to_query(&session.zone)?.filter;
    Ok(query::export(&services, &session.operator, filter, true).await?)
}

fn draw_form(form: &SearchForm, services: &Services) -> Markup {
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
    let listed = services.lobby.rooms();
    let mut rooms = vec![("", "Any"), (rooms::PRIVATE, "Private tables")];
    rooms.extend(listed.iter().map(|room| (room.id(), room.name())));
    let either = [("", "Either"), ("yes", "Yes"), ("no", "No")];
    html! {
        form class="filter" method="get" action=(HERE) {
            (form.period_fields())
            (select("room", "Room", &rooms))
            (field(Field {
                value: form.value("player"),
                is_player: true,
                ..Field::optional("player", "Player's name or id")
            }))
            (select("kind", "Game", &games))
            (select("ending", "End", &endings))
            (amount("least", "Paid at least"))
            (amount("most", "Paid at most"))
            (select("pot", "POT taken", &either))
            (select("takeover", "AI played", &either))
            @if !form.value("order").is_empty() {
                input type="hidden" name="order" value=(form.value("order"));
            }
            button { "Show" }
        }
    }
}

fn totals_section(totals: &SettledTotals) -> Markup {
    html! {
        (facts(&[
            ("Games", count(totals.games)),
            ("Paid by losers", coins(totals.gross)),
            ("Fees", coins(totals.fees)),
            ("POTs taken", html! { (count(totals.pots_taken)) " (" (coins(totals.pots)) ")" }),
            ("AI played", count(totals.taken_over)),
            ("Reversed", count(totals.reversed)),
        ]))
        @if let Some(PlayerTotals { net, antes, change }) = totals.player {
            (facts(&[
                ("Player's net without antes", coins(net)),
                ("Antes paid", coins(antes)),
                ("Change of the player's coins", coins(change)),
            ]))
        }
    }
}

async fn draw_list(
    services: &Services,
    session: &OperatorSession,
    form: &SearchForm,
    request: &PageRequest<Operator, SettlementFilter>,
) -> Result<Markup, Problem> {
    let listed = query::list(&services.reports, request).await?;
    let named = NamedPlayers::load(services, players_of(&listed.items)).await?;
    let order = order_of(&request.filter);
    let sort_link = |column: &str| sort_link(form, order, column);
    Ok(html! {
        (draw_settlements(session, &named, caption(order), &listed.items, &sort_link))
        (pager(HERE, &form.conditions(), listed.next_cursor.as_deref()))
    })
}

fn order_of(filter: &SettlementFilter) -> SettlementOrder {
    filter.order.unwrap_or_default()
}

/// Returns the caption of the list in an order.
const fn caption(order: SettlementOrder) -> &'static str {
    match order {
        SettlementOrder::Newest => "Settlements, newest first",
        SettlementOrder::Oldest => "Settlements, oldest first",
        SettlementOrder::Largest => "Settlements, largest payments first",
        SettlementOrder::Smallest => "Settlements, smallest payments first",
        SettlementOrder::LargestFee => "Settlements, largest fees first",
        SettlementOrder::SmallestFee => "Settlements, smallest fees first",
        SettlementOrder::LargestPot => "Settlements with a taken POT, largest first",
        SettlementOrder::SmallestPot => "Settlements with a taken POT, smallest first",
        SettlementOrder::LargestAnte => "Settlements, largest antes first",
        SettlementOrder::SmallestAnte => "Settlements, smallest antes first",
        SettlementOrder::NewestReversal => "Reversed settlements, newest reversals first",
        SettlementOrder::OldestReversal => "Reversed settlements, oldest reversals first",
        SettlementOrder::FirstKind => "Settlements by game, A to Z",
        SettlementOrder::LastKind => "Settlements by game, Z to A",
        SettlementOrder::FirstRoom => "Settlements by room, A to Z",
        SettlementOrder::LastRoom => "Settlements by room, Z to A",
        SettlementOrder::FirstEnding => "Settlements by ending, A to Z",
        SettlementOrder::LastEnding => "Settlements by ending, Z to A",
        SettlementOrder::WithAi => "Settlements, those with the AI first",
        SettlementOrder::WithoutAi => "Settlements, those without the AI first",
    }
}

/// Returns the link that sorts by a column. That of the column by which the list is sorted reverses
/// the order.
fn sort_link(form: &SearchForm, order: SettlementOrder, column: &str) -> Option<SortLink> {
    let (_, first) = SORTED_COLUMNS.iter().find(|(name, _)| *name == column)?;
    let is_sorted = order.key() == first.key();
    let next = if is_sorted { order.reverse() } else { *first };
    let direction = match order.is_descending() {
        true => SortDirection::Descending,
        false => SortDirection::Ascending,
    };
    Some(SortLink {
        href: form.replace_fields(&[("order", next.as_str())]).to_url(HERE),
        title: caption(next),
        sorted: is_sorted.then_some(direction),
    })
}

/// Draws a table of settlements.
pub(crate) fn settlements_table(
    session: &OperatorSession,
    named: &NamedPlayers,
    caption: &str,
    settlements: &[Settled],
) -> Markup {
    draw_settlements(session, named, caption, settlements, &|_| None)
}

/// Returns the players of settled games.
pub(crate) fn players_of(settlements: &[Settled]) -> impl Iterator<Item = Uuid> {
    settlements.iter().flat_map(|settled| &settled.seats).map(|seat| seat.player)
}

fn draw_settlements(
    session: &OperatorSession,
    named: &NamedPlayers,
    caption: &str,
    settlements: &[Settled],
    sort_link: &dyn Fn(&str) -> Option<SortLink>,
) -> Markup {
    let zone = &session.zone;
    sortable_table_of(
        caption,
        settlements,
        &[
            ("Finished", &|row| game_link(row.game, zone.time(row.finished_at))),
            ("#Paid", &|row| coins(row.gross)),
            ("#Fee", &|row| coins(row.fee)),
            ("#POT", &|row| html! { @if let Some(pot) = row.pot { (coins(pot)) } }),
            ("#Ante", &|row| coins(row.ante)),
            ("Players", &|row| draw_seats(named, row)),
            ("Game", &|row| html! { (catalog::kind_title(&row.kind)) }),
            ("Room", &|row| html! { (session.rooms.title(&row.room)) }),
            ("End", &|row| html! { (ending_title(&row.kind, row.ending.as_deref())) }),
            ("AI", &|row| html! { @if row.taken_over { (badge("waiting", "AI")) } }),
            ("Reversed", &|row| {
                html! { @if let Some(at) = row.reversed_at { (badge("bad", "reversed")) " " (zone.time(at)) } }
            }),
        ],
        sort_link,
    )
}

fn draw_seats(named: &NamedPlayers, settled: &Settled) -> Markup {
    html! {
        @for seat in &settled.seats {
            (named.link(seat.player, &seat.name)) " " (coins(seat.net))
            @if Some(seat.player) == settled.winner { " " (badge("good", "won")) }
            br;
        }
    }
}
