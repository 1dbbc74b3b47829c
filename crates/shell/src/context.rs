//! The services that a process provides to the shell: time, randomness, the terms of rooms and a
//! sink for events. None of them blocks.

use bahay_engine::table::{GameEntropy, Readable, Table, TableId, Terms, Timestamp};

use crate::halting::Halt;
use crate::history::journal::{Point, Tag};
use crate::limits::Limits;
use crate::mutation::Mutation;
use crate::terms::RoomTerms;

/// An event for logs and metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostEvent<'a> {
    /// A player's action was stored.
    ActionStored,
    /// The replica could not follow a line and is discarded.
    ReplicaDiscarded(&'a str),
    /// The table's history is not the one that was delivered.
    HistoryDiverged { delivered: Point, now: Point },
    /// The journal is for another version of the engine.
    OtherVersion(u32),
    /// This process has halted the table.
    Halted { room: Option<&'a str>, version: Option<u64>, reason: &'a str },
    /// A watcher was too slow and is dropped.
    SlowWatcher,
    /// A follow-up call failed: which one, and why.
    FollowUpFailed(&'static str, &'a str),
    /// A ledger operation is retried later.
    LedgerRetried(&'a str),
    /// A snapshot replaced a journal.
    Compacted,
    /// A viewer resumed from the lines that the replica remembers.
    ResumedFromMemory,
}

/// The services that the shell needs from its process.
pub trait Context<G: Readable> {
    /// Returns the house's time for the table.
    fn now(&self) -> Timestamp;

    /// Returns true if the time is known. Without it, nothing is decided.
    fn knows_time(&self) -> bool;

    /// Returns the ms that this process has counted, independently of the house's time. Used for
    /// timeouts of queued requests.
    fn elapsed_ms(&self) -> u64;

    /// Returns an unguessable seed and a new id for a game.
    fn fresh(&self) -> GameEntropy;

    /// Returns a fresh random tag for a line.
    fn new_tag(&self) -> Tag;

    /// Returns the terms of a table's room, if they are newer than the revision that the table
    /// knows.
    fn room_terms(&self, terms: &Terms<G::Rules>, known: u32) -> Option<RoomTerms<G::Rules>>;

    fn limits(&self) -> &Limits {
        &Limits::SERVICE
    }

    fn record(&self, table: TableId, event: HostEvent<'_>);

    /// Reports that a table could not be shown. The process halts it concurrently; if live state is
    /// unavailable, the next attempt to show the table halts it.
    fn report_show_failure(&self, halt: Halt);

    /// Fault hook: called inside the panic guard before a table decides. Only tests implement it.
    fn before_engine(&self, _table: &Table<G>) {}

    /// Fault hook: returns true if this mutation is planted. Only the simulator implements it.
    fn has_mutation(&self, _mutation: Mutation) -> bool {
        false
    }
}
