//! Retried transactions that may also be refused by this service.

use std::future::Future;

use crate::db;
use crate::ledger::LedgerError;

use super::AccountError;

/// The failure of a transaction. [`crate::db::retry`] decides on a retry of a database error; a
/// refusal is final.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransactionError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    Refused(#[from] AccountError),
}

impl From<LedgerError> for TransactionError {
    fn from(error: LedgerError) -> Self {
        Self::Refused(error.into())
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

/// Retries a transaction like [`db::retry`] and passes refusals through.
///
/// # Errors
/// The refusal, or the database error of the last attempt.
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

/// Runs a sign-in once more if a concurrent request has created or reassigned its credential
/// (`None`).
///
/// # Errors
/// The error of the sign-in; [`AccountError::Unavailable`] if that happens twice.
pub(super) async fn repeat_sign_in<T, F>(
    credential: &str,
    sign_in: impl Fn() -> F,
) -> Result<T, TransactionError>
where
    F: Future<Output = Result<Option<T>, TransactionError>>,
{
    for _ in 0..2 {
        if let Some(signed_in) = sign_in().await? {
            return Ok(signed_in);
        }
    }
    let reason = format!("{credential} was reassigned twice concurrently");
    Err(AccountError::Unavailable { reason }.into())
}
