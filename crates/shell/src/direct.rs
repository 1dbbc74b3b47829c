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
use crate::told::Told;

/// Tells a watcher what happens while it is happening, so that the watcher need not be woken for it.
pub trait DirectWriter<G: Readable>: fmt::Debug + Send + Sync {
    /// Waits for nobody. `now` is the table's time.
    fn write(&self, notice: &Notice<G>, now: Timestamp) -> Wrote;
}

/// How much of a notice was written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    All,
    /// All, but it was not taken yet: the watcher is woken to see to that.
    NotTaken,
    /// Nothing: the notice is left to the watcher.
    Nothing,
}

/// For whom may be written, and what the client has been told until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    pub table: TableId,
    pub player: PlayerId,
    pub connection: ConnectionId,
    pub told: Told,
}

/// Whether something may be written now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectFeed {
    lent: Option<Lent>,
}

impl DirectFeed {
    /// Updates that follow may be written by the table.
    pub fn lend(&mut self, lent: Option<Lent>) {
        self.lent = lent;
    }

    /// No more. What was told by then; `None` where nothing was lent.
    pub fn take_back(&mut self) -> Option<Told> {
        self.lent.take().map(|lent| lent.told)
    }

    /// The same, and what follows may be written still.
    #[cfg(feature = "simulation")]
    pub(crate) fn peek(&self) -> Option<Told> {
        self.lent.map(|lent| lent.told)
    }

    /// For whom a notice is to be written as an update, if it is: when it is the next one, all that
    /// went before was taken, and the player still sits there by this connection.
    pub fn next<G: Readable>(&self, notice: &Notice<G>, something_waits: bool) -> Option<PlayerId> {
        let lent = self.lent?;
        let table = &*notice.table;
        let is_next = notice.at.version == lent.told.at().version + 1 && !notice.anew;
        if !is_next || table.id() != lent.table || something_waits {
            return None;
        }
        let seat = table.seat_of(lent.player)?;
        let connection = table.occupant(seat).and_then(|who| who.connection);
        (connection == Some(lent.connection)).then_some(lent.player)
    }

    /// What the client reads of the next line, if it is shown.
    pub fn read_as(&self, at: Point) -> Point {
        self.lent.map_or(at, |lent| lent.told.read_as(at))
    }

    /// The client was told as far as this.
    pub fn wrote(&mut self, at: Point) {
        if let Some(lent) = &mut self.lent {
            lent.told.show(at);
        }
    }

    /// What happened is nothing that the client is told.
    pub fn passed(&mut self, at: Point) {
        if let Some(lent) = &mut self.lent {
            lent.told.pass(at);
        }
    }
}
