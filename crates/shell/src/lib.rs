//! What a process does at a table, without I/O: no socket, no Redis, no clock, no randomness, no
//! threads and no waiting. It is told what came and gives what is to be done next.
//!
//! [`TableHost`] is one table in one process: the [`Replica`] of it, those who watch it, and the
//! requests that wait. It is given requests and the answers to its calls, and gives calls to make
//! and replies. At most one call to live state is in flight for a table; what comes meanwhile waits
//! in a bounded queue. [`PlayerSession`] is what one connection is shown of the table that its
//! player has joined, and [`DirectFeed`] decides what of that may be written at once, while the
//! session sleeps. [`Presence`] knows who is connected here, [`Voiding`] and [`Releasing`] are an
//! operator's orders step by step, [`LostGames`] tells which open games have lost their table.
//! [`SyncedClock`] carries the house's time from one telling to the next.
//!
//! Two drivers carry out the calls: the service, on tokio, and the simulator behind the feature
//! `simulation`, in virtual time. So what the simulator tests is what the service runs.
//!
//! Everything is generic over the game. Lines and snapshots are read and written in `codec` alone.
//!
//! Deliberately absent: how a call is carried out, what a message looks like on the wire, and who
//! asks for a seat.

mod synced_clock;
mod codec;
mod context;
mod direct;
mod failure;
mod guard;
mod halting;
mod host;
mod journal;
mod limits;
mod lost;
mod notice;
mod notices;
mod presence;
mod presenter;
mod replica;
mod session;
#[cfg(feature = "simulation")]
pub mod simulation;
mod terms;
mod delivery_cursor;
mod watchers;

pub use synced_clock::{SyncedClock, SyncOutcome};
pub use codec::write_table;
pub use context::{Context, PlantedFault, HostEvent};
pub use direct::{DirectFeed, DirectWriter, DirectLease, WriteOutcome};
pub use failure::{TableError, CodecError, UnavailableError};
pub use guard::catch_panic;
pub use halting::{
    Halt, Releasing, ReleasingAnswer, ReleasingCall, STORE_FAULT, ReleaseError, VoidOutcome, Voiding,
    VoidingAnswer, VoidingCall,
};
pub use host::{
    CallResult, Call, GameOpening, LedgerAnswer, LedgerCall, LedgerFault, NoShow, Reply, Request, Step,
    TableHost, AiRequest, RequestTicket, WatchRequest,
};
pub use journal::{AppendOutcome, JournalEntry, NewLine, Point, StoredTable, Tag, Tail};
pub use limits::Limits;
pub use lost::LostGames;
pub use notice::{WatchEnd, Notice};
pub use notices::NoticeReceiver;
pub use presence::{DeadNodeReaper, ReaperCall, LocalConnection, NodeId, ConnectionRecord, Presence, PlayerConnection, is_departure_known};
pub use presenter::{Presenter, CommandRefusal};
pub use replica::{AppliedLine, ReplayedTable, Replica, ReplayError};
pub use session::{SessionCall, SessionEnd, PlayerSession};
pub use terms::RoomTerms;
pub use delivery_cursor::{LastVisible, DeliveryCursor, redact_events};
pub use watchers::{Listing, Watch};
