//! Errors of requests to a table.

use bahay_engine::game::Refusal;
use bahay_engine::table::Rejection;

/// Live state did not respond, or a queue was full. The effect of the call is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("live state is unavailable: {0}")]
pub struct UnavailableError(pub String);

/// The reason why an input was not stored, or a table not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError<I: Refusal> {
    /// The table rejected the input; nothing has changed.
    #[error("{0}")]
    Rejected(Rejection<I>),
    /// The table does not exist.
    #[error("there is no such table")]
    Missing,
    /// The table is halted until an operator or the house releases or voids it.
    #[error("this table is halted until an operator releases it")]
    Halted,
    /// The table belongs to nodes of another version of the engine.
    #[error("another node plays this table: try again")]
    OtherVersion,
    /// Live state did not respond; the input may or may not be stored.
    #[error(transparent)]
    Unavailable(#[from] UnavailableError),
}

/// A text that cannot be decoded as a line or a snapshot, or a value that cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(pub String);
