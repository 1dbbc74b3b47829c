//! Why something that was asked of a table was not done.

use bahay_engine::game::Refusal;
use bahay_engine::table::Rejection;

/// Live state did not answer, or too many wait; whether the call took effect is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("live state is unavailable: {0}")]
pub struct UnavailableError(pub String);

/// Why an input was not taken, or a table could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError<I: Refusal> {
    /// The table refused it; nothing has changed.
    #[error("{0}")]
    Rejected(Rejection<I>),
    /// There is no such table.
    #[error("there is no such table")]
    Missing,
    /// The table is halted: an operator releases or voids it.
    #[error("this table was halted")]
    Halted,
    /// The table is played by nodes of another version of the engine.
    #[error("this table is for another version of the engine")]
    OtherVersion,
    /// Live state did not answer; the input may have been taken or not.
    #[error(transparent)]
    Unavailable(#[from] UnavailableError),
}

/// A text that is no line and no snapshot of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(pub String);
