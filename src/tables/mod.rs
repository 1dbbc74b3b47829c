//! The shell around the tables of the engine: it keeps copies of them, decides on them, stores
//! what was decided, and tells those who watch.
//!
//! One order holds for every change: decide on a copy, append to the journal, replace the copy,
//! tell the watchers. A copy is only a cache: if the append finds that others were faster, their
//! lines are followed and told first, and the input is decided on again. What a failed call did is
//! never assumed; the copy is dropped and read again.
//!
//! Bounds: a table's slot serializes what this process does there; an input is decided on at most
//! `ATTEMPTS` times; a watcher that does not keep up is dropped.
//!
//! `presence` knows who is connected and which nodes live, `halting` stops tables that must not go
//! on, and `lost` gives back the coins of games whose tables are gone.
//!
//! Deliberately absent: ownership of a table, and what a game is.

mod copy;
mod counts;
mod effects;
mod guard;
mod halting;
mod lost;
mod outbox;
mod presence;
mod slot;
mod ticker;
mod watchers;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bahay_engine::table::Readable;
use bahay_engine::table::{
    ConnectionId, Input, PlayerId, Rejection, Table, TableId, Terms, Timestamp,
};
use futures_util::{FutureExt, StreamExt, stream};
use tokio::sync::{broadcast, mpsc};

use crate::clock::Clock;
use crate::db::PgPool;
use crate::entropy;
use crate::ledger::Ledger;
use crate::live_store::{LiveStore, Point, Present, Publication, Unavailable};
use crate::tables::presence::Presence;
use crate::tables::slot::Slot;
use crate::tables::words::Words;

pub use copy::Missed;
pub use counts::Counts;
pub use halting::{OperateError, Spoiled, Voided};
pub use outbox::{Notices, OUTBOX};
pub use watchers::{AtOnce, Ending, Notice, Told, Watch};
pub use words::Word;

/// How often an input is decided on before it counts as unavailable.
const ATTEMPTS: usize = 16;

/// An empty table without a POT is forgotten after this time.
const IDLE_MS: u64 = 60 * 60 * 1000;

/// The pauses before each reading of watched journals once subscriptions have broken off.
const CATCH_UP_AFTER: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];

/// Journals read at once. A server that stands still holds up so many before others must wait.
const READ_AT_ONCE: usize = 1_024;

/// The tables of one game, as this process sees them. Clones share everything.
#[derive(Clone, Debug)]
pub struct Tables<G: Readable> {
    inner: Arc<Inner<G>>,
}

#[derive(Debug)]
struct Inner<G: Readable> {
    live: LiveStore,
    ledger: Ledger,
    /// By shard, because each may be on another server.
    clocks: Vec<Clock>,
    /// For what operators are told about halted tables, and for games that lost theirs.
    pool: PgPool,
    presence: Presence,
    counts: Counts,
    words: Words<G::Rules>,
    /// Copies of the tables that somebody here has looked at.
    slots: Mutex<HashMap<TableId, Arc<Slot<G>>>>,
    /// Tables whose journal may be longer than this process knows, by what it did itself. They are
    /// read at the next look.
    unheard: Mutex<Vec<TableId>>,
}

/// Why an input was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError<I: bahay_engine::game::Refusal> {
    /// The table refused it; nothing has changed.
    #[error("{0}")]
    Rejected(Rejection<I>),
    /// There is no such table.
    #[error("there is no such table")]
    Missing,
    /// The table is halted: an operator releases or voids it.
    #[error("this table was halted: an operator decides what becomes of it")]
    Halted,
    /// The table is played by nodes of another version of the engine.
    #[error("another node plays this table: try again")]
    OtherVersion,
    /// Live state did not answer; the input may have been taken or not.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why a table can neither be read nor asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unready {
    #[error("this table was halted")]
    Halted,
    #[error("this table is for another version of the engine")]
    OtherVersion,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl<I: bahay_engine::game::Refusal> From<Unready> for SubmitError<I> {
    fn from(unready: Unready) -> Self {
        match unready {
            Unready::Halted => Self::Halted,
            Unready::OtherVersion => Self::OtherVersion,
            Unready::Unavailable(error) => Self::Unavailable(error),
        }
    }
}

/// A result of [`Tables::submit`] and the like.
pub type Submitted<G, T> = Result<T, SubmitError<<G as bahay_engine::game::Game>::Illegal>>;

impl<G: Readable> Inner<G> {
    fn clock_of(&self, table: TableId) -> &Clock {
        self.clock_in(self.live.shard_of(table))
    }

    fn clock_in(&self, shard: u16) -> &Clock {
        &self.clocks[usize::from(shard)]
    }

