//! The books: trial balance, an account with its entries, operations, and the results of ledger
//! checks.

use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use bahay_api::operator::ledger::{Account, AccountEntry, Balance, LedgerCheckReport};
use bahay_engine::coins::Coins;
use maud::{Markup, Render, html};
use serde::Deserialize;
use uuid::Uuid;

use super::query;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, HouseZone, OperatorSession, account_name, account_title, badge, coins, count,
    field, game_link, id, operation_title, page, pager, purpose_title, table, table_of,
};
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{
    Code, CodeExt as _, Cursors, PageOf, PageQuery, PageRequest, Problem, Query, Services,
};
use crate::operators::Operator;
use crate::reports::{OperationRow, Reports, Reversibility, add_up};

const HERE: &str = "/desk/ledger";
const TRIAL_BALANCE: &str = "/desk/ledger/trial-balance";
/// The page with the trial balance, whatever the number of accounts.
const WITH_TRIAL_BALANCE: &str = "/desk/ledger?trial_balance=now";

/// The number of accounts up to which the page contains the trial balance. It takes some 50 ms for a
/// million accounts; of more of them it is loaded after the page.
const ACCOUNTS_ON_PAGE_MAX: i64 = 500_000;

/// The number of operations or entries on one page.
const PAGE: u32 = 20;

/// The number of ledger checks that are listed.
const CHECKS: u32 = 24;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LedgerQuery {
    account: String,
    operation: String,
    /// `now` for a page with the trial balance, as a browser without a script asks for it.
    trial_balance: String,
    cursor: Option<String>,
}

pub(crate) async fn show_ledger(
    State(services): State<Services>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    Query(query): Query<LedgerQuery>,
) -> Result<Response, ErrorPage> {
    let LedgerQuery { account: code, operation, trial_balance, cursor } = query;
    let reports = &services.reports;
    let code = code.trim();
    let operation = operation.trim();
    let query = PageQuery { cursor, ..PageQuery::default() };
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let content = if !operation.is_empty() {
        let number = operation.parse().map_err(|_| Code::OperationNotFound.problem())?;
        let found = query::find_operation(reports, number).await?;
        let named = load_wallet_owners(&services, std::slice::from_ref(&found)).await?;
        operation_section(&session, &named, &found)
    } else if !code.is_empty() {
        account_page(&services, &session, code, &request).await?
    } else if request.is_first_page() {
        overview(&services, &session, &request, trial_balance == "now").await?
    } else {
        further_operations(&services, &session, &request).await?
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
        p { a href="/desk/transfers" { "Transfers of a period" } }
        (content)
    };
    Ok(page(&session, "Ledger", body))
}

/// Returns the trial balance for the script to insert into the page.
pub(crate) async fn load_trial_balance(
    State(reports): State<Reports>,
    _: OperatorSession,
) -> Response {
    Html(trial_balance_section(&reports).await.into_string()).into_response()
}

async fn overview(
    services: &Services,
    session: &OperatorSession,
    request: &PageRequest<Operator>,
    is_balance_requested: bool,
) -> Result<Markup, ErrorPage> {
    let reports = &services.reports;
    let has_balance =
        is_balance_requested || reports.estimate_accounts().await? <= ACCOUNTS_ON_PAGE_MAX;
    let balance = async {
        if has_balance { trial_balance_section(reports).await } else { deferred_trial_balance() }
    };
    // The trial balance takes longer than the rest of the page, which is read meanwhile.
    let (balance, house, checks, operations) = tokio::join!(
        balance,
        reports.house_accounts(),
        reports.checks(CHECKS),
        query::list_operations(reports, request)
    );
    let house = house?;
    let checks = checks?;
    let operations = operations?;
    let named = load_wallet_owners(services, &operations.items).await?;
    Ok(html! {
        h2 { "Trial balance" }
        (balance)
        (accounts(session, &NamedPlayers::default(), &house))
        h2 id="checks" { "Checks" }
        (checks_table(&session.zone, &checks))
        h2 { "Newest operations" }
        (operations_page(session, &named, &operations))
    })
}

