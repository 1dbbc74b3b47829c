//! The reasons why a request about a tournament is refused.

use bahay_engine::coins::Coins;
use bahay_engine::tournament::{Rejection, TermsError};
use bahay_shell::tournaments::{HostError, SubmissionError};

use crate::ledger::LedgerError;
use crate::lobby::LobbyError;

/// An error of a request about a tournament.
#[derive(Debug, thiserror::Error)]
pub enum TournamentError {
    #[error("there is no such tournament")]
    Unknown,
    #[error("this tournament is private: register with its code")]
    CodeRequired,
    #[error("your wallet does not cover the entry")]
    TooFewCoins,
    #[error("you have no unused pass that pays this buy-in")]
    NoPass,
    #[error("the account is deleted")]
    AccountDeleted,
    #[error(transparent)]
    Rejected(#[from] Rejection),
    #[error("{}: {}", .0.field, .0.message)]
    Terms(TermsError),
    #[error(
        "guarantees above {above} coins on one day are not announced by one operator: request the \
         tournament from another one"
    )]
    ApprovalRequired { above: Coins },
    #[error("the amounts have changed since they were shown: nothing was cancelled")]
    AmountsChanged,
    /// The journal does not replay.
    #[error("the journal of the tournament does not replay: {0}")]
    Broken(String),
    #[error("the tournament changes too fast: try again")]
    Contended,
    #[error(transparent)]
    Lobby(#[from] LobbyError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("the database query failed: {0}")]
    Database(#[from] sqlx::Error),
}

impl From<SubmissionError> for TournamentError {
    fn from(error: SubmissionError) -> Self {
        match error {
            SubmissionError::Rejected(rejection) => Self::Rejected(rejection),
            SubmissionError::Contended => Self::Contended,
            SubmissionError::Overdrawn | SubmissionError::Broken(_) => {
                Self::Broken(error.to_string())
            }
        }
    }
}

impl From<HostError> for TournamentError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Submission(error) => error.into(),
            HostError::CannotPay(_) | HostError::WrongAnswer => Self::Broken(error.to_string()),
        }
    }
}
