//! Ledger events: the sealed operations as one stream of numbered events, for accounting in other
//! systems.
//!
//! The order of the stream is that of the ledger's seals, which contain every operation once and
//! never change. So an event's number follows from the books alone. There is no queue that could
//! overflow or lose an event, repeated reads return the same bytes, and a reader's position is a
//! single number. Delivery is eventual: an event appears when its operation is sealed, moments
//! after the booking.

mod command;
mod folder;
mod nats;
mod read;

pub use command::{EventsError, EventsOptions, export};
