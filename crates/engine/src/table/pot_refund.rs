//! The refunds of the POT of a private table as values; `refund_pot` decides on them.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::table::id::{GameId, PlayerId};
use crate::table::time::Timestamp;

/// A refund that the ledger has to make out of the POT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PotRefund {
    /// The last game that was opened at the table.
    pub game: GameId,
    /// The player who receives its part; `None` for a refund to every payer.
    pub player: Option<PlayerId>,
    pub since: Timestamp,
}

/// The amount of a refund that one player receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PotShare"))]
pub struct Share {
    pub player: PlayerId,
    pub amount: Coins,
}

/// The state of a table's refunds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PotRefunds {
    /// The last game that was opened; everything in the POT was paid up to it.
    pub(super) last_game: Option<GameId>,
    /// The players who have received their part since then and have none left in the POT.
    pub(super) taken_by: Vec<PlayerId>,
    /// The refunds that are due, in order.
    pub(super) due: Vec<PotRefund>,
    /// The time since which the table is empty; meaningless while it is occupied.
    pub(super) empty_since: Timestamp,
    /// True if the table has ended and nobody may sit down any more.
    pub(super) has_ended: bool,
}
