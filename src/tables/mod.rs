//! The tables of this process: drives the hosts of `bahay-shell` on tokio and performs their calls.
//! The shell decides the order of decisions, appends and deliveries, and the queueing of requests.
//!
//! `driver` drives one table, `ledger` performs ledger calls, `ticker` runs due tables, `ai_pool`
//! chooses actions for taken-over seats, `presence` sends heartbeats and tracks connections,
//! `halting` carries out operators' orders, and `lost` voids games whose tables are gone.
//!
//! Out of scope: the ownership of tables, and the rules of games.

mod ai_pool;
mod counts;
mod driver;
mod halting;
mod ledger;
mod lost;
mod presence;
mod room_terms;
mod ticker;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_bots::Ai;
use bahay_engine::table::{ConnectionId, Input, Readable, Table, TableId, Terms};
use bahay_shell::{
    DirectWriter, Limits, Listing, Reply, Request, UnavailableError, Watch, WatchRequest,
    write_table,
};
use futures_util::{StreamExt, stream};
use tokio::sync::{Notify, broadcast, mpsc};

use crate::clock::{Clock, Moment, Timestamp};
use crate::db::PgPool;
use crate::entropy;
use crate::ids::Tag;
use crate::ledger::Ledger;
use crate::live_store::{LiveStore, Publication, TableListing, Unavailable};
use crate::tables::ai_pool::AiPool;
use crate::tables::driver::Driver;
use crate::tables::presence::NodePresence;

pub use ai_pool::AI_TIMEOUT;
pub use bahay_shell::HaltCause;
pub use bahay_shell::{RoomTerms, TableError};
pub use counts::Counts;
pub(crate) use driver::TableContext;
pub use halting::{OperateError, ShowError, VoidedTable};
pub use room_terms::TermsSource;

/// The pauses before each read of the watched journals after subscriptions were interrupted.
const CATCH_UP_DELAYS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];

/// The number of concurrent journal reads. A stalled server holds up this many before others must
/// wait.
const CONCURRENT_READS: usize = 1_024;

/// The tables of the process. Clones share all state.
#[derive(Clone, Debug)]
pub struct Tables<G: Ai + Readable> {
    inner: Arc<Inner<G>>,
}

#[derive(Debug)]
struct Inner<G: Ai + Readable> {
    live: LiveStore,
    ledger: Ledger,
    /// Indexed by shard, because each shard may be on another server.
    clocks: Vec<Clock>,
    /// For records of halted tables and the search for lost games.
    pool: PgPool,
    presence: NodePresence,
    counts: Counts,
    room_terms: TermsSource<G::Rules>,
    ai_pool: AiPool<G>,
    limits: Limits,
    started_at: Moment,
    /// The drivers of the tables that this process has used.
    drivers: Mutex<HashMap<TableId, Arc<Driver<G>>>>,
    /// Tables whose journal may have lines that this process has not received, after its own
    /// abandoned appends or missed publications. They are read at the next tick.
    stale: Mutex<Vec<TableId>>,
    /// Wakes the runner of tournaments after each of their games.
    tournament_games: Notify,
}

/// The result of a request to a table.
pub type TableResult<G, T> = Result<T, TableError<<G as bahay_engine::game::Game>::Refusal>>;

impl<G: Ai + Readable> Inner<G> {
    fn clock_in(&self, shard: u16) -> &Clock {
        &self.clocks[usize::from(shard)]
    }
}

impl<G: Ai + Readable> Tables<G> {
    /// Creates tables with the caller's clock. [`Tables::start`] uses the house's clock.
    pub fn new(
        live: LiveStore,
        ledger: Ledger,
        clock: Clock,
        pool: PgPool,
        room_terms: TermsSource<G::Rules>,
    ) -> Self {
        let clocks = live.shards().map(|_| clock.clone()).collect();
        let presence = NodePresence::new(&live);
        Self::build(live, ledger, clocks, pool, presence, room_terms)
    }

    /// Joins this process to the house as a node, with the house's clock.
    pub async fn start(
        live: LiveStore,
        ledger: Ledger,
        pool: PgPool,
        room_terms: TermsSource<G::Rules>,
    ) -> Result<Self, Unavailable> {
        let (presence, clocks) = NodePresence::join(&live).await?;
        Ok(Self::build(live, ledger, clocks, pool, presence, room_terms))
    }

