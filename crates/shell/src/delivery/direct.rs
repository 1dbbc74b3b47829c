//! Direct delivery: the table writes a player's updates while the player's session sleeps.
//!
//! Most updates are about actions of other players, so the session would wake up only to write
//! them. While it waits, a session leases its connection to the table ([`DirectFeed::grant`]), and
//! the task that stored a line writes the update too. Everything unusual is left to the session: a
//! gap, a snapshot, a changed seat or connection, a client that does not read. Before the session
//! does anything else it revokes the lease ([`DirectFeed::revoke`]), so no line is delivered twice
//! or out of order.

use std::fmt;

use bahay_engine::table::{ConnectionId, PlayerId, Readable, TableId, Timestamp};

use crate::delivery::notice::Notice;
use crate::history::delivery_cursor::DeliveryCursor;
use crate::history::journal::Point;

/// Writes updates to a watcher's connection, so that the watcher need not be woken.
pub trait DirectWriter<G: Readable>: fmt::Debug + Send + Sync {
    /// Writes a notice without blocking. `now` is the table's time.
    fn write(&self, notice: &Notice<G>, now: Timestamp) -> WriteOutcome;
}

/// The outcome of a direct write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    Written,
    /// The update is written, but the client has not taken all of it: the watcher is woken to flush
    /// the rest.
    Backlogged,
    /// Nothing is written: the notice is queued for the watcher.
    Skipped,
}

/// The lease of a connection: its player, its table and its delivery cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectLease {
    pub table: TableId,
    pub player: PlayerId,
    pub connection: ConnectionId,
    pub cursor: DeliveryCursor,
}

/// Decides which notices may be written directly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectFeed {
    lease: Option<DirectLease>,
}

impl DirectFeed {
    /// Grants the table a lease for the updates that follow.
    pub fn grant(&mut self, lease: Option<DirectLease>) {
        self.lease = lease;
    }

    /// Revokes the lease and returns its cursor; `None` without a lease.
    pub fn revoke(&mut self) -> Option<DeliveryCursor> {
        self.lease.take().map(|lease| lease.cursor)
    }

    /// Returns the lease's cursor without revoking the lease.
    #[cfg(feature = "simulation")]
    pub(crate) fn cursor(&self) -> Option<DeliveryCursor> {
        self.lease.map(|lease| lease.cursor)
    }

    /// Returns the player to whom a notice may be written directly: it is the next line, no earlier
    /// update is backlogged, and the player still sits at the table by this connection.
    pub fn recipient<G: Readable>(
        &self,
        notice: &Notice<G>,
        is_backlogged: bool,
    ) -> Option<PlayerId> {
        let lease = self.lease?;
        let table = &*notice.table;
        let is_next =
            notice.at.version == lease.cursor.position().version + 1 && !notice.is_snapshot;
        if !is_next || table.id() != lease.table || is_backlogged {
            return None;
        }
        let seat = table.seat_of(lease.player)?;
        let connection = table.occupant(seat).and_then(|occupant| occupant.connection);
        (connection == Some(lease.connection)).then_some(lease.player)
    }

    /// Converts the next point of the journal to the client's versions.
    pub fn to_client_point(&self, at: Point) -> Point {
        self.lease.map_or(at, |lease| lease.cursor.to_client_point(at))
    }

    /// Advances the cursor over a delivered line.
    pub fn advance(&mut self, at: Point) {
        if let Some(lease) = &mut self.lease {
            lease.cursor.advance(at);
        }
    }

    /// Advances the cursor over a hidden line.
    pub fn skip_hidden(&mut self, at: Point) {
        if let Some(lease) = &mut self.lease {
            lease.cursor.skip_hidden(at);
        }
    }
}
