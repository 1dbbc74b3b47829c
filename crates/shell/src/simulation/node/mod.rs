//! A node: one process of the service with its memory. It keeps replicas, handles publications,
//! runs due tables, sends heartbeats and reaps dead nodes. A crash loses all of its memory; a
//! paused node resumes later with stale memory.

mod driver;
mod lobby;
mod presence;
mod session;
mod writer;

use core::time::Duration;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use crate::simulation::connection::Connection;
use crate::simulation::services::postgres::{LedgerReply, Operation};
use crate::simulation::services::redis::{Published, Reply, Request as RedisRequest};
use crate::simulation::tasks::{Mailbox, Owner, Promise};
use crate::simulation::{Mutation, NodeRun, SimulatedGame, World};
use crate::{
    LostGames, NodeId, Presence, Request, RequestTicket, RoomTerms, SyncedClock, TableHost,
    UnavailableError,
};
use bahay_engine::table::{TableId, Timestamp};

use writer::DirectMessage;

pub(super) use driver::LIMITS;

/// The interval of the search for due tables: the most by which a countdown is late.
const TICK_MS: u64 = 100;

/// A due table that was claimed and not handled is due again after this time.
const CLAIM_MS: u32 = 1_000;

/// The number of ticks between two reads of the watched journals.
const SWEEP_EVERY: u32 = 100;

/// The pauses before each read of the watched journals after publications were interrupted.
const CATCH_UP_AFTER_MS: [u64; 4] = [0, 300, 1_000, 3_000];

/// The interval of time requests, and the longer one of a mutation, whose clock stops for a while
/// before each response.
const TIME_EVERY_MS: u64 = 1_000;
const TIME_SELDOM_MS: u64 = 2_900;

/// The interval of the search for lost games, and the least age of such a game.
const VOID_EVERY_MS: u64 = 5_000;
const VOID_AFTER_MS: u64 = 10_000;

/// An event of the subscription connection.
pub(super) enum Publication {
    Published(Published),
    Interrupted,
}

/// One table in one node.
pub(super) struct Slot<G: SimulatedGame> {
    pub(super) id: TableId,
    pub(super) host: RefCell<TableHost<G>>,
    waiting: RefCell<BTreeMap<RequestTicket, Promise<()>>>,
}

/// One process of the service.
pub(super) struct Node<G: SimulatedGame> {
    pub(super) world: Rc<World<G>>,
    pub(super) run: NodeRun,
    pub(super) publications: Mailbox<Publication>,
    /// The node knows the time and accepts connections.
    pub(super) serves: Cell<bool>,
    /// Direct updates of tables that are to be sent.
    pub(super) written: Arc<Mutex<Vec<DirectMessage<G>>>>,
    /// Tables whose journals may have lines that this process will not receive. They are read at
    /// the next tick.
    pub(super) stale: RefCell<BTreeSet<TableId>>,
    pub(super) presence: RefCell<Presence>,
    /// The last heartbeat had no response.
    pub(super) is_down: Cell<bool>,
    lost: RefCell<LostGames>,
    /// The known terms of each revision of the room, and since when.
    room: RefCell<Vec<(RoomTerms<G::Rules>, u64)>>,
    slots: RefCell<BTreeMap<TableId, Rc<Slot<G>>>>,
    /// The house's time, and the offset that a mutation adds.
    clock: RefCell<SyncedClock>,
    ahead_ms: Cell<u32>,
}

impl<G: SimulatedGame> Node<G> {
    /// Starts a process.
    pub(super) fn start(world: &Rc<World<G>>, slot: usize) {
        let node = {
            let mut slots = world.node_slots.borrow_mut();
            let state = &mut slots[slot];
            state.run += 1;
            let node = Rc::new(Self {
                world: world.clone(),
                run: NodeRun { slot, run: state.run },
                publications: Mailbox::new(&world.tasks),
                serves: Cell::new(false),
                written: Arc::default(),
                stale: RefCell::default(),
                presence: RefCell::new(Presence::new(NodeId(world.new_id()), 1)),
                lost: RefCell::default(),
                is_down: Cell::new(false),
                room: RefCell::new(vec![(world.room.borrow().clone(), world.now_ms())]),
                slots: RefCell::default(),
                clock: RefCell::new(SyncedClock::unsynced()),
                ahead_ms: Cell::new(0),
            });
            state.node = Some(node.clone());
            node
        };
        node.spawn(node.clone().boot());
    }

    /// Ends a process: its memory is lost and its connections break.
    pub(super) fn crash(world: &Rc<World<G>>, slot: usize) {
        let node = world.node_slots.borrow_mut()[slot].node.take();
        let Some(node) = node else {
            return;
        };
        world.node_slots.borrow_mut()[slot].is_paused = false;
        world.tasks.cancel_all(Owner::Node(slot));
        for connection in node.connections() {
            world.break_off(&connection, world.random_between((0, 2_000)), 0);
        }
        node.slots.borrow_mut().clear();
    }

