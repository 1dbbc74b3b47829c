//! The behaviour of one process at a table, without I/O: no socket, no Redis, no clock, no
//! randomness, no threads and no blocking. Events go in, calls and replies come out.
//!
//! [`TableHost`] runs one table in one process: its [`Replica`], its watchers and the requests that
//! wait. It takes requests and the results of its calls, and returns calls to make and replies. At
//! most one call to live state is in flight per table; further requests wait in a bounded queue.
//! [`PlayerSession`] decides what one connection is shown of the table that its player has joined.
//! [`DirectFeed`] decides which updates the table may write to a connection while its session
//! sleeps. [`Presence`] records the connections of this process. [`Voiding`] and [`Releasing`]
//! perform an operator's orders step by step. [`LostGames`] detects open games whose table is gone.
//! [`SyncedClock`] advances the house's time between two readings.
//!
//! Two drivers perform the calls: the service, on tokio, and the simulator behind the feature
//! `simulation`, in virtual time. The simulator therefore tests the code that the service runs.
//!
//! Everything is generic over the game. Only `codec` encodes and decodes lines and snapshots.
//!
//! Out of scope: how a call is performed, the wire format of messages, and the assignment of seats.

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