    /// To decide by. Nothing is decided about a table before its time is known here.
    fn time_of(&self, table: TableId) -> Result<Timestamp, Unavailable> {
        let clock = self.clock_of(table);
        let unknown = || Unavailable::new("the time of this table is not known yet".into());
        clock.is_told().then(|| clock.now()).ok_or_else(unknown)
    }
}

impl<G: Readable> Tables<G> {
    /// Tables by a clock of the caller's. The house's own comes with [`Tables::start`].
    pub fn new(live: LiveStore, ledger: Ledger, clock: Clock, pool: PgPool) -> Self {
        let clocks = live.shards().map(|_| clock.clone()).collect();
        let presence = Presence::new(&live);
        Self::with(live, ledger, clocks, pool, presence)
    }

    /// Makes this process a node of the house, with the house's clock.
    pub async fn start(live: LiveStore, ledger: Ledger, pool: PgPool) -> Result<Self, Unavailable> {
        let (presence, clocks) = Presence::join(&live).await?;
        Ok(Self::with(live, ledger, clocks, pool, presence))
    }

    fn with(
        live: LiveStore,
        ledger: Ledger,
        clocks: Vec<Clock>,
        pool: PgPool,
        presence: Presence,
    ) -> Self {
        let (slots, counts, words) = (Mutex::default(), Counts::default(), Words::default());
        let unheard = Mutex::default();
        let inner = Inner { live, ledger, clocks, pool, presence, counts, words, slots, unheard };
        Self { inner: Arc::new(inner) }
    }

    /// The time of the house for what is about no table: that of some shard.
    pub fn clock(&self) -> &Clock {
        let told = self.inner.clocks.iter().find(|clock| clock.is_told());
        told.unwrap_or_else(|| self.inner.clock_in(0))
    }

    /// The clock that a table lives by.
    pub fn clock_of(&self, table: TableId) -> &Clock {
        self.inner.clock_of(table)
    }

    pub fn counts(&self) -> &Counts {
        &self.inner.counts
    }

    /// Has tables ask here what their rooms say. Only the first call counts.
    pub fn obey(
        &self,
        words: impl Fn(&Terms<G::Rules>, u32) -> Option<Word<G::Rules>> + Send + Sync + 'static,
    ) {
        self.inner.words.come_from(Arc::new(words));
    }

    /// Tells the tables that this process knows what their rooms say, without waiting for
    /// something to happen there. The others hear it then.
    pub async fn hear_rooms(&self) {
        for slot in self.all() {
            let due = match slot.current().await {
                Some(table) => self.inner.words.due(&table),
                None => None,
            };
            if let Some(input) = due {
                // The word is told before the input, which then is nothing new.
                let told = slot.submit(&self.inner, input).await;
                if let Err(SubmitError::Unavailable(error)) = told {
                    tracing::warn!(table = %slot.id(), %error, "a table hears of its room later");
                }
            }
        }
    }

