//! Those who watch a table from this process, each with a bounded outbox, and most with somebody who
//! tells them at once.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bahay_engine::table::Readable;
use bahay_engine::table::{ConnectionId, Event, PlayerId, Table, Timestamp};

use crate::live_store::Point;
use crate::tables::copy::Missed;
use crate::tables::guard::guarded;
use crate::tables::outbox::{Notices, Outbox, Refused, outbox};

/// What a watcher is told.
#[derive(Clone, Debug)]
pub struct Notice<G: Readable> {
    /// The point of the table's history after this.
    pub at: Point,
    /// Complete: the watcher redacts them for its viewer. Empty when the copy had to be read
    /// anew: then only `table` tells the state.
    pub events: Arc<[Event<G::Event>]>,
    /// The table after this.
    pub table: Arc<Table<G>>,
    /// Something between the last notice and this one is not told: show the whole table.
    pub anew: bool,
    /// The history that was told until now is not that of the table any more.
    pub parted: bool,
}

/// Tells a watcher what happens while it is happening, so that the watcher need not be woken for it.
pub trait AtOnce<G: Readable>: fmt::Debug + Send + Sync {
    /// Waits for nobody. `now` is the table's time.
    fn tell(&self, notice: &Notice<G>, now: Timestamp) -> Told;
}

/// How much of a notice was told at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    All,
    /// All, but it was not taken yet: the watcher is woken to see to that.
    NotTaken,
    /// Nothing: the notice is left to the watcher.
    Nothing,
}

/// What a new watcher begins with.
#[derive(Debug)]
pub struct Watch<G: Readable> {
    pub at: Point,
    pub table: Arc<Table<G>>,
    /// What happened since the point that the watcher named; `None` when it named none or the
    /// journal does not have it: show the whole table.
    pub missed: Option<Vec<Missed<G>>>,
    pub notices: Notices<Notice<G>>,
    /// Why the notices ended, once they have. Unset: the watcher did not keep up.
    pub ending: Arc<OnceLock<Ending>>,
}

/// Why a watch ends, when not for the watcher's own fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The table was voided.
    Voided,
    /// The table is gone, and nobody said so.
    Lost,
    /// This node was taken for dead, so the table has been told that its players are away.
    NodeGone,
}

#[derive(Debug)]
struct Watcher<G: Readable> {
    player: PlayerId,
    connection: ConnectionId,
    at_once: Option<Arc<dyn AtOnce<G>>>,
    outbox: Outbox<Notice<G>>,
    ending: Arc<OnceLock<Ending>>,
}

/// The watchers of one table.
#[derive(Debug)]
pub(super) struct Watchers<G: Readable> {
    watchers: Vec<Watcher<G>>,
    /// The last point that was told to whoever watched then.
    told: Option<Point>,
}

impl<G: Readable> Watchers<G> {
    pub(super) const fn new() -> Self {
        Self { watchers: Vec::new(), told: None }
    }

    pub(super) fn told(&self) -> Option<Point> {
        self.told
    }

    pub(super) fn is_empty(&self) -> bool {
        self.watchers.iter().all(|watcher| watcher.outbox.is_closed())
    }

    /// A connection has one watch a table: a new one ends the old one's notices. An older
    /// connection of the player goes on until it sees that it has been replaced.
    pub(super) fn add(
        &mut self,
        player: PlayerId,
        connection: ConnectionId,
        at_once: Option<Arc<dyn AtOnce<G>>>,
    ) -> (Notices<Notice<G>>, Arc<OnceLock<Ending>>) {
        self.watchers.retain(|watcher| watcher.connection != connection);
        let (outbox, notices) = outbox();
        let ending = Arc::new(OnceLock::new());
        let told = ending.clone();
        self.watchers.push(Watcher { player, connection, at_once, outbox, ending: told });
        (notices, ending)
    }

    /// Ends every watch, after what waits in its outbox.
    pub(super) fn end(&mut self, why: Ending) {
        for watcher in self.watchers.drain(..) {
            // It has one watch and ends once.
            let _ = watcher.ending.set(why);
        }
    }

    pub(super) fn tell(&mut self, table: &Arc<Table<G>>, happened: &Missed<G>, now: Timestamp) {
        let notice = Notice {
            at: happened.at,
            events: happened.events.clone(),
            table: table.clone(),
            anew: false,
            parted: false,
        };
        self.send(&notice, |watcher| {
            // Who panics over it is told it again, and does so where that is dealt with.
            let told = watcher.at_once.as_ref().map(|way| guarded(|| way.tell(&notice, now)));
            told.and_then(Result::ok).unwrap_or(Told::Nothing)
        });
    }

    /// `parted`: what was told before did not lead here.
    pub(super) fn tell_anew(&mut self, table: &Arc<Table<G>>, at: Point, parted: bool) {
        let events = Vec::new().into();
        let notice = Notice { at, events, table: table.clone(), anew: true, parted };
        self.send(&notice, |_| Told::Nothing);
    }

    fn send(&mut self, notice: &Notice<G>, at_once: impl Fn(&Watcher<G>) -> Told) {
        self.told = Some(notice.at);
        self.watchers.retain(|watcher| {
            let sent = match at_once(watcher) {
                Told::All => return true,
                Told::NotTaken => watcher.outbox.wake(),
                Told::Nothing => watcher.outbox.send(notice.clone()),
            };
            match sent {
                Ok(()) => true,
                Err(Refused::Full) => {
                    // Its session closes the connection when the notices end.
                    tracing::info!(player = %watcher.player, connection = %watcher.connection,
                        "a watcher does not keep up and is dropped");
                    false
                }
                Err(Refused::Gone) => false,
            }
        });
    }
}
