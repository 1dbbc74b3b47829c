//! The behaviour of one process at a table and over a tournament, and the decisions of the lobby,
//! without I/O: no socket, no Redis, no clock, no randomness, no threads and no blocking. Events go
//! in, calls and replies come out.
//!
//! [`TableHost`] runs one table in one process: its [`Replica`], its watchers and the requests that
//! wait. It takes requests and the results of its calls, and returns calls to make and replies. At
//! most one call to live state is in flight per table; further requests wait in a bounded queue.
//! [`PlayerSession`] decides what one connection is shown of the table that its player has joined.
//! [`DirectFeed`] decides which updates the table may write to a connection while its session
//! sleeps. [`Presence`] records the connections of this process. [`Voiding`] and [`Releasing`]
//! perform an operator's orders step by step. [`LostGames`] detects open games whose table is gone.
//! [`SyncedClock`] advances the house's time between two readings. [`lobby`] decides how players get
//! seats, and [`tournaments`] what a process does with a tournament.
//!
//! Two drivers perform the calls: the service, on tokio, and the simulator behind the feature
//! `simulation`, in virtual time. The simulator therefore tests the code that the service runs.
//!
//! Everything is generic over the game. Only `history::codec` encodes and decodes lines and
//! snapshots.
//!
//! Out of scope: the performance of calls, and the wire format of messages beside [`OpenPrompt`].

mod context;
mod delivery;
mod failure;
mod guard;
mod halting;
mod history;
mod host;
mod limits;
pub mod lobby;
mod lost;
mod mutation;
mod presence;
#[cfg(feature = "simulation")]
pub mod simulation;
mod synced_clock;
mod terms;
pub mod tournaments;

pub use context::{Context, HostEvent};
pub use delivery::direct::{DirectFeed, DirectLease, DirectWriter, WriteOutcome};
pub use delivery::notice::{Notice, WatchEnd};
pub use delivery::notices::NoticeReceiver;
pub use delivery::presenter::{CommandRefusal, Presenter};
pub use delivery::prompt::OpenPrompt;
pub use delivery::session::{PlayerSession, SessionCall, SessionEnd};
pub use delivery::watchers::{Listing, Watch};
pub use failure::{CodecError, TableError, UnavailableError};
pub use guard::catch_panic;
pub use halting::{
    Halt, HaltCause, ReleaseError, Releasing, ReleasingAnswer, ReleasingCall, STORE_FAULT,
    VoidOutcome, Voiding, VoidingAnswer, VoidingCall,
};
pub use history::codec::write_table;
pub use history::delivery_cursor::{DeliveryCursor, LastVisible, redact_events};
pub use history::journal::{AppendOutcome, JournalEntry, NewLine, Point, StoredTable, Tag, Tail};
pub use history::replica::{AppliedLine, ReplayError, ReplayedTable, Replica};
pub use host::{
    AiRequest, Call, CallResult, GameOpening, LedgerAnswer, LedgerCall, LedgerFault, NoShow, Reply,
    Request, RequestTicket, Step, TableHost, WatchRequest,
};
pub use limits::Limits;
pub use lost::LostGames;
pub use mutation::Mutation;
pub use presence::{
    ConnectionRecord, DeadNodeReaper, NodeId, PlayerConnection, Presence, ReaperCall,
    is_departure_known,
};
pub use synced_clock::{SyncOutcome, SyncedClock};
pub use terms::RoomTerms;
