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
//! [`CarriedClock`] carries the house's time from one telling to the next.
//!
//! Two drivers carry out the calls: the service, on tokio, and the simulator behind the feature
//! `simulation`, in virtual time. So what the simulator tests is what the service runs.
//!
//! Everything is generic over the game. Lines and snapshots are read and written in `codec` alone.
//!
//! Deliberately absent: how a call is carried out, what a message looks like on the wire, and who
//! asks for a seat.

mod carried;
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
mod told;
mod watchers;

pub use carried::{CarriedClock, Telling};
pub use codec::write_table;
pub use context::{Context, Planted, Remark};
pub use direct::{DirectFeed, DirectWriter, Lent, Wrote};
pub use failure::{Failure, NotReadable, Unavailable};
pub use guard::guarded;
pub use halting::{
    Halt, Releasing, ReleasingAnswer, ReleasingCall, STORE_FAULT, Unreleased, Voided, Voiding,
    VoidingAnswer, VoidingCall,
};
pub use host::{
    Answer, Call, GameOpening, LedgerAnswer, LedgerCall, LedgerFault, NoShow, Reply, Request, Step,
    TableHost, ThoughtCall, Ticket, WatchRequest,
};
pub use journal::{Append, Entry, NewLine, Point, Stored, Tag, Tail};
pub use limits::Limits;
pub use lost::LostGames;
pub use notice::{Ending, Notice};
pub use notices::Notices;
pub use presence::{Burial, BurialCall, Here, NodeId, Noted, Presence, Present, is_told_gone};
pub use presenter::{Presenter, Refused};
pub use replica::{AppliedLine, Replayed, Replica, Unfollowed};
pub use session::{Ask, End, PlayerSession};
pub use terms::RoomTerms;
pub use told::{LastShown, Told, redacted};
pub use watchers::{Listing, Watch};
