//! The terms of a room, as given to its tables. Before each input, a table asks its process for
//! newer terms, so a change takes effect at every table, on any node, before the next input, and no
//! list of a room's tables is needed.

use bahay_engine::table::Terms;

/// The terms that a room's tables play under, from a revision on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomTerms<R> {
    /// The revision, which grows with every change; zero for rooms that never change.
    pub revision: u32,
    pub is_open: bool,
    pub terms: Terms<R>,
}
