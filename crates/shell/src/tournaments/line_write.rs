//! The changes that are written in the transaction of a line.

use bahay_engine::table::{GameId, PlayerId};
use bahay_engine::tournament::{Input, Payment, Transfer, TransferKey};

/// A change that belongs to the line of an input: both are stored, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineWrite {
    None,
    /// The ledger books the transfer that the line notes.
    Booking(Transfer),
    /// The stored game that the line scores is marked as scored.
    Game(GameId),
    /// The pass of the registration is held.
    PassHold,
    /// The pass whose entry the line returns is free again. `number` counts the player's entries.
    PassReturn {
        player: PlayerId,
        number: u32,
    },
}

impl LineWrite {
    /// Returns the change that belongs to a request of a player or the house.
    pub const fn from_request(input: &Input) -> Self {
        match input {
            Input::Register { pass: true, .. } => Self::PassHold,
            _ => Self::None,
        }
    }

    /// Returns the change that belongs to the line that notes a transfer. The registration has held
    /// the pass of an entry.
    pub(super) const fn from_transfer(transfer: Transfer) -> Self {
        match (transfer.payment, transfer.key) {
            (Payment::Pass, TransferKey::Return { player, number }) => {
                Self::PassReturn { player, number }
            }
            (Payment::Pass, _) => Self::None,
            (Payment::Free | Payment::Coins, _) => Self::Booking(transfer),
        }
    }
}
