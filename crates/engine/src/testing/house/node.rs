//! A node: one process of the service with all that it remembers. It keeps copies of tables,
//! listens to publications, looks for due tables, says that it lives and finds those who do not.
//! When it crashes all of this is gone; when it is paused it goes on later with what it knew then.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use crate::table::{GameId, TableId, Timestamp};
use crate::testing::house::Mutation;
use crate::testing::house::connection::Connection;
use crate::testing::house::redis::{Published, Reply, Request};
use crate::testing::house::slot::{Slot, Unavailable};
use crate::testing::house::tasks::{Mailbox, Owner};
use crate::testing::house::world::{CLOCK_ERROR_MS, World};

/// How often the deadlines are looked at: the most by which a clock is late.
const LOOK_MS: u64 = 100;

/// A table that was taken and not attended to is due again after this.
const CLAIM_MS: u32 = 1_000;

/// How many looks between two readings of watched journals.
const SWEEP_EVERY: u32 = 100;

/// The pauses before each reading of watched journals once publications have broken off.
const CATCH_UP_AFTER_MS: [u64; 4] = [0, 300, 1_000, 3_000];

/// How often Redis is asked for the time, and how slow an answer may be to be believed.
const TIME_EVERY_MS: u64 = 5_000;
const TIME_WITHIN_MS: u64 = 300;

/// A process: where it runs, and which one of those that ran there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeRun {
    pub(super) place: usize,
    pub(super) run: u32,
}

/// What the subscription connection says.
pub(super) enum Publication {
    Line(Published),
    Interrupted,
}

pub(super) struct Node {
    pub(super) world: Rc<World>,
    pub(super) run: NodeRun,
    pub(super) publications: Mailbox<Publication>,
    /// It knows the time, and takes connections.
    pub(super) serves: Cell<bool>,
    /// Open games that were not found at their tables at the last look, by how many looks.
    pub(super) suspects: RefCell<BTreeMap<GameId, u32>>,
    slots: RefCell<BTreeMap<TableId, Rc<Slot>>>,
    /// The house's time less the true one: what reading it over a slow link costs.
    clock_error_ms: Cell<i64>,
    told_ms: Cell<Timestamp>,
}

impl Node {
    /// Starts a process.
    pub(super) fn start(world: &Rc<World>, place: usize) {
        let node = {
            let mut places = world.places.borrow_mut();
            let here = &mut places[place];
            here.run += 1;
            let node = Rc::new(Self {
                world: world.clone(),
                run: NodeRun { place, run: here.run },
                publications: Mailbox::new(&world.tasks),
                serves: Cell::new(false),
                suspects: RefCell::default(),
                slots: RefCell::default(),
                clock_error_ms: Cell::new(0),
                told_ms: Cell::new(Timestamp::default()),
            });
            here.node = Some(node.clone());
            node
        };
        let begun = node.clone();
        node.spawn(async move {
            begun.clone().begin().await;
        });
    }

    /// Ends a process: its memory is gone, and its connections break.
    pub(super) fn crash(world: &Rc<World>, place: usize) {
        let node = world.places.borrow_mut()[place].node.take();
        let Some(node) = node else {
            return;
        };
        world.places.borrow_mut()[place].is_paused = false;
        world.tasks.end(Owner::Node(place));
        for connection in node.connections() {
            world.break_off(&connection, world.between(0, 2_000), 0);
        }
        node.slots.borrow_mut().clear();
    }

