//! The operators' API of the books.

use axum::Json;
use axum::extract::State;
use bahay_api::operator::ledger::{Account, AccountEntry, Books, Operation};

use super::query;
use crate::http::{Cursors, PageOf, PageQuery, Path, Problem, Query};
use crate::operators::Operator;
use crate::reports::{Reports, add_up};

/// The number of ledger checks in the response.
const CHECKS: u32 = 48;

pub(crate) async fn show_books(
    State(reports): State<Reports>,
    _: Operator,
) -> Result<Json<Books>, Problem> {
    let balances = reports.trial_balance().await?;
    Ok(Json(Books {
        adds_up: add_up(&balances),
        balances,
        house: reports.house_accounts().await?,
        checks: reports.checks(CHECKS).await?,
    }))
}

pub(crate) async fn show_account(
    State(reports): State<Reports>,
    _: Operator,
    Path(code): Path<String>,
) -> Result<Json<Account>, Problem> {
    Ok(Json(query::find_account(&reports, &code).await?))
}

pub(crate) async fn list_account_entries(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    operator: Operator,
    Path(code): Path<String>,
    Query(PageQuery { cursor, limit, .. }): Query<PageQuery>,
) -> Result<Json<PageOf<AccountEntry>>, Problem> {
    let Account { code, .. } = query::find_account(&reports, &code).await?;
    let cursor = cursor.as_deref();
    let items = limit.items();
    Ok(Json(query::list_entries(&reports, &cursors, &operator, &code, cursor, items).await?))
}

pub(crate) async fn list_operations(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    operator: Operator,
    Query(query): Query<PageQuery>,
) -> Result<Json<PageOf<Operation>>, Problem> {
    let cursor = query.cursor.as_deref();
    let items = query.limit.items();
    let page = query::list_operations(&reports, &cursors, &operator, cursor, items).await?;
    Ok(Json(page.map(|row| row.operation)))
}

pub(crate) async fn show_operation(
    State(reports): State<Reports>,
    _: Operator,
    Path(id): Path<i64>,
) -> Result<Json<Operation>, Problem> {
    Ok(Json(query::find_operation(&reports, id).await?.operation))
}
