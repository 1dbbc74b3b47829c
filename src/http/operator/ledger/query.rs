//! The part of the books that the API and the desk share.

use bahay_api::operator::ledger::{Account, AccountEntry};

use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem};
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
    code: &str,
    request: &PageRequest<Operator>,
) -> Result<PageOf<AccountEntry>, Problem> {
    let list = format!("account entries of {code}");
    request.read(&list, |below, limit| reports.account_entries(code, below, limit)).await
}

/// Returns a page of operations, newest first.
pub(crate) async fn list_operations(
    reports: &Reports,
    request: &PageRequest<Operator>,
) -> Result<PageOf<OperationRow>, Problem> {
    let read = |below, limit| reports.newest_operations(below, limit);
    request.read("ledger operations", read).await
}
