//! The part of the books that the API and the desk share.

use bahay_api::operator::ledger::{Account, AccountEntry};

use crate::http::{Code, CodeExt as _, Cursors, PageOf, Problem};
use crate::operators::Operator;
use crate::reports::{OperationRow, Reports};

/// The longest code of an account, in bytes.
const CODE_BYTES_MAX: usize = 140;

/// Returns an existing account. A code with a zero byte is rejected, because no account has one and
/// PostgreSQL does not accept it.
pub(crate) async fn find_account(reports: &Reports, code: &str) -> Result<Account, Problem> {
    let missing = || Code::AccountNotFound.problem();
    if code.len() > CODE_BYTES_MAX || code.contains('\0') {
        return Err(missing());
    }
    reports.account(code).await?.ok_or_else(missing)
}

/// Returns an existing operation.
pub(crate) async fn find_operation(reports: &Reports, id: i64) -> Result<OperationRow, Problem> {
    reports.operation(id).await?.ok_or_else(|| Code::OperationNotFound.problem())
}

/// Returns a page of an account's entries, newest first.
pub(crate) async fn list_entries(
    reports: &Reports,
    cursors: &Cursors,
    operator: &Operator,
    code: &str,
    cursor: Option<&str>,
    items: u32,
) -> Result<PageOf<AccountEntry>, Problem> {
    let list = format!("account entries of {code}");
    let below = cursors.position(&list, operator, cursor)?;
    Ok(cursors.page(&list, operator, reports.account_entries(code, below, items).await?))
}

/// Returns a page of operations, newest first.
pub(crate) async fn list_operations(
    reports: &Reports,
    cursors: &Cursors,
    operator: &Operator,
    cursor: Option<&str>,
    items: u32,
) -> Result<PageOf<OperationRow>, Problem> {
    const LIST: &str = "ledger operations";
    let below = cursors.position(LIST, operator, cursor)?;
    Ok(cursors.page(LIST, operator, reports.newest_operations(below, items).await?))
}
