//! The books: trial balance, accounts with their entries, operations with their transfers.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::operators::Operator;
use crate::reports::{
    AccountEntry, AccountRow, Balance, CheckRow, OperationRow, Reports, Reversibility, TransferRow,
};

use crate::http::core::pagination::PageQuery;
use crate::http::{
    Code, CodeExt as _, Coins, Cursors, PageOf, Path, Problem, ProblemBody, Query, Time,
    TransferCode, database_problem,
};

/// The number of ledger checks in the response.
const CHECKS: u32 = 48;

/// The longest code of an account, in bytes.
const CODE_BYTES_MAX: usize = 140;

/// An overview of the ledger.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Books)]
pub(crate) struct BooksBody {
    /// The sum of the accounts of each kind. All sums together are zero.
    balances: Vec<BalanceBody>,
    /// True if the balances sum to zero and each kind's balance equals its transfers.
    adds_up: bool,
    /// The accounts of the house, whose balances lag behind by the entries that are not projected
    /// yet.
    house: Vec<AccountBody>,
    /// The newest checks of the ledger.
    checks: Vec<CheckBody>,
}

/// The sum of all accounts of a kind.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Balance)]
pub(crate) struct BalanceBody {
    #[schema(example = "wallet")]
    kind: String,
    /// The sum of the accounts' balances.
    amount: Coins,
    /// The sum of all transfers to and from accounts of the kind.
    transferred: Coins,
}

/// An account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Account)]
pub(crate) struct AccountBody {
    #[schema(example = "fee:newbie")]
    code: String,
    #[schema(example = "fee")]
    kind: String,
    /// The owner of a wallet; null for other accounts.
    #[schema(required = true)]
    player: Option<Uuid>,
    balance: Coins,
    /// The number of the account's newest entry.
    version: i64,
}

/// A check of the ledger.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LedgerCheckReport)]
pub(crate) struct CheckBody {
    started_at: Time,
    /// Null while the check runs, or if it was aborted.
    #[schema(required = true)]
    finished_at: Option<Time>,
    /// True if every game was replayed, false if only those since the previous check.
    everything: bool,
    /// Descriptions of the discrepancies that were found.
    differences: Vec<String>,
}

/// An entry of an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AccountEntry)]
pub(crate) struct AccountEntryBody {
    /// The number of the entry. An account's entries are numbered from 1 without gaps.
    version: i64,
    operation: i64,
    code: TransferCode,
    /// The account on the other side of the transfer.
    #[schema(example = "pot:01a1fbd0-0ce4-7db1-a60c-e61905d75645")]
    other: String,
    amount: Coins,
    balance_before: Coins,
    balance_after: Coins,
    #[schema(required = true)]
    game: Option<Uuid>,
    booked_at: Time,
}

/// An operation of the ledger, posted once under its idempotency key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Operation)]
pub(crate) struct OperationBody {
    id: i64,
    #[schema(example = "settle:01a1fbfb-8f85-7daf-8dac-abb42ac4a107")]
    key: String,
    #[schema(example = "settle")]
    kind: String,
    #[schema(required = true)]
    game: Option<Uuid>,
    booked_at: Time,
    /// The response that the caller received.
    #[schema(value_type = Object)]
    answer: Value,
    transfers: Vec<TransferBody>,
    /// True if a reversal of the operation can be requested.
    is_reversible: bool,
    /// The operation that reversed this one; null without one.
    #[schema(required = true)]
    reversed_by: Option<i64>,
}

/// Coins moved from one account to another.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Transfer)]
pub(crate) struct TransferBody {
    /// From 1.
    number: i16,
    code: TransferCode,
    #[schema(example = "wallet:019ca944-3c00-7000-8000-00000091a7e0")]
    source: String,
    #[schema(example = "fee:newbie")]
    destination: String,
    amount: Coins,
}

impl From<Balance> for BalanceBody {
    fn from(balance: Balance) -> Self {
        let Balance { kind, amount, transferred } = balance;
        Self { kind, amount: amount.into(), transferred: transferred.into() }
    }
}

impl From<AccountRow> for AccountBody {
    fn from(row: AccountRow) -> Self {
        let AccountRow { code, kind, player, balance, version } = row;
        let player = player.map(|player| player.0);
        Self { code, kind, player, balance: balance.into(), version }
    }
}

impl From<CheckRow> for CheckBody {
    fn from(row: CheckRow) -> Self {
        Self {
            started_at: row.started_at.into(),
            finished_at: row.finished_at.map(Time::from),
            everything: row.everything,
            differences: row.differences,
        }
    }
}

impl From<AccountEntry> for AccountEntryBody {
    fn from(entry: AccountEntry) -> Self {
        Self {
            version: entry.version,
            operation: entry.operation,
            code: entry.code.into(),
            other: entry.other,
            amount: entry.amount.into(),
            balance_before: entry.balance_before.into(),
            balance_after: entry.balance_after.into(),
            game: entry.game.map(|game| game.0),
            booked_at: entry.booked_at.into(),
        }
    }
}

