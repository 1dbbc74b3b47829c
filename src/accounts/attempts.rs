//! Transactions that are tried again when the database asks for it, and may be refused by us.

use std::future::Future;

use crate::db;
use crate::ledger::LedgerError;

use super::AccountError;

/// What an attempt failed with: the one may pass if it is made again, the other says so itself.
pub(super) enum Failed {
    Database(sqlx::Error),
    Refused(AccountError),
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<LedgerError> for Failed {
    fn from(error: LedgerError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<AccountError> for Failed {
    fn from(error: AccountError) -> Self {
        Self::Refused(error)
    }
}

impl From<Failed> for AccountError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Database(error) => error.into(),
            Failed::Refused(error) => error,
        }
    }
}

/// As [`db::retry`], for what we may refuse.
pub(super) async fn retry<T, F>(once: impl Fn() -> F) -> Result<T, AccountError>
where
    F: Future<Output = Result<T, Failed>>,
{
    let settled = || async {
        match once().await {
            Ok(value) => Ok(Ok(value)),
            Err(Failed::Refused(error)) => Ok(Err(error)),
            Err(Failed::Database(error)) => Err(error),
        }
    };
    db::retry(settled).await?
}
