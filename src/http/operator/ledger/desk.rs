//! The books: trial balance, an account with its entries, operations, and the results of ledger
//! checks.

use axum::extract::State;
use axum::response::Response;
use bahay_engine::coins::Coins;
use maud::{Markup, html};
use serde::Deserialize;

use super::api::find_account;
use crate::http::operator::desk_ui::components::{
    Column, Field, badge, coins, field, id, pager, table, time,
};
use crate::http::operator::desk_ui::layout::page;
use crate::http::operator::desk_ui::{ErrorPage, OperatorSession};
use crate::http::operator::games::desk::operation_section;
use crate::http::operator::players::desk::entries_table;
use crate::http::{Code, CodeExt as _, Cursors, Query, database_problem};
use crate::reports::{AccountRow, Balance, CheckRow, Reports};

const HERE: &str = "/desk/ledger";

/// The number of operations or entries on one page.
const PAGE: u32 = 20;

/// The number of ledger checks that are listed.
const CHECKS: u32 = 24;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LedgerQuery {
    account: String,
    operation: String,
    cursor: Option<String>,
}

pub(crate) async fn show_ledger(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    Query(query): Query<LedgerQuery>,
) -> Result<Response, ErrorPage> {
    let LedgerQuery { account: code, operation, cursor } = query;
    let code = code.trim();
    let operation = operation.trim();
    let cursor = cursor.as_deref();
    let content = if !operation.is_empty() {
        operation_page(&reports, &session, operation).await?
    } else if !code.is_empty() {
        account_page(&reports, &cursors, &session, code, cursor).await?
    } else {
        overview(&reports, &cursors, &session, cursor).await?
    };
    let code = Field { value: code, ..Field::optional("account", "Account code") };
    let operation = Field {
        value: operation,
        inputmode: "numeric",
        ..Field::optional("operation", "Operation number")
    };
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (field(code))
            (field(operation))
            button { "Show" }
        }
        (content)
    };
    Ok(page(&session, "Ledger", body))
}

async fn overview(
    reports: &Reports,
    cursors: &Cursors,
    session: &OperatorSession,
    cursor: Option<&str>,
) -> Result<Markup, ErrorPage> {
    const LIST: &str = "operations";
    let balances = reports.trial_balance().await.inspect_err(|error| {
        tracing::warn!(%error, "the trial balance could not be computed");
    });
    let house = reports.house_accounts().await.map_err(database_problem)?;
    let checks = reports.checks(CHECKS).await.map_err(database_problem)?;
    let cursor = cursors.open(LIST, &session.operator, cursor)?;
    let operations = reports.newest_operations(cursor, PAGE).await.map_err(database_problem)?;
    let next = operations.next.map(|next| cursors.seal(LIST, &session.operator, &next));
    Ok(html! {
        h2 { "Trial balance" }
        @match &balances {
            Ok(balances) => (trial_balance(balances)),
            Err(_) => p {
                (badge("bad", "not available"))
                " Reading all accounts failed or timed out. The checks below cover them as well."
            }
        }
        (accounts(&house))
        h2 id="checks" { "Checks" }
        (checks_table(&checks))
        h2 { "Newest operations" }
        @for operation in &operations.items { (operation_section(session, operation)) }
        (pager(HERE, &[], next.as_deref()))
    })
}

async fn account_page(
    reports: &Reports,
    cursors: &Cursors,
    session: &OperatorSession,
    code: &str,
    cursor: Option<&str>,
) -> Result<Markup, ErrorPage> {
    let found = find_account(reports, code).await?;
    let list = format!("entries of {code}");
    let cursor = cursors.open(&list, &session.operator, cursor)?;
    let entries = reports.account_entries(code, cursor, PAGE).await.map_err(database_problem)?;
    let next = entries.next.map(|next| cursors.seal(&list, &session.operator, &next));
    Ok(html! {
        (accounts(&[found]))
        (entries_table(&entries.items))
        (pager(HERE, &[("account", code)], next.as_deref()))
    })
}

async fn operation_page(
    reports: &Reports,
    session: &OperatorSession,
    number: &str,
) -> Result<Markup, ErrorPage> {
    let missing = || Code::OperationNotFound.problem();
    let number: i64 = number.parse().map_err(|_| missing())?;
    let operation = reports.operation(number).await.map_err(database_problem)?;
    Ok(operation_section(session, &operation.ok_or_else(missing)?))
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
                html! { @if differs { (badge("bad", "balances differ from transfers")) } },
            ]
        })
        .collect();
    rows.push(vec![
        html! { "Total" },
        html! {
            @match sum { Some(sum) => (coins(sum)), None => (badge("bad", "overflow")) }
        },
        html! {},
        verdict(Balance::add_up(balances)),
    ]);
    table("Balances by kind of account", &columns, &rows)
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
                        a href={ "/desk/players/" (player) } { "player" }
                    }
                },
            ]
        })
        .collect();
    table("Accounts", &columns, &rows)
}

fn checks_table(checks: &[CheckRow]) -> Markup {
    let columns = [
        Column::Text("Started (UTC)"),
        Column::Text("Ended"),
        Column::Text("Scope"),
        Column::Text("Result"),
    ];
    let rows: Vec<_> = checks
        .iter()
        .map(|check| {
            let found = check.differences.len();
            vec![
                time(check.started_at),
                html! {
                    @match check.finished_at { Some(at) => (time(at)), None => "running or aborted" }
                },
                html! { @if check.everything { "full" } @else { "incremental" } },
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
