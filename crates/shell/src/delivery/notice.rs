//! Notices to the watchers of a table, and the reasons for the end of a watch.

use std::sync::Arc;

use bahay_engine::table::{Event, Readable, Table};

use crate::history::delivery_cursor::LastVisible;
use crate::history::journal::Point;

/// A change of a table, as sent to its watchers.
#[derive(Clone, Debug)]
pub struct Notice<G: Readable> {
    /// The point of the table's history after the change.
    pub at: Point,
    /// The unredacted events; each watcher redacts them for its viewer. Empty if the replica was
    /// reloaded: then only `table` has the state.
    pub events: Arc<[Event<G::Event>]>,
    /// The last visible line of each viewer.
    pub last_visible: LastVisible,
    /// The table after the change.
    pub table: Arc<Table<G>>,
    /// Lines between the last notice and this one are missing: the watcher must show a snapshot.
    pub is_snapshot: bool,
    /// The delivered history is no longer part of the table's history.
    pub is_diverged: bool,
}

/// The reason for the end of a watch, other than a slow watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// The table was voided.
    Voided,
    /// The table no longer exists, and no end was published.
    Lost,
    /// This node was declared dead, and the table was informed that its players are away.
    NodeGone,
}
