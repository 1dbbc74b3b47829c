//! The sums of transfers on one page: what moved within a period, by purpose and room.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use bahay_api::TransferCode;
use bahay_api::operator::transfers::{TransferReport, TransferSum};
use bahay_engine::coins::Coins;
use maud::{Markup, html};

use super::query;
use crate::http::operator::desk_ui::{
    ErrorPage, FilterForm, OperatorSession, SearchForm, account_title, coins, count, page,
    purpose_title, sortable_by_script, table, table_of,
};
use crate::http::{Problem, Services};

const HERE: &str = "/desk/transfers";

pub(crate) async fn show_transfers(
    State(services): State<Services>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let period = form.to_query(&session.zone)?.filter;
    let report = query::load_report(&services, period).await?;
    let zone = &session.zone;
    let body = html! {
        p {
            "Booked from " (zone.time(report.from)) " to " (zone.time(report.to))
            ". Amounts are in coins."
        }
        form class="filter" method="get" action=(HERE) {
            (form.period_fields())
            button { "Show" }
        }
        (form.period_links(HERE, zone, services.clock.now(), None))
        h2 { "By purpose" }
        (sortable_by_script(purposes_table(&report)?))
        p { a class="button" data-export href=(form.to_url("/desk/transfers.csv")) { "Export as CSV" } }
        p {
            a class="button" data-export href=(form.to_url("/desk/transfers/bookings.csv")) { "Export single transfers as CSV" }
            " Grants, adjustments, reversals, voids and tournaments, by date and player; settled games are a file of "
            a href="/desk/settlements" { "Settlements" } "."
        }
        h2 { "By purpose and room" }
        (sortable_by_script(sums_table(&session, &report.sums)))
    };
    Ok(page(&session, "Transfers", body))
}

pub(crate) async fn export_csv(
    State(services): State<Services>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let period = form.to_query(&session.zone)?.filter;
    Ok(query::export(&services, &session.operator, period).await?)
}

/// Returns the single transfers of the period as a CSV file.
pub(crate) async fn export_bookings(
    State(services): State<Services>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let period = form.to_query(&session.zone)?.filter;
    Ok(query::export_bookings(&services, &session.operator, period).await?)
}

/// Draws the sums of all rooms and accounts by purpose.
fn purposes_table(report: &TransferReport) -> Result<Markup, Problem> {
    let mut purposes: BTreeMap<_, (i64, Coins)> = BTreeMap::new();
    for sum in &report.sums {
        let (transfers, amount) = purposes.entry(sum.code).or_default();
        *transfers += sum.transfers;
        let total = amount.checked_add(*sum.amount);
        *amount = total.ok_or_else(|| Problem::internal(&"a sum does not fit 64 bits"))?;
    }
    let rows = purposes
        .iter()
        .map(|(code, (transfers, amount))| vec![purpose(*code), coins(*amount), count(*transfers)]);
    Ok(table("Transfers by purpose", "Purpose | #Coins | #Transfers", rows))
}

fn sums_table(session: &OperatorSession, sums: &[TransferSum]) -> Markup {
    let room = |sum: &TransferSum| {
        html! { @match &sum.room { Some(room) => (session.rooms.title(room)), None => "–" } }
    };
    table_of(
        "Transfers by purpose, room and kinds of accounts",
        sums,
        &[
            ("Purpose", &|sum| purpose(sum.code)),
            ("#Coins", &|sum| coins(sum.amount)),
            ("Room", &room),
            ("From", &|sum| html! { (account_title(&sum.source)) }),
            ("To", &|sum| html! { (account_title(&sum.destination)) }),
            ("#Transfers", &|sum| count(sum.transfers)),
        ],
    )
}

fn purpose(code: TransferCode) -> Markup {
    html! { (purpose_title(code)) }
}
