//! The tables of this process: drives the hosts of `bahay-shell` on tokio, and carries out what they
//! ask for. What is decided at a table, in which order it is stored and told, and what waits, is
//! told there.
//!
//! `driver` is one table, `ledger` asks for what a table is owed, `ticker` looks for due tables,
//! `thinking` has the AI
//! that plays on for who is taken over, `presence` knows who is connected and which nodes live, `halting` carries out operators' orders,
//! and `lost` gives back the coins of games whose tables are gone.
//!
//! Deliberately absent: ownership of a table, and what a game is.

mod counts;
mod driver;
mod halting;
mod ledger;
mod lost;
mod presence;
mod room_terms;
mod ai_pool;
mod ticker;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_engine::game::Refusal;
use bahay_engine::table::{ConnectionId, Input, Readable, Rejection, Table, TableId, Terms};
use bahay_shell::{
    DirectWriter, TableError, Limits, Listing, Reply, Request, Watch, WatchRequest, write_table,
};
use futures_util::{StreamExt, stream};
use tokio::sync::{broadcast, mpsc};

use crate::clock::{Clock, Moment, Timestamp};
use crate::db::PgPool;
use crate::entropy;
use crate::ids::Tag;
use crate::ledger::Ledger;
use crate::live_store::{TableListing, LiveStore, Publication, Unavailable};
use crate::tables::driver::Driver;
use crate::tables::presence::NodePresence;
use crate::tables::room_terms::TermsSource;
use crate::tables::ai_pool::AiPool;

pub use bahay_shell::RoomTerms;
pub use counts::Counts;
pub(crate) use driver::TableContext;
pub use halting::{OperateError, ShowError, VoidOutcome};
pub use ai_pool::AI_TIMEOUT;

/// The pauses before each reading of watched journals once subscriptions have broken off.
const CATCH_UP_DELAYS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];

/// Journals read at once. A server that stands still holds up so many before others must wait.
const CONCURRENT_READS: usize = 1_024;

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
    presence: NodePresence,
    counts: Counts,
    room_terms: TermsSource<G::Rules>,
    ai_pool: AiPool<G>,
    limits: Limits,
    started_at: Moment,
    /// The tables that somebody here has looked at.
    drivers: Mutex<HashMap<TableId, Arc<Driver<G>>>>,
    /// Tables whose journal may be longer than this process knows, by what it did itself or has
    /// missed. They are read at the next look.
    stale: Mutex<Vec<TableId>>,
}

/// Why an input was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError<I: Refusal> {
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
pub enum TableReadError {
    #[error("this table was halted")]
    Halted,
    #[error("this table is for another version of the engine")]
    OtherVersion,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl<I: Refusal> From<TableError<I>> for SubmitError<I> {
    fn from(failure: TableError<I>) -> Self {
        match failure {
            TableError::Rejected(rejection) => Self::Rejected(rejection),
            TableError::Missing => Self::Missing,
            TableError::Halted => Self::Halted,
            TableError::OtherVersion => Self::OtherVersion,
            TableError::Unavailable(error) => Self::Unavailable(Unavailable::new(error.0)),
        }
    }
}

impl<I: Refusal> From<TableError<I>> for TableReadError {
    fn from(failure: TableError<I>) -> Self {
        match failure {
            TableError::Halted => Self::Halted,
            TableError::OtherVersion => Self::OtherVersion,
            TableError::Unavailable(error) => Self::Unavailable(Unavailable::new(error.0)),
            // Nothing is decided where a table is only read.
            TableError::Rejected(_) | TableError::Missing => {
                Self::Unavailable(Unavailable::new(failure.to_string()))
            }
        }
    }
}

impl<I: Refusal> From<TableReadError> for SubmitError<I> {
    fn from(error: TableReadError) -> Self {
        match error {
            TableReadError::Halted => Self::Halted,
            TableReadError::OtherVersion => Self::OtherVersion,
            TableReadError::Unavailable(error) => Self::Unavailable(error),
        }
    }
}

/// A result of [`Tables::submit`] and the like.
pub type SubmitResult<G, T> = Result<T, SubmitError<<G as bahay_engine::game::Game>::Refusal>>;

impl<G: Readable> Inner<G> {
    fn clock_of(&self, table: TableId) -> &Clock {
        self.clock_in(self.live.shard_of(table))
    }