/// Draws a further page of operations. Trial balance and checks are those of the first page.
async fn further_operations(
    services: &Services,
    session: &OperatorSession,
    request: &PageRequest<Operator>,
) -> Result<Markup, ErrorPage> {
    let operations = query::list_operations(&services.reports, request).await?;
    let named = load_wallet_owners(services, &operations.items).await?;
    Ok(html! {
        p { a href=(HERE) { "Trial balance, checks and newest operations" } }
        h2 { "Operations" }
        (operations_page(session, &named, &operations))
    })
}

fn operations_page(
    session: &OperatorSession,
    named: &NamedPlayers,
    operations: &PageOf<OperationRow>,
) -> Markup {
    html! {
        @for operation in &operations.items { (operation_section(session, named, operation)) }
        (pager(HERE, &[], operations.next_cursor.as_deref()))
    }
}

async fn account_page(
    services: &Services,
    session: &OperatorSession,
    code: &str,
    request: &PageRequest<Operator>,
) -> Result<Markup, ErrorPage> {
    let found = query::find_account(&services.reports, code).await?;
    let entries = query::list_entries(&services.reports, code, request).await?;
    let named = NamedPlayers::load(services, found.player).await?;
    Ok(html! {
        (accounts(session, &named, &[found]))
        (entries_table(session, &entries.items))
        (pager(HERE, &[("account", code)], entries.next_cursor.as_deref()))
    })
}

/// Adds up all accounts.
async fn trial_balance_section(reports: &Reports) -> Markup {
    match reports.trial_balance().await {
        Ok(balances) => trial_balance(&balances),
        Err(error) => {
            tracing::warn!(%error, "the trial balance could not be computed");
            html! {
                p {
                    (badge("bad", "not available"))
                    " Reading all accounts failed or timed out. The checks below cover them as well."
                }
            }
        }
    }
}

/// Draws the place of a trial balance that the script loads.
fn deferred_trial_balance() -> Markup {
    html! {
        div data-load=(TRIAL_BALANCE) role="status" {
            p { a href=(WITH_TRIAL_BALANCE) { "Add up all accounts" } }
        }
    }
}

