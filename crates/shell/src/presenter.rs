//! What a session has to say to its client, as calls: what messages look like is the driver's.

use bahay_engine::game::Refusal;
use bahay_engine::table::{Event, Readable, Table, TableId, TableView};

use crate::failure::TableError;
use crate::journal::Point;
use crate::notice::WatchEnd;

/// Makes messages for one client, in the order of the calls.
pub trait Presenter<G: Readable> {
    /// What happened, redacted, and the table after it. The last of several shows also what the
    /// player is asked then.
    fn send_update(&mut self, at: Point, events: Vec<Event<G::Event>>, table: &Table<G>, is_last: bool);

    /// The table, as its view shows it.
    fn send_snapshot(&mut self, at: Point, view: TableView<G>, table: &Table<G>);

    /// Fault hook: called behind the guard before something of a table is shown. Only tests do
    /// something here.
    fn before_showing(&mut self, _table: &Table<G>) {}

    /// The table is gone; the connection stays, for the next one.
    fn send_closed(&mut self, table: TableId, why: WatchEnd);

    fn send_ack(&mut self, id: u32, version: Option<u64>);

    fn send_refusal(&mut self, id: u32, why: CommandRefusal<'_, G::Refusal>);
}

/// Why a command was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandRefusal<'a, I: Refusal> {
    NotJoined,
    NotSeated,
    Table(&'a TableError<I>),
}