impl From<OperationRow> for OperationBody {
    fn from(row: OperationRow) -> Self {
        Self {
            id: row.id,
            key: row.key,
            kind: row.kind,
            game: row.game.map(|game| game.0),
            booked_at: row.booked_at.into(),
            answer: row.answer,
            transfers: row.transfers.into_iter().map(TransferBody::from).collect(),
            is_reversible: row.reversibility == Reversibility::Possible,
            reversed_by: match row.reversibility {
                Reversibility::Reversed { by } => Some(by),
                Reversibility::Possible
                | Reversibility::Requested { .. }
                | Reversibility::PaidPot
                | Reversibility::Impossible => None,
            },
        }
    }
}

impl From<TransferRow> for TransferBody {
    fn from(row: TransferRow) -> Self {
        let TransferRow { number, code, source, destination, amount } = row;
        Self { number, code: code.into(), source, destination, amount: amount.into() }
    }
}

/// Show the ledger
///
/// The trial balance, the accounts of the house, and the newest checks. For operators of every
/// role.
#[utoipa::path(
    get,
    path = "/v1/operator/ledger",
    tag = "operators",
    security(("operator_token" = [])),
    responses((status = 200, description = "The ledger", body = BooksBody))
)]
pub(crate) async fn show_books(
    State(reports): State<Reports>,
    _: Operator,
) -> Result<Json<BooksBody>, Problem> {
    let balances = reports.trial_balance().await.map_err(database_problem)?;
    let house = reports.house_accounts().await.map_err(database_problem)?;
    let checks = reports.checks(CHECKS).await.map_err(database_problem)?;
    Ok(Json(BooksBody {
        adds_up: Balance::add_up(&balances),
        balances: balances.into_iter().map(BalanceBody::from).collect(),
        house: house.into_iter().map(AccountBody::from).collect(),
        checks: checks.into_iter().map(CheckBody::from).collect(),
    }))
}

/// Show an account
///
/// For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/ledger/accounts/{code}",
    tag = "operators",
    security(("operator_token" = [])),
    params(("code" = String, Path, max_length = 140, description = "The account's code", example = "fee:newbie")),
    responses(
        (status = 200, description = "The account", body = AccountBody),
        (status = 404, description = "`account_not_found`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn show_account(
    State(reports): State<Reports>,
    _: Operator,
    Path(code): Path<String>,
) -> Result<Json<AccountBody>, Problem> {
    Ok(Json(find_account(&reports, &code).await?.into()))
}

/// Returns an existing account. A code with a zero byte is rejected, because no account has one and
/// PostgreSQL does not accept it.
pub(crate) async fn find_account(reports: &Reports, code: &str) -> Result<AccountRow, Problem> {
    let missing = || Code::AccountNotFound.problem();
    if code.len() > CODE_BYTES_MAX || code.contains('\0') {
        return Err(missing());
    }
    reports.account(code).await.map_err(database_problem)?.ok_or_else(missing)
}

/// List an account's entries
///
/// Newest first, without the entries of closed months. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/ledger/accounts/{code}/entries",
    tag = "operators",
    security(("operator_token" = [])),
    params(
        ("code" = String, Path, max_length = 140, description = "The account's code", example = "fee:newbie"),
        PageQuery
    ),
    responses(
        (status = 200, description = "A page of entries", body = PageOf<AccountEntryBody>),
        (status = 404, description = "`account_not_found`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn list_account_entries(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    operator: Operator,
    Path(code): Path<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<PageOf<AccountEntryBody>>, Problem> {
    let account = find_account(&reports, &code).await?;
    let list = format!("entries of {}", account.code);
    let cursor = cursors.open(&list, &operator, query.cursor.as_deref())?;
    let page = reports.account_entries(&account.code, cursor, query.limit.items()).await;
    let page = page.map_err(database_problem)?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(AccountEntryBody::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(&list, &operator, &next)),
    }))
}

/// List operations
///
/// With their transfers, newest first. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/ledger/operations",
    tag = "operators",
    security(("operator_token" = [])),
    params(PageQuery),
    responses((status = 200, description = "A page of operations", body = PageOf<OperationBody>))
)]
pub(crate) async fn list_operations(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    operator: Operator,
    Query(query): Query<PageQuery>,
) -> Result<Json<PageOf<OperationBody>>, Problem> {
    const LIST: &str = "operations";
    let cursor = cursors.open(LIST, &operator, query.cursor.as_deref())?;
    let page =
        reports.newest_operations(cursor, query.limit.items()).await.map_err(database_problem)?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(OperationBody::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(LIST, &operator, &next)),
    }))
}

/// Show an operation
///
/// With its transfers. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/ledger/operations/{operation}",
    tag = "operators",
    security(("operator_token" = [])),
    params((
        "operation" = i64, Path, minimum = 1,
        description = "The operation's id in the ledger",
    )),
    responses(
        (status = 200, description = "The operation", body = OperationBody),
        (status = 404, description = "`operation_not_found`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn show_operation(
    State(reports): State<Reports>,
    _: Operator,
    Path(id): Path<i64>,
) -> Result<Json<OperationBody>, Problem> {
    let operation = reports.operation(id).await.map_err(database_problem)?;
    Ok(Json(operation.ok_or_else(|| Code::OperationNotFound.problem())?.into()))
}
