//! Those who watch a table from this process, each with a bounded queue of notices, and most with a
//! direct writer that says at once what is next.

use std::sync::Arc;

use bahay_engine::table::{ConnectionId, Occupant, PlayerId, Readable, Table, TableId};

use crate::context::{Context, Remark};
use crate::direct::{DirectWriter, Wrote};
use crate::guard::guarded;
use crate::journal::Point;
use crate::notice::{Ending, Notice};
use crate::notices::{Notices, Outbox, Refused, outbox};
use crate::replica::{AppliedLine, Replica};
use crate::told::LastShown;

/// What a new watcher begins with.
#[derive(Debug)]
pub struct Watch<G: Readable> {
    pub at: Point,
    /// Which lines showed something last.
    pub shown: LastShown,
    pub table: Arc<Table<G>>,
    /// What happened since the point that the watcher named; `None` when it named none or the
    /// journal does not have it: show the whole table.
    pub missed: Option<Vec<AppliedLine<G>>>,
    pub notices: Notices<Notice<G>>,
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
    pub fn of<G: Readable>(table: &Table<G>) -> Self {
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
    outbox: Outbox<Notice<G>>,
}

/// The watchers of one table.
#[derive(Debug)]
pub(crate) struct Watchers<G: Readable> {
    table: TableId,
    watchers: Vec<Watcher<G>>,
    /// The last point that was told to whoever watched then.
    told: Option<Point>,
}

impl<G: Readable> Watchers<G> {
    pub(crate) const fn new(table: TableId) -> Self {
        Self { table, watchers: Vec::new(), told: None }
    }

    pub(crate) fn told(&self) -> Option<Point> {
        self.told
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.watchers.iter().all(|watcher| watcher.outbox.is_closed())
    }

    /// A connection has one watch a table: a new one ends the old one's notices. An older
    /// connection of the player goes on until it sees that it has been replaced.
    pub(crate) fn add(
        &mut self,
        connection: ConnectionId,
        writer: Option<Arc<dyn DirectWriter<G>>>,
    ) -> Notices<Notice<G>> {
        self.watchers.retain(|watcher| watcher.connection != connection);
        let (outbox, notices) = outbox();
        self.watchers.push(Watcher { connection, writer, outbox });
        notices
    }

    /// Ends every watch, after what waits in its queue.
    pub(crate) fn end(&mut self, why: Ending) {
        for watcher in self.watchers.drain(..) {
            watcher.outbox.end(why);
        }
    }

    pub(crate) fn tell(
        &mut self,
        ctx: &impl Context<G>,
        replica: &Replica<G>,
        applied: &AppliedLine<G>,
    ) {
        let (at, events) = (applied.at, applied.events.clone());
        let (shown, table) = (replica.shown().clone(), replica.table().clone());
        let notice = Notice { at, events, shown, table, anew: false, parted: false };
        // A process that was asleep may be behind the line that it tells of.
        let now = ctx.now().max(notice.table.at());
        self.send(ctx, &notice, |watcher| {
            // Who panics over it is told it again, and does so where that is dealt with.
            let wrote = watcher.writer.as_ref().map(|way| guarded(|| way.write(&notice, now)));
            wrote.and_then(Result::ok).unwrap_or(Wrote::Nothing)
        });
    }

    /// The table was read as a whole. `parted`: what was told before did not lead here. Who has been told
    /// of exactly this is not told again: else anybody could have the whole table shown to everybody by
    /// joining once more.
    pub(crate) fn tell_anew(&mut self, ctx: &impl Context<G>, replica: &Replica<G>, parted: bool) {
        if self.told == Some(replica.at()) {
            return;
        }
        let (at, events) = (replica.at(), Vec::new().into());
        let (shown, table) = (replica.shown().clone(), replica.table().clone());
        let notice = Notice { at, events, shown, table, anew: true, parted };
        self.send(ctx, &notice, |_| Wrote::Nothing);
    }

    fn send(
        &mut self,
        ctx: &impl Context<G>,
        notice: &Notice<G>,
        write: impl Fn(&Watcher<G>) -> Wrote,
    ) {
        self.told = Some(notice.at);
        let (table, most) = (self.table, ctx.limits().notices);
        self.watchers.retain(|watcher| {
            let sent = match write(watcher) {
                Wrote::All => return true,
                Wrote::NotTaken => watcher.outbox.wake(),
                Wrote::Nothing => watcher.outbox.send(notice.clone(), most),
            };
            match sent {
                Ok(()) => true,
                Err(Refused::Full) => {
                    // Its session closes the connection when the notices end.
                    ctx.remark(table, Remark::SlowWatcher);
                    false
                }
                Err(Refused::Gone) => false,
            }
        });
    }
}
