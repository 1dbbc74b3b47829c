//! Those who watch a table from this process, each with a bounded queue of notices, and most with a
//! direct writer that says at once what is next.

use std::sync::Arc;

use bahay_engine::table::{ConnectionId, Occupant, PlayerId, Readable, Table, TableId};

use crate::context::{Context, HostEvent};
use crate::direct::{DirectWriter, WriteOutcome};
use crate::guard::catch_panic;
use crate::journal::Point;
use crate::notice::{WatchEnd, Notice};
use crate::notices::{NoticeReceiver, NoticeSender, SendError, notice_channel};
use crate::replica::{AppliedLine, Replica};
use crate::delivery_cursor::LastVisible;

/// What a new watcher begins with.
#[derive(Debug)]
pub struct Watch<G: Readable> {
    pub at: Point,
    /// Which lines showed something last.
    pub last_visible: LastVisible,
    pub table: Arc<Table<G>>,
    /// What happened since the point that the watcher named; `None` when it named none or the
    /// journal does not have it: show the whole table.
    pub missed: Option<Vec<AppliedLine<G>>>,
    pub notices: NoticeReceiver<Notice<G>>,
}

/// How a table stands in the list of its room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    pub room: String,
    pub seats: u8,
    pub has_pot: bool,
    /// Without the bots of a practice table, which belong to it.
    pub players: Vec<PlayerId>,
}

impl Listing {
    pub fn from_table<G: Readable>(table: &Table<G>) -> Self {
        let is_practice = table.terms().practice;
        let occupants = table.occupants().map(|(_, who)| who);
        let is_listed = |who: &&Occupant| !(is_practice && who.bot);
        Self {
            room: table.terms().room.clone(),
            seats: table.seat_count(),
            has_pot: !table.pot().is_zero(),
            players: occupants.filter(is_listed).map(|who| who.player).collect(),
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
    /// The last point that was told to whoever watched then.
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

    /// A connection has one watch a table: a new one ends the old one's notices. An older
    /// connection of the player goes on until it sees that it has been replaced.
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

    /// Ends every watch, after what waits in its queue.
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
        let (at, events) = (applied.at, applied.events.clone());
        let (last_visible, table) = (replica.last_visible().clone(), replica.table().clone());
        let notice = Notice { at, events, last_visible, table, is_snapshot: false, is_diverged: false };
        // A process that was asleep may be behind the line that it tells of.
        let now = ctx.now().max(notice.table.at());
        self.send(ctx, &notice, |watcher| {
            // Who panics over it is told it again, and does so where that is dealt with.
            let outcome = watcher.writer.as_ref().map(|writer| catch_panic(|| writer.write(&notice, now)));
            outcome.and_then(Result::ok).unwrap_or(WriteOutcome::Skipped)
        });
    }

    /// The table was read as a whole. `parted`: what was told before did not lead here. Who has been told
    /// of exactly this is not told again: else anybody could have the whole table shown to everybody by
    /// joining once more.
    pub(crate) fn send_snapshot(&mut self, ctx: &impl Context<G>, replica: &Replica<G>, is_diverged: bool) {
        if self.last_sent == Some(replica.point()) {
            return;
        }
        let (at, events) = (replica.point(), Vec::new().into());
        let (last_visible, table) = (replica.last_visible().clone(), replica.table().clone());
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
        let (table, capacity) = (self.table, ctx.limits().queued_notices);
        self.watchers.retain(|watcher| {
            let sent = match write(watcher) {
                WriteOutcome::Written => return true,
                WriteOutcome::Backlogged => watcher.sender.wake(),
                WriteOutcome::Skipped => watcher.sender.send(notice.clone(), capacity),
            };
            match sent {
                Ok(()) => true,
                Err(SendError::Full) => {
                    // Its session closes the connection when the notices end.
                    ctx.record(table, HostEvent::SlowWatcher);
                    false
                }
                Err(SendError::Closed) => false,
            }
        });
    }
}
