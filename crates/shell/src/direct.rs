//! Writing at once what is next for a player, while its session sleeps.
//!
//! Most of what a player is told is what others did, and then its session would be woken only to
//! write it. So while a session waits it lends its connection ([`DirectFeed::lend`]), and whoever
//! has decided on something at the table writes the update as well. Whatever is out of the ordinary
//! is left to the session: a gap, the whole table, a seat or a connection that has changed, a client
//! that does not take what it is sent. Before it does anything the session takes its connection back
//! ([`DirectFeed::take_back`]), so nothing is told twice or in another order.

use std::fmt;

use bahay_engine::table::{ConnectionId, PlayerId, Readable, TableId, Timestamp};

use crate::journal::Point;
use crate::notice::Notice;
use crate::delivery_cursor::DeliveryCursor;

/// Tells a watcher what happens while it is happening, so that the watcher need not be woken for it.
pub trait DirectWriter<G: Readable>: fmt::Debug + Send + Sync {
    /// Waits for nobody. `now` is the table's time.
    fn write(&self, notice: &Notice<G>, now: Timestamp) -> WriteOutcome;
}

/// How much of a notice was written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    Written,
    /// All, but it was not taken yet: the watcher is woken to see to that.
    Backlogged,
    /// Nothing: the notice is left to the watcher.
    Skipped,
}

/// For whom may be written, and what the client has been told until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectLease {
    pub table: TableId,
    pub player: PlayerId,
    pub connection: ConnectionId,
    pub cursor: DeliveryCursor,
}

/// Whether something may be written now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectFeed {
    lease: Option<DirectLease>,
}

impl DirectFeed {
    /// Updates that follow may be written by the table.
    pub fn grant(&mut self, lease: Option<DirectLease>) {
        self.lease = lease;
    }

    /// No more. What was told by then; `None` where nothing was lent.
    pub fn revoke(&mut self) -> Option<DeliveryCursor> {
        self.lease.take().map(|lease| lease.cursor)
    }

    /// The same, and what follows may be written still.
    #[cfg(feature = "simulation")]
    pub(crate) fn cursor(&self) -> Option<DeliveryCursor> {
        self.lease.map(|lease| lease.cursor)
    }

    /// For whom a notice is to be written as an update, if it is: when it is the next one, all that
    /// went before was taken, and the player still sits there by this connection.
    pub fn recipient<G: Readable>(&self, notice: &Notice<G>, is_backlogged: bool) -> Option<PlayerId> {
        let lease = self.lease?;
        let table = &*notice.table;
        let is_next = notice.at.version == lease.cursor.position().version + 1 && !notice.is_snapshot;
        if !is_next || table.id() != lease.table || is_backlogged {
            return None;
        }
        let seat = table.seat_of(lease.player)?;
        let connection = table.occupant(seat).and_then(|who| who.connection);
        (connection == Some(lease.connection)).then_some(lease.player)
    }

    /// What the client reads of the next line, if it is shown.
    pub fn to_client_point(&self, at: Point) -> Point {
        self.lease.map_or(at, |lease| lease.cursor.to_client_point(at))
    }

    /// The client was told as far as this.
    pub fn advance(&mut self, at: Point) {
        if let Some(lease) = &mut self.lease {
            lease.cursor.advance(at);
        }
    }

    /// What happened is nothing that the client is told.
    pub fn skip_hidden(&mut self, at: Point) {
        if let Some(lease) = &mut self.lease {
            lease.cursor.skip_hidden(at);
        }
    }
}
