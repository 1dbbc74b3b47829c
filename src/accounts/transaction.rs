//! Transactions that are tried again when the database asks for it, and may be refused by us.

use std::future::Future;

use crate::db;
use crate::ledger::LedgerError;

use super::AccountError;

/// What an attempt failed with: the one may pass if it is made again, the other says so itself.
pub(super) enum TransactionError {
    Database(sqlx::Error),
    Refused(AccountError),
}

impl From<sqlx::Error> for TransactionError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<LedgerError> for TransactionError {
    fn from(error: LedgerError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<AccountError> for TransactionError {
    fn from(error: AccountError) -> Self {
        Self::Refused(error)
    }
}

impl From<TransactionError> for AccountError {
    fn from(error: TransactionError) -> Self {
        match error {
            TransactionError::Database(error) => error.into(),
            TransactionError::Refused(error) => error,
        }
    }
}

/// As [`db::retry`], for what we may refuse.
pub(super) async fn retry<T, F>(once: impl Fn() -> F) -> Result<T, AccountError>
where
    F: Future<Output = Result<T, TransactionError>>,
{
    let settled = || async {
        match once().await {
            Ok(value) => Ok(Ok(value)),
            Err(TransactionError::Refused(error)) => Ok(Err(error)),
            Err(TransactionError::Database(error)) => Err(error),
        }
    };
    db::retry(settled).await?
}