    pub(super) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.world.spawn(Owner::Node(self.run.place), task);
    }

    /// The connections that this process serves.
    pub(super) fn connections(&self) -> Vec<Rc<Connection>> {
        let connections = self.world.connections.borrow();
        let ours = connections.values().filter(|one| one.run == self.run && !one.is_over.get());
        ours.cloned().collect()
    }

    /// Waits until it knows the time, then serves.
    async fn begin(self: Rc<Self>) {
        while !self.read_time().await {
            self.world.sleep(500).await;
        }
        self.serves.set(true);
        self.spawn(self.clone().keep_time());
        self.spawn(self.clone().listen());
        self.spawn(self.clone().tick());
        self.spawn(self.clone().beat());
        self.spawn(self.clone().void_lost_games());
    }

    /// The time of the house: that of Redis, carried on by a clock that nobody sets. Steps of the
    /// operating system's clock do not reach it. It never goes back.
    pub(super) fn now(&self) -> Timestamp {
        let error_ms = if self.world.mutation() == Some(Mutation::TrustsItsOwnClock) {
            self.world.places.borrow()[self.run.place].os_clock_ms
        } else {
            self.clock_error_ms.get()
        };
        let now = Timestamp::from_ms(self.world.timestamp().ms() + error_ms);
        self.told_ms.set(self.told_ms.get().max(now));
        self.told_ms.get()
    }

    async fn keep_time(self: Rc<Self>) {
        loop {
            self.world.sleep(TIME_EVERY_MS).await;
            self.read_time().await;
        }
    }

    /// Asks Redis for its time; the answer is half as old as the call took.
    async fn read_time(&self) -> bool {
        let asked_ms = self.world.now_ms();
        let Some(Reply::Time(read_ms)) = self.world.redis(self.run, Request::Time).await else {
            return false;
        };
        let took_ms = self.world.now_ms() - asked_ms;
        if took_ms > TIME_WITHIN_MS {
            return false;
        }
        let read_ms = i64::try_from(read_ms + took_ms / 2).unwrap_or_default();
        let now_ms = i64::try_from(self.world.now_ms()).unwrap_or_default();
        let error_ms = read_ms - now_ms;
        debug_assert!(error_ms.abs() <= CLOCK_ERROR_MS, "half of a quick call is not much");
        self.clock_error_ms.set(error_ms);
        true
    }

    /// A call to live state.
    pub(super) async fn redis(&self, request: Request) -> Result<Reply, Unavailable> {
        self.world.redis(self.run, request).await.ok_or(Unavailable)
    }

    pub(super) fn slot(&self, table: TableId) -> Rc<Slot> {
        let mut slots = self.slots.borrow_mut();
        slots.entry(table).or_insert_with(|| Rc::new(Slot::new(&self.world, table))).clone()
    }

    fn slots(&self) -> Vec<Rc<Slot>> {
        self.slots.borrow().values().cloned().collect()
    }

    /// The tables whose publications this process takes in.
    pub(super) fn watched(&self) -> Vec<TableId> {
        let slots = self.slots.borrow();
        slots.values().filter(|slot| slot.is_watched()).map(|slot| slot.id()).collect()
    }

    async fn listen(self: Rc<Self>) {
        loop {
            match self.publications.pop().await {
                Publication::Line(published) => {
                    let slot = self.slots.borrow().get(&published.table).cloned();
                    if let Some(slot) = slot {
                        slot.published(&self, &published).await;
                    }
                }
                Publication::Interrupted => self.spawn(self.clone().catch_up()),
            }
        }
    }

    async fn catch_up(self: Rc<Self>) {
        for after_ms in CATCH_UP_AFTER_MS {
            self.world.sleep(after_ms).await;
            for slot in self.slots() {
                slot.catch_up(&self).await;
            }
        }
    }

    async fn tick(self: Rc<Self>) {
        for look in 1_u32.. {
            self.world.sleep(LOOK_MS).await;
            let now_ms = self.now().ms();
            let request = Request::TakeDue { now_ms, claim_ms: CLAIM_MS };
            if let Ok(Reply::Tables(tables)) = self.redis(request).await {
                for table in tables {
                    let node = self.clone();
                    self.spawn(async move { node.attend(table).await });
                }
            }
            if look % SWEEP_EVERY == 0 {
                for slot in self.slots() {
                    slot.catch_up(&self).await;
                }
                self.slots
                    .borrow_mut()
                    .retain(|_, slot| Rc::strong_count(slot) > 1 || slot.is_watched());
            }
        }
    }
}
