//! The statement of a wallet on one page: every booking of a period with its balance, and the sums.

use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::statements::{Statement, StatementAmounts, StatementLine};
use maud::{Markup, html};
use uuid::Uuid;

use super::query;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, FilterForm, OperatorSession, SearchForm, coins, facts, field, game_link,
    page, player_link, table_of, time,
};
use crate::http::{Path, Services};
use crate::ids::PlayerId;

pub(crate) async fn show_statement(
    State(services): State<Services>,
    session: OperatorSession,
    Path(player): Path<Uuid>,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let period = form.to_query()?.filter;
    let statement = query::load_statement(&services, PlayerId(player), period).await?;
    let here = format!("/desk/players/{player}/statement");
    let body = html! {
        p { "Of " (player_link(player, &statement.name)) ". " (spelled_period(&statement)) }
        (draw_form(&form, &here))
        h2 { "Totals" }
        (totals(&statement))
        p { a class="button" href=(form.to_url(&format!("{here}.csv"))) { "Export as CSV" } }
        h2 { "Bookings" }
        (lines_table(&statement.lines))
    };
    Ok(page(&session, "Statement", body))
}

pub(crate) async fn export_csv(
    State(services): State<Services>,
    session: OperatorSession,
    Path(player): Path<Uuid>,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let period = form.to_query()?.filter;
    Ok(query::export(&services, &session.operator, PlayerId(player), period).await?)
}

fn spelled_period(statement: &Statement) -> Markup {
    html! {
        "From " (time(statement.from)) " to " (time(statement.to)) ", UTC. Amounts are in coins."
    }
}

fn draw_form(form: &SearchForm, here: &str) -> Markup {
    let input = |name, label| {
        let value = form.value(name);
        field(Field { kind: "datetime-local", value, ..Field::optional(name, label) })
    };
    html! {
        form class="filter" method="get" action=(here) {
            (input("from", "From (UTC)"))
            (input("to", "Before (UTC)"))
            button { "Show" }
        }
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

fn lines_table(lines: &[StatementLine]) -> Markup {
    let amount = |amount: bahay_api::Coins| html! { @if !amount.is_zero() { (coins(amount)) } };
    table_of(
        "Bookings, oldest first",
        lines,
        &[
            ("Booked (UTC)", &|line| time(line.booked_at)),
            ("Operation", &|line| {
                let path = format!("/desk/ledger?operation={}", line.operation);
                html! { a href=(path) { (kind_title(&line.kind)) } }
            }),
            (
                "Game",
                &|line| html! { @if let Some(game) = line.game { (game_link(game, "game")) } },
            ),
            ("#Ante", &|line| amount(line.amounts.ante)),
            ("#Stake", &|line| amount(line.amounts.stake)),
            ("#Payments", &|line| amount(line.amounts.payments)),
            ("#Fee", &|line| amount(line.amounts.fee)),
            ("#POT", &|line| amount(line.amounts.pot)),
            ("#Other", &|line| amount(line.amounts.other)),
            ("#Change", &|line| coins(line.amounts.change)),
            ("#Balance", &|line| coins(line.balance)),
        ],
    )
}

/// Returns the name of a kind of operation for people.
fn kind_title(kind: &str) -> &str {
    match kind {
        "open" => "game opened",
        "settle" => "game settled",
        "void" => "game voided",
        "grant" => "grant",
        "adjust" => "adjustment",
        "reverse" => "reversal",
        "pot_refund" => "POT refund",
        "sweep" => "swept",
        kind => kind,
    }
}
