//! What watchers of a table are told, and why a watch ends.

use std::sync::Arc;

use bahay_engine::table::{Event, Readable, Table};

use crate::journal::Point;
use crate::delivery_cursor::LastVisible;

/// What a watcher is told.
#[derive(Clone, Debug)]
pub struct Notice<G: Readable> {
    /// The point of the table's history after this.
    pub at: Point,
    /// Complete: the watcher redacts them for its viewer. Empty when the replica had to be read
    /// anew: then only `table` tells the state.
    pub events: Arc<[Event<G::Event>]>,
    /// Which lines showed something last.
    pub last_visible: LastVisible,
    /// The table after this.
    pub table: Arc<Table<G>>,
    /// Something between the last notice and this one is not told: show the whole table.
    pub is_snapshot: bool,
    /// The history that was told until now is not that of the table any more.
    pub is_diverged: bool,
}

/// Why a watch ends, when not for the watcher's own fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// The table was voided.
    Voided,
    /// The table is gone, and nobody said so.
    Lost,
    /// This node was taken for dead, so the table has been told that its players are away.
    NodeGone,
}
