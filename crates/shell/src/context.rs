//! What a process lends to the shell while it handles something: the time, randomness, what rooms
//! say, and an ear for remarks. Nothing of it waits.

use bahay_engine::table::{GameEntropy, Readable, Table, TableId, Terms, Timestamp};

use crate::halting::Halt;
use crate::journal::{Point, Tag};
use crate::limits::Limits;
use crate::terms::RoomTerms;

/// What is worth a line in a log or a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostEvent<'a> {
    /// A move of a player is stored.
    ActionStored,
    /// The replica could not follow a line and is read again.
    ReplicaDiscarded(&'a str),
    /// The history of the table is not the one that was told.
    HistoryDiverged { delivered: Point, now: Point },
    /// The journal is for another version of the engine.
    OtherVersion(u32),
    /// This process has halted the table.
    Halted { room: Option<&'a str>, version: Option<u64>, reason: &'a str },
    /// A watcher does not keep up and is dropped.
    SlowWatcher,
    /// Something of minor weight was not done: what, and why.
    FollowUpFailed(&'static str, &'a str),
    /// What the ledger was asked for is asked for again later.
    LedgerRetried(&'a str),
    /// A journal was replaced by a snapshot.
    Compacted,
    /// A viewer resumed by what the replica had kept.
    ResumedFromMemory,
}

/// Faults that the simulator plants, to show that its checks find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlantedFault {
    /// What happened is sent as it is.
    ForgetsToRedact,
    /// A client is fed another seat's view.
    ShowsAnothersView,
    /// What comes after a gap is shown as if there were none.
    OverlooksGaps,
    /// What shows a client nothing is told to it as well.
    TellsOfHiddenLines,
    /// A second join on a connection is answered with what is already on its way there.
    RepeatsWhatWasSent,
    /// A second join on a connection takes the place of what was published while it was read.
    ReadsOverPublications,
    /// A connection whose join was refused goes on being told of the table.
    WatchesAfterARefusedJoin,
    /// A table is not told what its room says.
    KeepsOldTerms,
    /// The direct writer goes on while the session is at something.
    WritesWhileBusy,
    /// Who resumes from the replica's memory misses a line.
    ResumesTooLate,
    /// A table is voided without being halted before.
    VoidsWithoutHalting,
}

/// What the shell asks of its process.
pub trait Context<G: Readable> {
    /// The time that the table lives by.
    fn now(&self) -> Timestamp;

    /// Nothing is decided before this is so.
    fn knows_time(&self) -> bool;

    /// Milliseconds that this process has counted, whatever becomes of the table's time: for how
    /// long something has waited here.
    fn elapsed_ms(&self) -> u64;

    /// An unguessable seed and a new id, for a new game.
    fn fresh(&self) -> GameEntropy;

    /// Drawn anew for each line.
    fn new_tag(&self) -> Tag;

    /// What the room of a table says, if that is newer than the revision that the table knows.
    fn room_terms(&self, terms: &Terms<G::Rules>, known: u32) -> Option<RoomTerms<G::Rules>>;

    fn limits(&self) -> &Limits {
        &Limits::SERVICE
    }

    fn record(&self, table: TableId, event: HostEvent<'_>);

    /// Something of a table could not be shown. It is to be halted, beside whoever waits for this;
    /// where live state is away, the next attempt to show it does.
    fn report_show_failure(&self, halt: Halt);

    /// Fault hook: called behind the guard before a table decides. Only tests do something here.
    fn before_engine(&self, _table: &Table<G>) {}

    /// Fault hook: whether something is wrong on purpose. Only the simulator says yes.
    fn has_fault(&self, _fault: PlantedFault) -> bool {
        false
    }
}
