//! The operators' API of the books.

use axum::Json;
use axum::extract::State;
use bahay_api::operator::ledger::{Account, AccountEntry, Books, Operation};

use super::query;
use crate::http::{PageOf, PageRequest, Path, Problem};
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
    request: PageRequest<Operator>,
    Path(code): Path<String>,
) -> Result<Json<PageOf<AccountEntry>>, Problem> {
    let Account { code, .. } = query::find_account(&reports, &code).await?;
    Ok(Json(query::list_entries(&reports, &code, &request).await?))
}

pub(crate) async fn list_operations(
    State(reports): State<Reports>,
    request: PageRequest<Operator>,
) -> Result<Json<PageOf<Operation>>, Problem> {
    Ok(Json(query::list_operations(&reports, &request).await?.map(|row| row.operation)))
}

pub(crate) async fn show_operation(
    State(reports): State<Reports>,
    _: Operator,
    Path(id): Path<i64>,
) -> Result<Json<Operation>, Problem> {
    Ok(Json(query::find_operation(&reports, id).await?.operation))
}
