//! What was booked and played, as one stream of numbered events for whoever keeps books elsewhere.
//!
//! Its order is that of the seals of the ledger, which name every operation once and never change. So an
//! event's number follows from what is booked and from nothing else: there is no queue that could be full
//! or lose something, whoever reads twice reads the same bytes twice, and where a reader has to go on is
//! said by one number. An event is there some moments after it was booked, when it is sealed.

pub mod command;
mod folder;
mod nats;
mod read;

pub use folder::{EventFolder, EventFolderError};
pub use nats::{NatsOptions, NatsError};
pub use read::{EventTransfer, Event, LedgerEventReader, EventGame};
