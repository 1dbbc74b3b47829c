//! The statement of a wallet: the sums of a period, and its bookings with their balances by page.

use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::statements::{
    Statement, StatementAmounts, StatementLine, StatementPayment,
};
use bahay_engine::coins::Coins;
use maud::{Markup, html};
use uuid::Uuid;

use super::query;
use crate::db::Page;
use crate::http::operator::desk_ui::{
    ErrorPage, FilterForm, HouseZone, OperatorSession, SearchForm, coins, facts, game_link,
    operation_title, page, pager, sortable_by_script, table_of,
};
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Cursors, PageOf, PageRequest, Path, Problem, Services};
use crate::ids::PlayerId;
use crate::reports::describe_items;

/// The number of bookings on one page.
const PAGE: u32 = 100;

pub(crate) async fn show_statement(
    State(services): State<Services>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    Path(player): Path<Uuid>,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let query = form.to_query(&session.zone)?;
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let mut statement = query::load_statement(&services, PlayerId(player), request.filter).await?;
    let lines = std::mem::take(&mut statement.lines);
    let list = format!("desk/players/{player}/statement");
    let read = async |after, limit| Ok::<_, Problem>(page_of_lines(lines, after, limit));
    let PageOf { items: mut lines, next_cursor } = request.read(&list, read).await?;
    services.reports.explain_lines(PlayerId(player), &mut lines).await?;
    let is_complete = request.is_first_page() && next_cursor.is_none();
    let others = lines.iter().flat_map(|line| &line.payments).map(|one| one.player);
    let named = NamedPlayers::load(&services, others.chain([player])).await?;
    let here = format!("/desk/players/{player}/statement");
    let body = html! {
        p { "Of " (named.link(player, &statement.name)) ". " (spelled_period(&session.zone, &statement)) }
        form class="filter" method="get" action=(here) {
            (form.period_fields())
            button { "Show" }
        }
        (form.period_links(&here, &session.zone, services.clock.now(), Some("Last 24 hours")))
        h2 { "Totals" }
        (totals(&statement))
        p { a class="button" data-export href=(form.to_url(&format!("{here}.csv"))) { "Export as CSV" } }
        h2 { "Bookings" }
        @let table = lines_table(&session.zone, &named, &lines);
        @if is_complete { (sortable_by_script(table)) } @else { (table) }
        (pager(&here, &form.conditions(), next_cursor.as_deref()))
    };
    Ok(page(&session, "Statement", body))
}

pub(crate) async fn export_csv(
    State(services): State<Services>,
    session: OperatorSession,
    Path(player): Path<Uuid>,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let period = form.to_query(&session.zone)?.filter;
    Ok(query::export(&services, &session.operator, PlayerId(player), period).await?)
}

/// Returns up to `limit` lines after that of an operation.
fn page_of_lines(
    mut lines: Vec<StatementLine>,
    after: Option<i64>,
    limit: u32,
) -> Page<StatementLine, i64> {
    if let Some(after) = after {
        lines.retain(|line| line.operation > after);
    }
    Page::from_rows(lines, limit, |line| line.operation)
}

fn spelled_period(zone: &HouseZone, statement: &Statement) -> Markup {
    html! {
        "From " (zone.time(statement.from)) " to " (zone.time(statement.to)) ". Amounts are in coins."
    }
}

fn totals(statement: &Statement) -> Markup {
    let StatementAmounts { ante, stake, payments, fee, pot, other, change } = statement.sums;
    facts(&[
        ("Opening balance", coins(statement.opening)),
        ("Antes", coins(ante)),
        ("Stakes, with lost payments", coins(stake)),
        ("Payments received", coins(payments)),
        ("Fees", coins(fee)),
        ("POTs won", coins(pot)),
        ("Grants, adjustments, reversals", coins(other)),
        ("Change", coins(change)),
        ("Closing balance", coins(statement.closing)),
    ])
}

fn lines_table(zone: &HouseZone, named: &NamedPlayers, lines: &[StatementLine]) -> Markup {
    let amount = |amount: bahay_api::Coins| html! { @if !amount.is_zero() { (coins(amount)) } };
    table_of(
        "Bookings by time",
        lines,
        &[
            ("Booked", &|line| zone.time(line.booked_at)),
            ("#Change", &|line| coins(line.amounts.change)),
            ("#Balance", &|line| coins(line.balance)),
            ("Operation", &|line| {
                let path = format!("/desk/ledger?operation={}", line.operation);
                html! { a href=(path) { (operation_title(&line.kind)) } }
            }),
            (
                "Game",
                &|line| html! { @if let Some(game) = line.game { (game_link(game, "game")) } },
            ),
            ("Items and reason", &|line| explanation(named, line)),
            ("#Ante", &|line| amount(line.amounts.ante)),
            ("#Stake", &|line| amount(line.amounts.stake)),
            ("#Payments", &|line| amount(line.amounts.payments)),
            ("#Fee", &|line| amount(line.amounts.fee)),
            ("#POT", &|line| amount(line.amounts.pot)),
            ("#Other", &|line| amount(line.amounts.other)),
        ],
    )
}

/// Draws the payments of a settlement with their items, and the reason of a correction or a void.
fn explanation(named: &NamedPlayers, line: &StatementLine) -> Markup {
    html! {
        @for StatementPayment { player, name, amount, items } in &line.payments {
            @if amount.is_negative() { "to " } @else { "from " }
            (named.link(*player, name)) " "
            (coins(Coins::from_hundredths(amount.hundredths().abs())))
            ": " (describe_items(items)) br;
        }
        @if let Some(reason) = &line.reason { (reason) }
    }
}
