//! The watchers of a table in this process. Each has a bounded queue of notices, and most have a
//! direct writer for the next update.

use std::sync::Arc;

use bahay_engine::table::{ConnectionId, Occupant, PlayerId, Readable, Table, TableId};

use crate::context::{Context, HostEvent};
use crate::delivery::direct::{DirectWriter, WriteOutcome};
use crate::delivery::notice::{Notice, WatchEnd};
use crate::delivery::notices::{NoticeReceiver, NoticeSender, SendError, notice_channel};
use crate::guard::catch_panic;
use crate::history::delivery_cursor::LastVisible;
use crate::history::journal::Point;
use crate::history::replica::{AppliedLine, Replica};

/// The start of a watch.
#[derive(Debug)]
pub struct Watch<G: Readable> {
    pub at: Point,
    /// The last visible line of each viewer.
    pub last_visible: LastVisible,
    pub table: Arc<Table<G>>,
    /// The lines since the point that the watcher named; `None` if it named none or the journal
    /// does not have it: then the watcher shows a snapshot.
    pub missed: Option<Vec<AppliedLine<G>>>,
    pub notices: NoticeReceiver<Notice<G>>,
}

/// A table's entry in the list of its room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    pub room: String,
    pub seats: u8,
    pub has_pot: bool,
    /// The seated players, without the bots of a practice table.
    pub players: Vec<PlayerId>,
}

impl Listing {
    pub fn from_table<G: Readable>(table: &Table<G>) -> Self {
        let is_practice = table.terms().practice;
        let occupants = table.occupants().map(|(_, occupant)| occupant);
        let is_listed = |occupant: &&Occupant| !(is_practice && occupant.bot);
        Self {
            room: table.terms().room.clone(),
            seats: table.seat_count(),
            has_pot: !table.pot().is_zero(),
            players: occupants.filter(is_listed).map(|occupant| occupant.player).collect(),
        }
    }
}

#[derive(Debug)]
struct Watcher<G: Readable> {
    connection: ConnectionId,
    writer: Option<Arc<dyn DirectWriter<G>>>,
    sender: NoticeSender<Notice<G>>,
}

/// The watchers of one table.
#[derive(Debug)]
pub(crate) struct Watchers<G: Readable> {
    table: TableId,
    watchers: Vec<Watcher<G>>,
    /// The last point that was sent to the watchers of that time.
    last_sent: Option<Point>,
}

impl<G: Readable> Watchers<G> {
    pub(crate) const fn new(table: TableId) -> Self {
        Self { table, watchers: Vec::new(), last_sent: None }
    }

    pub(crate) fn last_sent(&self) -> Option<Point> {
        self.last_sent
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.watchers.iter().all(|watcher| watcher.sender.is_closed())
    }

    /// Adds a watcher. A connection has at most one watch per table: a new one closes the old one's
    /// queue. An older connection of the same player continues until it sees that it was replaced.
    pub(crate) fn add(
        &mut self,
        connection: ConnectionId,
        writer: Option<Arc<dyn DirectWriter<G>>>,
    ) -> NoticeReceiver<Notice<G>> {
        self.watchers.retain(|watcher| watcher.connection != connection);
        let (sender, notices) = notice_channel();
        self.watchers.push(Watcher { connection, writer, sender });
        notices
    }

    /// Closes every queue. Queued notices are still delivered.
    pub(crate) fn close_all(&mut self, ending: WatchEnd) {
        for watcher in self.watchers.drain(..) {
            watcher.sender.close(ending);
        }
    }

    pub(crate) fn send_line(
        &mut self,
        ctx: &impl Context<G>,
        replica: &Replica<G>,
        applied: &AppliedLine<G>,
    ) {
        let at = applied.at;
        let events = applied.events.clone();
        let last_visible = replica.last_visible().clone();
        let table = replica.table().clone();
        let notice =
            Notice { at, events, last_visible, table, is_snapshot: false, is_diverged: false };
        // The clock of a process that was suspended may be behind the line.
        let now = ctx.now().max(notice.table.last_line_at());
        self.send(ctx, &notice, |watcher| {
            // A notice whose direct write panics is queued, so that the panic recurs in the
            // session, where it is handled.
            let outcome =
                watcher.writer.as_ref().map(|writer| catch_panic(|| writer.write(&notice, now)));
            outcome.and_then(Result::ok).unwrap_or(WriteOutcome::Skipped)
        });
    }

    /// Notifies the watchers of a reloaded table. `is_diverged` is true if the delivered history
    /// does not lead to this state. Watchers that have exactly this state are not notified:
    /// otherwise one player could make the table send snapshots to all of them by joining
    /// repeatedly.
    pub(crate) fn send_snapshot(
        &mut self,
        ctx: &impl Context<G>,
        replica: &Replica<G>,
        is_diverged: bool,
    ) {
        if self.last_sent == Some(replica.point()) {
            return;
        }
        let at = replica.point();
        let events = Vec::new().into();
        let last_visible = replica.last_visible().clone();
        let table = replica.table().clone();
        let notice = Notice { at, events, last_visible, table, is_snapshot: true, is_diverged };
        self.send(ctx, &notice, |_| WriteOutcome::Skipped);
    }

    fn send(
        &mut self,
        ctx: &impl Context<G>,
        notice: &Notice<G>,
        write: impl Fn(&Watcher<G>) -> WriteOutcome,
    ) {
        self.last_sent = Some(notice.at);
        let table = self.table;
        let capacity = ctx.limits().queued_notices;
        self.watchers.retain(|watcher| {
            let sent = match write(watcher) {
                WriteOutcome::Written => return true,
                WriteOutcome::Backlogged => watcher.sender.wake(),
                WriteOutcome::Skipped => watcher.sender.send(notice.clone(), capacity),
            };
            match sent {
                Ok(()) => true,
                Err(SendError::Full) => {
                    // The session closes the connection when its queue ends.
                    ctx.record(table, HostEvent::SlowWatcher);
                    false
                }
                Err(SendError::Closed) => false,
            }
        });
    }
}