    /// Tables of which this process has a copy or a watcher.
    pub fn known_tables(&self) -> usize {
        self.inner.slots.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Founds a table unless it exists.
    pub async fn found(&self, id: TableId, terms: Terms<G::Rules>) -> Result<(), Unavailable> {
        self.found_of_revision(id, terms, 0).await
    }

    /// The same, by the terms of a revision of its room.
    pub async fn found_of_revision(
        &self,
        id: TableId,
        terms: Terms<G::Rules>,
        revision: u32,
    ) -> Result<(), Unavailable> {
        let table = Table::<G>::new(id, terms).of_revision(revision);
        let snapshot = serde_json::to_string(&table).map_err(copy::unwritable)?;
        let live = &self.inner.live;
        live.found(id, entropy::tag(), &snapshot, IDLE_MS, table.engine()).await
    }

    /// Has the table decide on an input and stores what it decided. Gives the table's version
    /// after it.
    pub async fn submit(&self, id: TableId, input: Input<G::Action>) -> Submitted<G, u64> {
        let gone = match &input {
            Input::Connect { player, connection } => {
                let present = Present { table: id, player: *player, connection: *connection };
                self.arrive(present).await?;
                None
            }
            Input::Disconnect { player, connection } => {
                Some(Present { table: id, player: *player, connection: *connection })
            }
            _ => None,
        };
        let submitted = self.decide(id, input).await;
        if let Some(present) = gone
            && !matches!(submitted, Err(SubmitError::OtherVersion | SubmitError::Unavailable(_)))
        {
            self.departed(present).await;
        }
        submitted
    }

    async fn decide(&self, id: TableId, input: Input<G::Action>) -> Submitted<G, u64> {
        let slot = self.slot(id);
        // In a box where it is done, so that nobody on the way there moves or keeps room for it.
        let submitted = Box::pin(slot.submit(&self.inner, input)).await;
        if submitted.is_ok() {
            self.carry_out(&slot).await;
        }
        submitted
    }

    /// The table as it is now; `None` when there is no such table.
    pub async fn look(&self, id: TableId) -> Result<Option<Arc<Table<G>>>, Unready> {
        self.slot(id).look(&self.inner).await
    }

    /// Puts the room's list right, for whoever found a table listed otherwise than it is: nodes that
    /// list it at the same time may do so in the wrong order.
    pub async fn list_again(&self, id: TableId) -> Result<(), Unready> {
        self.slot(id).list_again(&self.inner).await
    }

    /// Begins to watch a table for a player. With the point that the player saw last, gives what
    /// was missed since, if the journal still has it.
    pub async fn watch(
        &self,
        id: TableId,
        player: PlayerId,
        connection: ConnectionId,
        from: Option<Point>,
    ) -> Submitted<G, Watch<G>> {
        self.slot(id).watch(&self.inner, player, connection, None, from).await
    }

    /// The same. What somebody has told the watcher at once does not come among its notices.
    pub async fn watch_at_once(
        &self,
        id: TableId,
        player: PlayerId,
        connection: ConnectionId,
        at_once: Arc<dyn AtOnce<G>>,
        from: Option<Point>,
    ) -> Submitted<G, Watch<G>> {
        self.slot(id).watch(&self.inner, player, connection, Some(at_once), from).await
    }

    /// What is said at a table from here on, as long as somebody here watches it: texts that are
    /// no part of its journal. Who falls behind misses some.
    pub fn hear(&self, id: TableId) -> broadcast::Receiver<Arc<str>> {
        self.slot(id).hear()
    }

    /// Tells all who listen to a table a text of one line that is no part of its journal.
    pub async fn talk(&self, id: TableId, text: &str) -> Result<(), Unavailable> {
        self.inner.live.talk(id, text).await
    }

    /// Takes in what other processes publish, until the sender is gone.
    pub async fn listen(self, mut publications: mpsc::UnboundedReceiver<Publication>) {
        while let Some(publication) = publications.recv().await {
            match publication {
                Publication::Lines { table, after, lines } => {
                    if let Some(slot) = self.known(table) {
                        let tables = self.clone();
                        let mut following = Box::pin(async move {
                            slot.published(&tables.inner, after, &lines).await;
                        });
                        // A table that waits for its server keeps no other waiting.
                        if following.as_mut().now_or_never().is_none() {
                            tokio::spawn(following);
                        }
                    }
                }
                Publication::Talk { table, text } => {
                    if let Some(slot) = self.known(table) {
                        slot.talk(text.into());
                    }
                }
                Publication::Ended { table } => {
                    if let Some(slot) = self.known(table) {
                        slot.close().await;
                    }
                }
                Publication::Interrupted => {
                    tokio::spawn(self.clone().catch_up());
                }
            }
        }
    }

    /// After publications may have been missed. What is published before the subscriptions stand
    /// again is missed too, so the journals are read more than once.
    async fn catch_up(self) {
        for after in CATCH_UP_AFTER {
            tokio::time::sleep(after).await;
            self.read_all().await;
        }
    }

    /// Brings every copy that is watched up to its journal.
    async fn read_all(&self) {
        let slots = stream::iter(self.all());
        let read = |slot: Arc<Slot<G>>| async move { slot.catch_up(&self.inner).await };
        slots.for_each_concurrent(READ_AT_ONCE, read).await;
    }

    fn slot(&self, id: TableId) -> Arc<Slot<G>> {
        let mut slots = self.inner.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry(id).or_insert_with(|| Arc::new(Slot::new(id))).clone()
    }

    fn known(&self, id: TableId) -> Option<Arc<Slot<G>>> {
        self.inner.slots.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    fn all(&self) -> Vec<Arc<Slot<G>>> {
        let slots = self.inner.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.values().cloned().collect()
    }

    /// Reads the journals to which this process may have added what it was not told of.
    async fn read_unheard(&self) {
        let unheard = &self.inner.unheard;
        let unheard = std::mem::take(&mut *unheard.lock().unwrap_or_else(PoisonError::into_inner));
        let slots = stream::iter(unheard).filter_map(async |table| self.known(table));
        let read = |slot: Arc<Slot<G>>| async move { slot.catch_up(&self.inner).await };
        slots.for_each_concurrent(READ_AT_ONCE, read).await;
    }

    /// At the end: no table is to publish for a process that is gone.
    pub(super) async fn stop_listening(&self) {
        let slots = stream::iter(self.all());
        let stop = |slot: Arc<Slot<G>>| async move { slot.stop_listening(&self.inner).await };
        slots.for_each_concurrent(READ_AT_ONCE, stop).await;
    }

    fn has_unheard(&self) -> bool {
        !self.inner.unheard.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Forgets the copies that nobody here watches or uses.
    fn sweep(&self) {
        let mut slots = self.inner.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|_, slot| {
            Arc::strong_count(slot) > 1 || slot.is_watched() || slot.is_refused()
        });
    }
}
