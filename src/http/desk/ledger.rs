//! The books: trial balance, an account with its entries, operations, and what checks have found.

use axum::extract::State;
use axum::response::Response;
use bahay_engine::coins::Coins;
use maud::{Markup, html};
use serde::Deserialize;

use super::game::booked;
use super::parts::{Column, Field, badge, coins, field, id, pager, table, time};
use super::player::entries_table;
use super::shell::page;
use super::{Refused, Seat};
use crate::http::operators::ledger::account;
use crate::http::{Code, Cursors, Query, unread};
use crate::reports::{AccountRow, Balance, CheckRow, Reports};

const HERE: &str = "/desk/ledger";

/// Operations and entries on one page.
const PAGE: u32 = 20;

/// Checks that are listed.
const CHECKS: u32 = 24;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    account: String,
    operation: String,
    cursor: Option<String>,
}

pub(super) async fn show(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    seat: Seat,
    Query(asked): Query<Asked>,
) -> Result<Response, Refused> {
    let Asked { account: code, operation, cursor } = asked;
    let (code, operation) = (code.trim(), operation.trim());
    let cursor = cursor.as_deref();
    let found = if !operation.is_empty() {
        one_operation(&reports, &seat, operation).await?
    } else if !code.is_empty() {
        one_account(&reports, &cursors, &seat, code, cursor).await?
    } else {
        at_a_glance(&reports, &cursors, &seat, cursor).await?
    };
    let code = Field { value: code, ..Field::optional("account", "Account's code") };
    let operation = Field {
        value: operation,
        inputmode: "numeric",
        ..Field::optional("operation", "Operation's number")
    };
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (field(code))
            (field(operation))
            button { "Show" }
        }
        (found)
    };
    Ok(page(&seat, "Ledger", body))
}

async fn at_a_glance(
    reports: &Reports,
    cursors: &Cursors,
    seat: &Seat,
    cursor: Option<&str>,
) -> Result<Markup, Refused> {
    const LIST: &str = "operations";
    let balances = reports.trial_balance().await.inspect_err(|error| {
        tracing::warn!(%error, "the trial balance could not be counted");
    });
    let house = reports.house_accounts().await.map_err(unread)?;
    let checks = reports.checks(CHECKS).await.map_err(unread)?;
    let cursor = cursors.open(LIST, &seat.operator, cursor)?;
    let operations = reports.newest_operations(cursor, PAGE).await.map_err(unread)?;
    let next = operations.next.map(|next| cursors.seal(LIST, &seat.operator, &next));
    Ok(html! {
        h2 { "Trial balance" }
        @match &balances {
            Ok(balances) => (trial_balance(balances)),
            Err(_) => p {
                (badge("bad", "not counted"))
                " Reading all accounts took too long or failed. The checks below read them as well."
            }
        }
        (accounts(&house))
        h2 id="checks" { "Checks" }
        (checked(&checks))
        h2 { "Newest operations" }
        @for operation in &operations.items { (booked(seat, operation)) }
        (pager(HERE, &[], next.as_deref()))
    })
}

async fn one_account(
    reports: &Reports,
    cursors: &Cursors,
    seat: &Seat,
    code: &str,
    cursor: Option<&str>,
) -> Result<Markup, Refused> {
    let found = account(reports, code).await?;
    let list = format!("entries of {code}");
    let cursor = cursors.open(&list, &seat.operator, cursor)?;
    let entries = reports.account_entries(code, cursor, PAGE).await.map_err(unread)?;
    let next = entries.next.map(|next| cursors.seal(&list, &seat.operator, &next));
    Ok(html! {
        (accounts(&[found]))
        (entries_table(&entries.items))
        (pager(HERE, &[("account", code)], next.as_deref()))
    })
}

async fn one_operation(reports: &Reports, seat: &Seat, number: &str) -> Result<Markup, Refused> {
    let missing = || Code::OperationNotFound.plain();
    let number: i64 = number.parse().map_err(|_| missing())?;
    let operation = reports.operation(number).await.map_err(unread)?;
    Ok(booked(seat, &operation.ok_or_else(missing)?))
}

fn trial_balance(balances: &[Balance]) -> Markup {
    let sum = Coins::checked_sum(balances.iter().map(|balance| balance.amount));
    let columns = [
        Column::Text("Kind of accounts"),
        Column::Number("By balances"),
        Column::Number("By transfers"),
        Column::Text(""),
    ];
    let verdict = |holds| match holds {
        true => badge("good", "adds up"),
        false => badge("bad", "does not add up"),
    };
    let mut rows: Vec<_> = balances
        .iter()
        .map(|Balance { kind, amount, transferred }| {
            let differs = amount != transferred;
            vec![
                html! { (kind) },
                coins(*amount),
                coins(*transferred),
                html! { @if differs { (badge("bad", "balances are not what was transferred")) } },
            ]
        })
        .collect();
    rows.push(vec![
        html! { "All together" },
        html! {
            @match sum { Some(sum) => (coins(sum)), None => (badge("bad", "does not fit")) }
        },
        html! {},
        verdict(Balance::add_up(balances)),
    ]);
    table("What all accounts of a kind hold", &columns, &rows)
}

fn accounts(rows: &[AccountRow]) -> Markup {
    let columns = [
        Column::Text("Account"),
        Column::Number("Balance"),
        Column::Number("Entries"),
        Column::Text("Player"),
    ];
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            let query = serde_urlencoded::to_string([("account", &row.code)]).unwrap_or_default();
            vec![
                html! { a href={ (HERE) "?" (query) } { (id(&row.code)) } },
                coins(row.balance),
                html! { (row.version) },
                html! {
                    @if let Some(player) = row.player {
                        a href={ "/desk/players/" (player) } { "its player" }
                    }
                },
            ]
        })
        .collect();
    table("Accounts", &columns, &rows)
}

fn checked(checks: &[CheckRow]) -> Markup {
    let columns = [
        Column::Text("Begun (UTC)"),
        Column::Text("Ended"),
        Column::Text("What was read"),
        Column::Text("Found"),
    ];
    let rows: Vec<_> = checks
        .iter()
        .map(|check| {
            let found = check.differences.len();
            vec![
                time(check.started_at),
                html! {
                    @match check.finished_at { Some(at) => (time(at)), None => "not yet, or never" }
                },
                html! { @if check.everything { "everything" } @else { "what was new" } },
                html! {
                    @if check.finished_at.is_some() && found == 0 {
                        (badge("good", "no difference"))
                    }
                    @for difference in &check.differences { (badge("bad", difference)) " " }
                },
            ]
        })
        .collect();
    table("Checks of the ledger, newest first", &columns, &rows)
}