fn trial_balance(balances: &[Balance]) -> Markup {
    let sum = Coins::checked_sum(balances.iter().map(|balance| *balance.amount));
    let columns = "Kind of accounts | #By balances | #By transfers | ";
    let verdict =
        if add_up(balances) { badge("good", "adds up") } else { badge("bad", "does not add up") };
    let mut rows: Vec<_> = balances
        .iter()
        .map(|Balance { kind, amount, transferred }| {
            let differs = amount != transferred;
            vec![
                html! { (account_title(kind)) },
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
        verdict,
    ]);
    table("Balances by kind of account", columns, &rows)
}

fn accounts(session: &OperatorSession, named: &NamedPlayers, accounts: &[Account]) -> Markup {
    table_of(
        "Accounts",
        accounts,
        &[
            ("Account", &|account| named_account(session, &account.code)),
            ("#Balance", &|account| coins(account.balance)),
            ("#Entries", &|account| count(account.version)),
            ("Player", &|account| {
                html! { @if let Some(player) = account.player { (named.name_link(player)) } }
            }),
        ],
    )
}

/// Draws a link to an account.
pub(crate) fn account_link(code: &str, text: impl Render) -> Markup {
    let query = serde_urlencoded::to_string([("account", code)]).unwrap_or_default();
    html! { a href={ (HERE) "?" (query) } { (text) } }
}

/// Draws a link to an account under its name, in the font of ids if that is its code.
fn named_account(session: &OperatorSession, code: &str) -> Markup {
    let name = account_name(&session.rooms, code);
    if name == code { account_link(code, id(&code)) } else { account_link(code, name) }
}

/// Draws a link to an account of a transfer: a wallet under the name of its player.
pub(crate) fn transfer_account(
    session: &OperatorSession,
    named: &NamedPlayers,
    code: &str,
) -> Markup {
    match wallet_owner(code).and_then(|player| named.name(player)) {
        Some(name) => account_link(code, format!("wallet of {name}")),
        None => named_account(session, code),
    }
}

/// Reads the names of the players whose wallets are named by operations.
async fn load_wallet_owners(
    services: &Services,
    operations: &[OperationRow],
) -> Result<NamedPlayers, Problem> {
    let transfers = operations.iter().flat_map(|row| &row.operation.transfers);
    let accounts = transfers.flat_map(|transfer| [&transfer.source, &transfer.destination]);
    NamedPlayers::load(services, accounts.filter_map(|code| wallet_owner(code))).await
}

/// Returns the player of a wallet by its code.
fn wallet_owner(code: &str) -> Option<Uuid> {
    code.strip_prefix("wallet:")?.parse().ok()
}

/// Draws a link to an operation.
pub(crate) fn operation_link(operation: i64) -> Markup {
    html! { a href={ (HERE) "?operation=" (operation) } { (operation) } }
}

pub(crate) fn entries_table(session: &OperatorSession, entries: &[AccountEntry]) -> Markup {
    table_of(
        "Entries, newest first",
        entries,
        &[
            ("Booked", &|entry| session.zone.time(entry.booked_at)),
            ("#Coins", &|entry| coins(entry.amount)),
            ("#Balance", &|entry| {
                html! { @if let Some(after) = entry.balance_after { (coins(after)) } @else { "–" } }
            }),
            ("Purpose", &|entry| match entry.game {
                Some(game) => game_link(game, purpose_title(entry.code)),
                None => html! { (purpose_title(entry.code)) },
            }),
            ("Counterparty", &|entry| named_account(session, &entry.other)),
            ("#Entry", &|entry| {
                html! { @if let Some(version) = entry.version { (version) } @else { "–" } }
            }),
            ("Operation", &|entry| operation_link(entry.operation)),
        ],
    )
}

/// Draws a link to the request for a reversal if one is possible, and otherwise the reason why not.
fn reversal(session: &OperatorSession, row: &OperationRow) -> Markup {
    let may_request = session.operator.require_corrections_role().is_ok();
    match row.reversibility {
        Reversibility::Possible if may_request => html! {
            " · "
            a href={ "/desk/corrections/new?operation=" (row.operation.id) } { "Request its reversal" }
        },
        Reversibility::Requested { correction } => html! {
            " · "
            a href={ "/desk/corrections/" (correction) } { "Its reversal waits for a decision" }
        },
        Reversibility::Reversed { by } => html! {
            " · " (badge("bad", "reversed")) " by "
            a href={ "/desk/ledger?operation=" (by) } { "operation " (by) }
        },
        Reversibility::PaidPot if may_request => html! {
            " · It paid a POT to which several games contributed, so it cannot be reversed; adjust instead."
        },
        Reversibility::Possible | Reversibility::PaidPot | Reversibility::Impossible => html! {},
    }
}

/// Draws an operation with its transfers and, for operators with the capability, the link to its
/// reversal. `named` are the players whose wallets have names.
pub(crate) fn operation_section(
    session: &OperatorSession,
    named: &NamedPlayers,
    row: &OperationRow,
) -> Markup {
    let operation = &row.operation;
    let transfers = table_of(
        &format!("Transfers of operation {}", operation.id),
        &operation.transfers,
        &[
            ("Purpose", &|transfer| html! { (purpose_title(transfer.code)) }),
            ("#Coins", &|transfer| coins(transfer.amount)),
            ("From", &|transfer| transfer_account(session, named, &transfer.source)),
            ("To", &|transfer| transfer_account(session, named, &transfer.destination)),
            ("#Number", &|transfer| html! { (transfer.number) }),
        ],
    );
    html! {
        p {
            "Operation " (operation.id) ": " (operation_title(&operation.kind)) ", booked " (session.zone.time(operation.booked_at))
            " under " (id(&operation.key))
            @if let Some(game) = operation.game { " for " (game_link(game, "its game")) }
            (reversal(session, row))
        }
        (transfers)
    }
}

fn checks_table(zone: &HouseZone, checks: &[LedgerCheckReport]) -> Markup {
    table_of(
        "Checks of the ledger, newest first",
        checks,
        &[
            ("Started", &|check| zone.time(check.started_at)),
            ("Ended", &|check| match check.finished_at {
                Some(at) => zone.time(at),
                None => html! { "running or aborted" },
            }),
            ("Scope", &|check| {
                html! { @if check.everything { "full" } @else { "incremental" } }
            }),
            ("Result", &|check| {
                html! {
                    @if check.finished_at.is_some() && check.differences.is_empty() {
                        (badge("good", "no difference"))
                    }
                    @for difference in &check.differences { (badge("bad", difference)) " " }
                }
            }),
        ],
    )
}