    fn build(
        live: LiveStore,
        ledger: Ledger,
        clocks: Vec<Clock>,
        pool: PgPool,
        presence: NodePresence,
        room_terms: TermsSource<G::Rules>,
    ) -> Self {
        let queue_timeout_ms =
            u64::try_from(live.response_timeout().as_millis()).unwrap_or(u64::MAX);
        let inner = Inner {
            live,
            ledger,
            clocks,
            pool,
            presence,
            counts: Counts::default(),
            room_terms,
            ai_pool: AiPool::default(),
            limits: Limits { queue_timeout_ms, ..Limits::SERVICE },
            started_at: Moment::now(),
            drivers: Mutex::default(),
            stale: Mutex::default(),
            tournament_games: Notify::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the clock for work that concerns no table: that of any shard with a reading.
    pub fn clock(&self) -> &Clock {
        let synced = self.inner.clocks.iter().find(|clock| clock.is_synced());
        synced.unwrap_or_else(|| self.inner.clock_in(0))
    }

    /// Returns the clock of a table's shard.
    pub fn clock_of(&self, table: TableId) -> &Clock {
        self.inner.clock_in(self.inner.live.shard_of(table))
    }

    /// Returns the time of a table as shown to viewers: never before the table's last line, even if
    /// this process was suspended and its clock is behind.
    pub fn time_at(&self, table: &Table<G>) -> Timestamp {
        self.clock_of(table.id()).now().max(table.last_line_at())
    }

    pub fn counts(&self) -> &Counts {
        &self.inner.counts
    }

    /// Starts the workers that choose actions for taken-over seats. Without workers, or after the
    /// timeout, the quick AI acts. Only the first call has an effect.
    pub fn start_ai_pool(&self, threads: u8, timeout: Duration) -> std::io::Result<()> {
        self.inner.ai_pool.start(threads, timeout)
    }

    /// Returns the numbers of AI requests, by outcome.
    pub fn ai_outcomes(&self) -> &crate::metrics::CounterFamily {
        self.inner.ai_pool.counts()
    }

    /// Updates the terms of the tables in this process at once. Other tables update theirs before
    /// their next input.
    pub async fn update_terms(&self) {
        for driver in self.all_drivers() {
            if let Reply::Done(Err(TableError::Unavailable(error))) =
                driver.request(self, Request::UpdateTerms).await
            {
                tracing::warn!(table = %driver.id(), %error, "a table's terms update is delayed");
            }
        }
    }

    /// Returns the number of tables with a replica or a watcher in this process.
    pub fn known_tables(&self) -> usize {
        self.drivers().len()
    }

    /// Creates a table unless it exists.
    pub async fn create(&self, id: TableId, terms: Terms<G::Rules>) -> Result<(), Unavailable> {
        self.create_at_revision(id, terms, 0).await
    }

    /// Creates a table with the terms of a revision of its room.
    pub async fn create_at_revision(
        &self,
        id: TableId,
        terms: Terms<G::Rules>,
        revision: u32,
    ) -> Result<(), Unavailable> {
        self.create_table(&Table::new(id, terms).with_revision(revision)).await
    }

    /// Creates this table unless one with its id exists.
    pub async fn create_table(&self, table: &Table<G>) -> Result<(), Unavailable> {
        let unwritable = |error| Unavailable::new(format!("a table cannot be written: {error}"));
        let snapshot = write_table(table).map_err(unwritable)?;
        let live = &self.inner.live;
        let idle_ms = self.inner.limits.idle_ms;
        live.create(table.id(), entropy::tag(), &snapshot, idle_ms, table.engine()).await
    }

    /// Decides on an input, without updating presence.
    async fn decide(&self, id: TableId, input: Input<G::Action>) -> TableResult<G, u64> {
        // Boxed here, so that the callers' futures do not reserve space for it.
        match Box::pin(self.driver(id).request(self, Request::Submit(input))).await {
            Reply::Submitted(submitted) => submitted,
            other => Err(unexpected_reply(&other)),
        }
    }

    /// Reads the current table; `None` if it does not exist.
    pub async fn read_table(&self, id: TableId) -> TableResult<G, Option<Arc<Table<G>>>> {
        match self.driver(id).request(self, Request::ReadTable).await {
            Reply::Table(table) => table,
            other => Err(unexpected_reply(&other)),
        }
    }

    /// Corrects a table's entry in the list of its room. Nodes that list a table concurrently may
    /// do so in the wrong order; the reader that finds a wrong entry corrects it.
    pub async fn refresh_listing(&self, id: TableId) -> TableResult<G, ()> {
        match self.driver(id).request(self, Request::List).await {
            Reply::Done(done) => done,
            other => Err(unexpected_reply(&other)),
        }
    }

    /// Watches a table by a connection. With the tag of the last line that the viewer received,
    /// also returns the lines since, if the journal still has them.
    pub async fn watch(
        &self,
        id: TableId,
        connection: ConnectionId,
        from: Option<Tag>,
    ) -> TableResult<G, Watch<G>> {
        self.request_watch(id, WatchRequest { connection, writer: None, from }).await
    }

    /// Watches a table with a direct writer. Lines that the writer delivers are not queued as
    /// notices.
    pub async fn watch_directly(
        &self,
        id: TableId,
        connection: ConnectionId,
        writer: Arc<dyn DirectWriter<G>>,
        from: Option<Tag>,
    ) -> TableResult<G, Watch<G>> {
        self.request_watch(id, WatchRequest { connection, writer: Some(writer), from }).await
    }

    async fn request_watch(
        &self,
        id: TableId,
        request: WatchRequest<G>,
    ) -> TableResult<G, Watch<G>> {
        // Another node may have shown the viewer a time that is ahead of this node's clock.
        let time = self.inner.live.shard_time(self.inner.live.shard_of(id));
        let driver = self.driver(id);
        let (time, reply) = tokio::join!(time, driver.request(self, Request::Watch(request)));
        let watched = match reply {
            Reply::Watched(watched) => watched?,
            other => return Err(unexpected_reply(&other)),
        };
        if let Some(time) = time.map_err(to_unavailable)? {
            self.clock_of(id).raise_to(time);
        }
        Ok(watched)
    }

    /// Subscribes to the talk at a table, which is not part of its journal, while a watcher of this
    /// process subscribes to the table. A slow receiver loses messages.
    pub fn subscribe_talk(&self, id: TableId) -> broadcast::Receiver<Arc<str>> {
        self.driver(id).subscribe_talk()
    }

    /// Sends a talk message of one line to all receivers at a table, on every node.
    pub async fn send_talk(&self, id: TableId, text: &str) -> TableResult<G, ()> {
        Ok(self.inner.live.publish_talk(id, text).await.map_err(to_unavailable)?)
    }

    /// Handles publications of other processes, until the sender is dropped.
    pub async fn handle_publications(self, mut publications: mpsc::UnboundedReceiver<Publication>) {
        while let Some(publication) = publications.recv().await {
            match publication {
                Publication::Lines { table, after, lines } => {
                    if let Some(driver) = self.find_driver(table) {
                        driver.with_host(&self, |host, ctx| {
                            host.handle_publication(ctx, after, &lines);
                        });
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

    /// Reads the watched journals after publications may have been missed. Lines that are published
    /// before the subscriptions are restored are missed too, so the journals are read several
    /// times.
    async fn catch_up(self) {
        for after in CATCH_UP_DELAYS {
            tokio::time::sleep(after).await;
            self.catch_up_all().await;
        }
    }

    /// Brings every watched replica up to its journal.
    async fn catch_up_all(&self) {
        self.request_all(|| Request::CatchUp).await;
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

    /// Marks a table whose journal may have lines that this process has not received.
    fn mark_stale(&self, id: TableId) {
        self.inner.stale.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    }

    /// Reads the journals of the marked tables.
    fn read_stale(&self) {
        let stale = &self.inner.stale;
        let stale = std::mem::take(&mut *stale.lock().unwrap_or_else(PoisonError::into_inner));
        for driver in stale.into_iter().filter_map(|table| self.find_driver(table)) {
            driver.with_host(self, |host, ctx| host.handle_timeout(ctx));
        }
    }

    /// Drops the drivers of tables that this process neither watches nor uses.
    fn drop_unused_drivers(&self) {
        self.drivers().retain(|_, driver| Arc::strong_count(driver) > 1 || driver.is_used());
    }

    fn drivers(&self) -> MutexGuard<'_, HashMap<TableId, Arc<Driver<G>>>> {
        self.inner.drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the ms since the start of the process.
    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.inner.started_at.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn list(&self, table: TableId, listing: &Listing) -> Result<(), Unavailable> {
        let Listing { room, seats, has_pot, players } = listing;
        let listed = TableListing { room, seats: *seats, has_pot: *has_pot, players };
        self.inner.live.list_table(table, listed).await
    }
}

/// Returns an error of live state as the shell has it.
fn to_unavailable(error: Unavailable) -> UnavailableError {
    UnavailableError(error.into_reason())
}

fn unexpected_reply<G: Ai + Readable>(reply: &Reply<G>) -> TableError<G::Refusal> {
    UnavailableError(format!("{reply:?} is no answer to this request")).into()
}
