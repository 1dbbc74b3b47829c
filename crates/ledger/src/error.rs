//! The errors of the ledger, in order of precedence: the first that applies is reported.

use bahay_engine::coins::Coins;
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, TableId};

pub use bahay_base::states::GameState;

/// An error of an operation. No coins have moved, except possibly with
/// [`LedgerError::Unavailable`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The input is out of bounds whatever the books contain.
    #[error("{what}")]
    Invalid { what: &'static str },
    /// The database did not answer, or not in time. The operation may have been performed all the
    /// same: a retry with the same input returns its answer.
    #[error("the ledger is unavailable: {reason}")]
    Unavailable { reason: String },
    /// The key has been used with another input.
    #[error("{key} was used before with another input")]
    KeyReused { key: String },
    #[error("there is no game {game}")]
    GameUnknown { game: GameId },
    /// The game is `settled` or `voided`, or it is being opened a second time.
    #[error("game {game} is {state}, not open")]
    GameNotOpen { game: GameId, state: GameState },
    #[error("table {table} still plays game {game}")]
    TableBusy { table: TableId, game: GameId },
    /// The request names other players, another table or another room than the opening did.
    #[error("game {game} was opened with another {what}")]
    GameDiffers { game: GameId, what: &'static str },
    #[error("the POT of table {table} holds nothing")]
    PotEmpty { table: TableId },
    #[error("the settlement of game {game} cannot be booked: {fault}")]
    Settlement { game: GameId, fault: SettlementFault },
    #[error("there is no operation {operation}")]
    OperationUnknown { operation: i64 },
    #[error("operation {operation} cannot be reversed: {why}")]
    NotReversible { operation: i64, why: &'static str },
    #[error("operation {operation} has been reversed already")]
    AlreadyReversed { operation: i64 },
    /// A correction exceeds the balance.
    #[error("{account} holds {balance} and cannot pay {amount}")]
    Overdrawn { account: String, balance: Coins, amount: Coins },
    /// A bug, or inconsistent books. A retry does not help.
    #[error("the ledger is broken: {reason}")]
    Broken { reason: String },
}

impl LedgerError {
    /// Returns whether a retry of the same call may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::TableBusy { .. })
    }

    /// Returns a stable code in snake case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid",
            Self::Unavailable { .. } => "unavailable",
            Self::KeyReused { .. } => "key_reused",
            Self::GameUnknown { .. } => "game_unknown",
            Self::GameNotOpen { .. } => "game_not_open",
            Self::TableBusy { .. } => "table_busy",
            Self::GameDiffers { .. } => "game_differs",
            Self::PotEmpty { .. } => "pot_empty",
            Self::Settlement { .. } => "settlement_refused",
            Self::OperationUnknown { .. } => "operation_unknown",
            Self::NotReversible { .. } => "not_reversible",
            Self::AlreadyReversed { .. } => "already_reversed",
            Self::Overdrawn { .. } => "overdrawn",
            Self::Broken { .. } => "broken",
        }
    }

    pub(crate) fn broken(reason: impl Into<String>) -> Self {
        Self::Broken { reason: reason.into() }
    }
}

bahay_db::unavailable_or_broken!(LedgerError);

/// A fault of a settlement, by itself or against the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettlementFault {
    #[error("{seat} has no player")]
    SeatUnknown { seat: Seat },
    #[error("{seat} pays itself")]
    PaysItself { seat: Seat },
    #[error("an amount is below zero, or more is paid than is owed")]
    AmountInvalid,
    #[error("{seat} pays {paid} of a stake of {stake}")]
    StakeExceeded { seat: Seat, stake: Coins, paid: Coins },
    #[error("{seat} received {received}, and its fee is computed on {gross}")]
    GrossDiffers { seat: Seat, received: Coins, gross: Coins },
    #[error("{seat} pays a fee of {fee} on {gross}")]
    FeeExceedsGross { seat: Seat, gross: Coins, fee: Coins },
    #[error("the POT holds {pot}, and {paid} is paid out of it")]
    PotDiffers { pot: Coins, paid: Coins },
    #[error("the net results, the fees and the POT do not balance")]
    NotConserved,
    #[error("an amount does not fit 64 bits")]
    Overflow,
}
