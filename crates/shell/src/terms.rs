//! What a room says to its tables. The process is asked before each input that a table decides on,
//! so a table hears of a change before anything else happens there, on any node, and nobody has to
//! find a room's tables.

use bahay_engine::table::Terms;

/// What a room's tables play by, from a revision on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomTerms<R> {
    /// Counts up with every change; zero for rooms that never change.
    pub revision: u32,
    pub is_open: bool,
    pub terms: Terms<R>,
}
