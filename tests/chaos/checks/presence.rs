//! The times at which a client was at its table, as its journal tells them.

use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, TableId};

/// The time for which the longest order to misbehave lasts, in ms.
pub(super) const ORDERED_MS: u64 = 45_000;

/// The time from a lost connection to the next joined one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absence {
    pub(crate) node: u64,
    pub(crate) lost_ms: u64,
    /// The time of the first attempt to reconnect; later than the loss if the client stayed away on
    /// purpose.
    pub(crate) tried_ms: u64,
    pub(crate) joined_ms: Option<u64>,
    /// The seat in a running game.
    pub(crate) seat: Option<(TableId, Seat)>,
}

/// A reported change of a seat's presence: away or back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PresenceChange {
    pub(crate) at_ms: u64,
    pub(crate) table: TableId,
    pub(crate) seat: Seat,
    pub(crate) is_away: bool,
}

/// The end of a game that the client was shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FinishedGame {
    pub(crate) game: GameId,
    pub(crate) at_ms: u64,
    /// The time since which the client was at the table and behaved: that of its last join, of the
    /// last takeover of its seat, or of the end of an order to misbehave.
    pub(crate) since_ms: u64,
}