    pub(super) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.world.spawn(Owner::Node(self.run.slot), task);
    }

    /// Returns the open connections of this process.
    pub(super) fn connections(&self) -> Vec<Rc<Connection>> {
        let connections = self.world.connections.borrow();
        let ours = connections.values().filter(|one| one.run == self.run && !one.is_over.get());
        ours.cloned().collect()
    }

    /// Closes all connections, because the process ends.
    pub(super) fn close_connections(&self) {
        for connection in self.connections() {
            connection.close(&self.world);
            connection.frames.push(None);
        }
    }

    /// Waits until the node knows the time, then serves.
    async fn boot(self: Rc<Self>) {
        while !self.read_time().await {
            self.world.sleep(500).await;
        }
        self.serves.set(true);
        self.spawn(self.clone().poll_time());
        self.spawn(self.clone().handle_publications());
        self.spawn(self.clone().tick());
        self.spawn(self.clone().run_heartbeats());
        self.spawn(self.clone().void_lost_games());
    }

    /// Returns the house's time: that of Redis, advanced by a monotonic clock. Steps of the
    /// operating system's clock do not affect it.
    pub(super) fn time(&self) -> Timestamp {
        let now = self.clock.borrow().now(self.elapsed()).after_ms(self.ahead_ms.get());
        if self.world.has_mutation(Mutation::TrustsItsOwnClock) {
            let step_ms = self.world.node_slots.borrow()[self.run.slot].os_clock_ms;
            return Timestamp::from_ms(now.ms() + step_ms);
        }
        now
    }

    /// Returns true if the clock shows the time: there was a reading, and the process was not
    /// suspended since.
    pub(super) fn has_time(&self) -> bool {
        self.clock.borrow().is_current(self.elapsed())
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.world.now_ms())
    }

    /// Adds an offset to the clock, for a mutation.
    pub(super) fn run_ahead(&self, by_ms: u32) {
        self.ahead_ms.set(self.ahead_ms.get() + by_ms);
    }

    /// Requests the time at intervals, without waiting for the previous response.
    async fn poll_time(self: Rc<Self>) {
        loop {
            let is_seldom = self.world.has_mutation(Mutation::JoinsByItsOwnTime);
            self.world.sleep(if is_seldom { TIME_SELDOM_MS } else { TIME_EVERY_MS }).await;
            let node = self.clone();
            self.spawn(async move {
                node.read_time().await;
            });
        }
    }

    /// Reads the time into the clock; false without a response.
    async fn read_time(&self) -> bool {
        let requested_at = self.elapsed();
        self.clock.borrow_mut().record_request(requested_at);
        let Some(Reply::Time(read_ms)) = self.world.call_redis(self.run, RedisRequest::Time).await
        else {
            return false;
        };
        let time = self.world.timestamp_at(read_ms);
        self.clock.borrow_mut().record_time(time, requested_at, self.elapsed());
        true
    }

    /// Raises the clock to Redis' current time, for a client that saw the time on another node.
    pub(super) async fn catch_up_time(&self) -> Result<(), UnavailableError> {
        let Reply::Time(read_ms) = self.call_redis(RedisRequest::Time).await? else {
            return Err(UnavailableError("not a response to a time request".into()));
        };
        let time = self.world.timestamp_at(read_ms);
        self.clock.borrow_mut().raise_to(time, self.elapsed());
        Ok(())
    }

    /// Calls live state.
    pub(super) async fn call_redis(
        &self,
        request: RedisRequest,
    ) -> Result<Reply, UnavailableError> {
        let reply = self.world.call_redis(self.run, request).await;
        reply.ok_or_else(|| UnavailableError("no answer".into()))
    }

    /// Calls the ledger.
    pub(super) async fn call_ledger(
        &self,
        operation: Operation<G>,
    ) -> Result<LedgerReply, UnavailableError> {
        match self.world.call_postgres(self.run, operation).await {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(refusal)) => Err(UnavailableError(format!("{refusal:?}"))),
            None => Err(UnavailableError("no answer".into())),
        }
    }

    /// Returns the room's terms as this process knows them.
    pub(super) fn room(&self) -> RoomTerms<G::Rules> {
        self.room.borrow().last().expect("a process begins with a room").0.clone()
    }

    /// Returns the newest revision that this process has known for at least `ms`.
    pub(super) fn room_known_for(&self, ms: u64) -> u32 {
        let room = self.room.borrow();
        let now_ms = self.world.now_ms();
        let known = room.iter().rev().find(|(_, since_ms)| since_ms + ms <= now_ms);
        known.map_or(0, |(room, _)| room.revision)
    }

    /// Reads the room's terms and updates the known tables.
    pub(super) fn refresh_room(self: &Rc<Self>) {
        let now = self.world.room.borrow().clone();
        let now_ms = self.world.now_ms();
        self.room.borrow_mut().push((now, now_ms));
        let node = self.clone();
        self.spawn(async move {
            for slot in node.slots() {
                node.send_request(&slot, Request::UpdateTerms).await;
            }
        });
    }

    pub(super) fn slot(&self, table: TableId) -> Rc<Slot<G>> {
        let mut slots = self.slots.borrow_mut();
        let slot = slots.entry(table).or_insert_with(|| {
            let host = RefCell::new(TableHost::new(table));
            Rc::new(Slot { id: table, host, waiting: RefCell::default() })
        });
        slot.clone()
    }

    pub(super) fn find_slot(&self, table: TableId) -> Option<Rc<Slot<G>>> {
        self.slots.borrow().get(&table).cloned()
    }

    pub(super) fn slots(&self) -> Vec<Rc<Slot<G>>> {
        self.slots.borrow().values().cloned().collect()
    }

    /// Returns the tables whose publications this process receives.
    pub(super) fn subscribed_tables(&self) -> Vec<TableId> {
        let slots = self.slots.borrow();
        let watched = slots.values().filter(|slot| slot.host.borrow().is_subscribed());
        watched.map(|slot| slot.id).collect()
    }

    async fn handle_publications(self: Rc<Self>) {
        loop {
            match self.publications.pop().await {
                Publication::Published(published) => {
                    let Some(slot) = self.find_slot(published.table()) else {
                        continue;
                    };
                    match &published {
                        Published::Line { after, entry, .. } => {
                            let lines = std::slice::from_ref(entry);
                            slot.host.borrow_mut().handle_publication(&*self, *after, lines);
                        }
                        Published::Ended { .. } => slot.host.borrow_mut().close(),
                    }
                    self.drain_outputs(&slot);
                }
                Publication::Interrupted => self.spawn(self.clone().catch_up()),
            }
        }
    }

    async fn catch_up(self: Rc<Self>) {
        for after_ms in CATCH_UP_AFTER_MS {
            self.world.sleep(after_ms).await;
            self.catch_up_all().await;
        }
    }

    async fn catch_up_all(self: &Rc<Self>) {
        for slot in self.slots() {
            self.send_request(&slot, Request::CatchUp).await;
        }
    }

    async fn tick(self: Rc<Self>) {
        for tick in 1_u32.. {
            self.world.sleep(TICK_MS).await;
            for table in std::mem::take(&mut *self.stale.borrow_mut()) {
                if let Some(slot) = self.find_slot(table) {
                    slot.host.borrow_mut().handle_timeout(&*self);
                    self.drain_outputs(&slot);
                }
            }
            let now_ms = self.time().ms();
            let request = RedisRequest::TakeDue { now_ms, claim_ms: CLAIM_MS };
            if let Ok(Reply::Tables(tables)) = self.call_redis(request).await {
                for table in tables {
                    let node = self.clone();
                    self.spawn(async move {
                        node.send_request(&node.slot(table), Request::RunEffects).await;
                    });
                }
            }
            if tick % SWEEP_EVERY == 0 {
                self.catch_up_all().await;
                self.slots
                    .borrow_mut()
                    .retain(|_, slot| Rc::strong_count(slot) > 1 || slot.host.borrow().is_used());
            }
        }
    }

    /// Checks at intervals that every open game is the game of its table.
    async fn void_lost_games(self: Rc<Self>) {
        self.world.sleep(self.world.random_between((0, 5_000))).await;
        loop {
            self.world.sleep(VOID_EVERY_MS).await;
            if !self.world.has_mutation(Mutation::NeverVoids)
                && self.void_lost_round().await.is_err()
            {
                self.lost.borrow_mut().abort_round();
            }
        }
    }

    async fn void_lost_round(self: &Rc<Self>) -> Result<(), UnavailableError> {
        let open = Operation::OpenGames { longer_than_ms: VOID_AFTER_MS };
        let LedgerReply::Games(games) = self.call_ledger(open).await? else {
            unreachable!("the operation returns games");
        };
        for (game, table) in games {
            // Without a response, nothing is concluded.
            let Ok(Reply::Flag(exists)) = self.call_redis(RedisRequest::Exists { table }).await
            else {
                continue;
            };
            let is_played = exists
                && match self.read_table(table).await {
                    Ok(found) => found.is_some_and(|table| table.phase().game() == Some(game)),
                    Err(_) => true,
                };
            if !is_played && self.lost.borrow_mut().mark_missing(game) {
                self.world.call_postgres(self.run, Operation::Void { game }).await;
            }
        }
        self.lost.borrow_mut().finish_round();
        Ok(())
    }
}