    fn clock_in(&self, shard: u16) -> &Clock {
        &self.clocks[usize::from(shard)]
    }
}

impl<G: Readable> Tables<G> {
    /// Tables by a clock of the caller's. The house's own comes with [`Tables::start`].
    pub fn new(live: LiveStore, ledger: Ledger, clock: Clock, pool: PgPool) -> Self {
        let clocks = live.shards().map(|_| clock.clone()).collect();
        let presence = NodePresence::new(&live);
        Self::build(live, ledger, clocks, pool, presence)
    }

    /// Makes this process a node of the house, with the house's clock.
    pub async fn start(live: LiveStore, ledger: Ledger, pool: PgPool) -> Result<Self, Unavailable> {
        let (presence, clocks) = NodePresence::join(&live).await?;
        Ok(Self::build(live, ledger, clocks, pool, presence))
    }

    fn build(
        live: LiveStore,
        ledger: Ledger,
        clocks: Vec<Clock>,
        pool: PgPool,
        presence: NodePresence,
    ) -> Self {
        let queue_timeout_ms = u64::try_from(live.response_timeout().as_millis()).unwrap_or(u64::MAX);
        let inner = Inner {
            live,
            ledger,
            clocks,
            pool,
            presence,
            counts: Counts::default(),
            room_terms: TermsSource::default(),
            ai_pool: AiPool::default(),
            limits: Limits { queue_timeout_ms, ..Limits::SERVICE },
            started_at: Moment::now(),
            drivers: Mutex::default(),
            stale: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The time of the house for what is about no table: that of some shard.
    pub fn clock(&self) -> &Clock {
        let synced = self.inner.clocks.iter().find(|clock| clock.is_synced());
        synced.unwrap_or_else(|| self.inner.clock_in(0))
    }

    /// The clock that a table lives by.
    pub fn clock_of(&self, table: TableId) -> &Clock {
        self.inner.clock_of(table)
    }

    /// Returns the time at a table as it is shown: never before the table's last line, also where this
    /// process was stopped and does not know yet how late it is.
    pub fn time_at(&self, table: &Table<G>) -> Timestamp {
        self.clock_of(table.id()).now().max(table.at())
    }

    pub fn counts(&self) -> &Counts {
        &self.inner.counts
    }

    /// Has tables ask here what their rooms say. Only the first call counts.
    pub fn set_terms_source(
        &self,
        source: impl Fn(&Terms<G::Rules>, u32) -> Option<RoomTerms<G::Rules>> + Send + Sync + 'static,
    ) {
        self.inner.room_terms.set(Arc::new(source));
    }

    /// Begins so many threads that think about the moves of players who are taken over. Without any,
    /// and where a thought takes longer than this, the quick AI plays for them. Only the first call
    /// counts.
    pub fn start_ai_pool(&self, threads: u8, timeout: Duration) -> std::io::Result<()> {
        self.inner.ai_pool.start(threads, timeout)
    }

    /// Moves of players who are taken over that were given to those threads, by outcome.
    pub fn ai_outcomes(&self) -> &crate::metrics::Counts {
        self.inner.ai_pool.counts()
    }

    /// Tells the tables that this process knows what their rooms say, without waiting for
    /// something to happen there. The others hear it then.
    pub async fn update_terms(&self) {
        for driver in self.all_drivers() {
            if let Reply::Done(Err(TableError::Unavailable(error))) =
                driver.request(self, Request::UpdateTerms).await
            {
                tracing::warn!(table = %driver.id(), %error, "a table's terms update is delayed");
            }
        }
    }

    /// Tables of which this process has a copy or a watcher.
    pub fn known_tables(&self) -> usize {
        self.drivers().len()
    }

    /// Creates a table unless it exists.
    pub async fn create(&self, id: TableId, terms: Terms<G::Rules>) -> Result<(), Unavailable> {
        self.create_at_revision(id, terms, 0).await
    }

    /// The same, by the terms of a revision of its room.
    pub async fn create_at_revision(
        &self,
        id: TableId,
        terms: Terms<G::Rules>,
        revision: u32,
    ) -> Result<(), Unavailable> {
        self.create_table(&Table::new(id, terms).with_revision(revision)).await
    }

    /// Creates this table unless one of its id exists.
    pub async fn create_table(&self, table: &Table<G>) -> Result<(), Unavailable> {
        let unwritable = |error| Unavailable::new(format!("a table cannot be written: {error}"));
        let snapshot = write_table(table).map_err(unwritable)?;
        let (live, idle_ms) = (&self.inner.live, self.inner.limits.idle_ms);
        live.create(table.id(), entropy::tag(), &snapshot, idle_ms, table.engine()).await
    }

    /// Has the table decide on an input without a word about presence.
    async fn decide(
        &self,
        id: TableId,
        input: Input<G::Action>,
    ) -> Result<u64, TableError<G::Refusal>> {
        // In a box where it is done, so that nobody on the way there moves or keeps room for it.
        match Box::pin(self.driver(id).request(self, Request::Submit(input))).await {
            Reply::Submitted(submitted) => submitted,
            other => Err(unexpected_reply(&other)),
        }
    }

    /// The table as it is now; `None` when there is no such table.
    pub async fn read_table(&self, id: TableId) -> Result<Option<Arc<Table<G>>>, TableReadError> {
        match self.driver(id).request(self, Request::ReadTable).await {
            Reply::Table(table) => Ok(table?),
            other => Err(unexpected_reply::<G>(&other).into()),
        }
    }

    /// Puts the room's list right, for whoever found a table listed otherwise than it is: nodes that
    /// list it at the same time may do so in the wrong order.
    pub async fn list_again(&self, id: TableId) -> Result<(), TableReadError> {
        match self.driver(id).request(self, Request::List).await {
            Reply::Done(done) => Ok(done?),
            other => Err(unexpected_reply::<G>(&other).into()),
        }
    }

    /// Begins to watch a table by a connection. With the tag of the last line that the viewer was told, gives what
    /// was missed since, if the journal still has it.
    pub async fn watch(
        &self,
        id: TableId,
        connection: ConnectionId,
        from: Option<Tag>,
    ) -> SubmitResult<G, Watch<G>> {
        let request = WatchRequest { connection, writer: None, from };
        Ok(self.request_watch(id, request).await?)
    }

    /// The same. What the writer has written does not come among the notices.
    pub async fn watch_directly(
        &self,
        id: TableId,
        connection: ConnectionId,
        writer: Arc<dyn DirectWriter<G>>,
        from: Option<Tag>,
    ) -> Result<Watch<G>, TableError<G::Refusal>> {
        self.request_watch(id, WatchRequest { connection, writer: Some(writer), from }).await
    }

    async fn request_watch(
        &self,
        id: TableId,
        request: WatchRequest<G>,
    ) -> Result<Watch<G>, TableError<G::Refusal>> {
        // Another node may have shown the viewer what time it is, and this one's clock be behind it.
        let time = self.inner.live.shard_time(self.inner.live.shard_of(id));
        let driver = self.driver(id);
        let (time, reply) = tokio::join!(time, driver.request(self, Request::Watch(request)));
        let watched = match reply {
            Reply::Watched(watched) => watched?,
            other => return Err(unexpected_reply(&other)),
        };
        let unavailable = |error: Unavailable| bahay_shell::UnavailableError(error.into_reason());
        if let Some(time) = time.map_err(unavailable)? {
            self.clock_of(id).raise_to(time);
        }
        Ok(watched)
    }

    /// What is said at a table from here on, as long as somebody here watches it: texts that are
    /// no part of its journal. Who falls behind misses some.
    pub fn subscribe_talk(&self, id: TableId) -> broadcast::Receiver<Arc<str>> {
        self.driver(id).subscribe_talk()
    }

    /// Tells all who listen to a table a text of one line that is no part of its journal.
    pub async fn send_talk(&self, id: TableId, text: &str) -> Result<(), Unavailable> {
        self.inner.live.publish_talk(id, text).await
    }

    /// Takes in what other processes publish, until the sender is gone.
    pub async fn handle_publications(self, mut publications: mpsc::UnboundedReceiver<Publication>) {
        while let Some(publication) = publications.recv().await {
            match publication {
                Publication::Lines { table, after, lines } => {
                    if let Some(driver) = self.find_driver(table) {
                        driver.handle_publication(&self, after, &lines);
                    }
                }
                Publication::Talk { table, text } => {
                    if let Some(driver) = self.find_driver(table) {
                        driver.forward_talk(text.into());
                    }
                }
                Publication::Ended { table } => {
                    if let Some(driver) = self.find_driver(table) {
                        driver.close();
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
        for after in CATCH_UP_DELAYS {
            tokio::time::sleep(after).await;
            self.catch_up_all().await;
        }
    }

    /// Brings every replica that is watched up to its journal.
    async fn catch_up_all(&self) {
        self.request_all(|| Request::CatchUp).await;
    }

    /// At the end: no table is to publish for a process that is gone.
    pub(super) async fn stop_listening(&self) {
        self.request_all(|| Request::Unsubscribe).await;
    }

    async fn request_all(&self, request: impl Fn() -> Request<G>) {
        let requests = stream::iter(self.all_drivers()).map(|driver| {
            let request = request();
            async move {
                let id = driver.id();
                if let Reply::Done(Err(error)) = driver.request(self, request).await {
                    tracing::warn!(table = %id, %error, "a table's request failed");
                }
            }
        });
        requests.for_each_concurrent(CONCURRENT_READS, |request| request).await;
    }

    fn driver(&self, id: TableId) -> Arc<Driver<G>> {
        let mut drivers = self.drivers();
        drivers.entry(id).or_insert_with(|| Arc::new(Driver::new(id))).clone()
    }

    fn find_driver(&self, id: TableId) -> Option<Arc<Driver<G>>> {
        self.drivers().get(&id).cloned()
    }

    fn all_drivers(&self) -> Vec<Arc<Driver<G>>> {
        self.drivers().values().cloned().collect()
    }

    /// The journal of a table may be longer than this process was told.
    fn mark_stale(&self, id: TableId) {
        self.inner.stale.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    }

    /// Reads the journals that may be longer than this process was told.
    fn read_stale(&self) {
        let stale = &self.inner.stale;
        let stale = std::mem::take(&mut *stale.lock().unwrap_or_else(PoisonError::into_inner));
        for driver in stale.into_iter().filter_map(|table| self.find_driver(table)) {
            driver.handle_timeout(self);
        }
    }

    /// Forgets the tables that nobody here watches or uses.
    fn drop_unused_drivers(&self) {
        self.drivers().retain(|_, driver| Arc::strong_count(driver) > 1 || driver.is_used());
    }

    fn drivers(&self) -> MutexGuard<'_, HashMap<TableId, Arc<Driver<G>>>> {
        self.inner.drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds that this process has counted.
    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.inner.started_at.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn list(&self, table: TableId, listing: &Listing) -> Result<(), Unavailable> {
        let Listing { room, seats, has_pot, players } = listing;
        let listed = TableListing { room, seats: *seats, has_pot: *has_pot, players };
        self.inner.live.list_table(table, listed).await
    }
}

fn unexpected_reply<G: Readable>(reply: &Reply<G>) -> TableError<G::Refusal> {
    bahay_shell::UnavailableError(format!("{reply:?} is no answer to this request")).into()
}
