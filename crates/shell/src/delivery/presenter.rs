//! The interface by which a session sends messages to its client. The driver decides their form.

use bahay_engine::game::Refusal;
use bahay_engine::table::{Event, Readable, Table, TableId, TableView};

use crate::delivery::notice::WatchEnd;
use crate::failure::TableError;
use crate::history::journal::{Point, Tag};

/// Builds messages for one client, in the order of the calls.
pub trait Presenter<G: Readable> {
    /// Sends redacted events and the table after them. The last of several updates also carries the
    /// player's prompt.
    fn send_update(
        &mut self,
        at: Point,
        events: Vec<Event<G::Event>>,
        table: &Table<G>,
        is_last: bool,
    );

    /// Sends the player's view of the table.
    fn send_snapshot(&mut self, at: Point, view: TableView<G>, table: &Table<G>);

    /// Fault hook: called inside the panic guard before a table is shown. Only tests implement it.
    fn before_showing(&mut self, _table: &Table<G>) {}

    /// Reports that the table is gone. The connection stays open for the next table.
    fn send_closed(&mut self, table: TableId, why: WatchEnd);

    /// Acknowledges a command. `line` is the tag of the line that the command caused: if an update
    /// shows that line and is still to be sent, it carries the ack.
    fn send_ack(&mut self, id: u32, version: Option<u64>, line: Option<Tag>);

    fn send_refusal(&mut self, id: u32, why: CommandRefusal<'_, G::Refusal>);
}

/// The reason why a command was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandRefusal<'a, I: Refusal> {
    NotJoined,
    NotSeated,
    Table(&'a TableError<I>),
}
