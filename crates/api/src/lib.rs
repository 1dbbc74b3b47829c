//! The interfaces of the house as data: the operations of every topic over REST, the bodies that
//! they take and answer with, the format of CSV files, the codes by which they refuse, and the
//! document about them.
//!
//! `socket` describes the socket of play in the same way.
//!
//! The crate performs no I/O and knows nothing of the service, so that both descriptions and the
//! types of clients are made without compiling it. The service binds a handler to each operation
//! and converts its own values into these bodies.

mod code;
pub mod csv;
mod document;
mod headers;
mod operation;
pub mod operator;
mod page;
pub mod player;
pub mod server;
pub mod socket;
mod values;

pub use code::{Code, ProblemBody};
pub use document::openapi;
pub use headers::Header;
pub use operation::{Answer, Body, Caller, Method, Operation, PathParameter, Tag};
pub use page::{Limit, NoFilter, PageOf, PageQuery};
pub use values::{
    AccountCodeText, CardText, Coins, DeviceText, DeviceTimeZoneText, IdText, IdTokenText,
    IssuerText, NameText, ReasonText, RoomText, TableCodeText, Time, TimeZoneText, TransferCode,
};

/// Returns every operation.
pub fn operations() -> impl Iterator<Item = &'static &'static Operation> {
    let topics = player::OPERATIONS.iter().chain(operator::OPERATIONS).copied();
    topics.chain([server::OPERATIONS]).flatten()
}
