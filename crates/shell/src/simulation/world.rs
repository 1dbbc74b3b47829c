//! The world of a run: virtual time, the event queue, one seeded source of randomness, the
//! services, the nodes and the connections. Time jumps from one event to the next; events of the
//! same millisecond run in the order in which they were scheduled. One seed therefore gives one
//! run, byte for byte, which the digest proves.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use uuid::Uuid;

use crate::simulation::checks::Checks;
use crate::simulation::client::ClientEvent;
use crate::simulation::connection::Connection;
use crate::simulation::link::{FAR, FAR_AND_BAD, NEAR, NEAR_AND_BAD, Quality};
use crate::simulation::node::{Node, NodeRun};
use crate::simulation::operator::PlantedPanic;
use crate::simulation::services::Services;
use crate::simulation::tasks::{Mailbox, Owner, Tasks, Wait, promise};
use crate::simulation::{Mutation, Options, RunTotals, house_terms};
use crate::{RoomTerms, Tag};
use bahay_engine::chance::ServerSeed;
use bahay_engine::games::tongits::Rules;
use bahay_engine::hex::Hex;
use bahay_engine::table::{ConnectionId, GameEntropy, GameId, TableId, Timestamp};
use bahay_engine::testing::TestRng;

/// The house's time at the start of a run, in ms since the epoch.
const EPOCH_MS: i64 = 1_800_000_000_000;

/// The number of log lines in the story of a failed run.
const STORY_LINES: usize = 80;

type Event = Box<dyn FnOnce(&Rc<World>)>;

/// A place for the processes of one node.
pub(super) struct NodeSlot {
    /// The number of processes that were started here.
    pub(super) run: u32,
    /// The running process.
    pub(super) node: Option<Rc<Node>>,
    pub(super) is_paused: bool,
    pub(super) redis_cut: bool,
    pub(super) postgres_cut: bool,
    /// The error of the operating system's clock in ms.
    pub(super) os_clock_ms: i64,
}

/// Encodes a value that is sent or stored.
pub(super) fn to_json(value: &impl serde::Serialize) -> Rc<str> {
    let text: String = serde_json::to_string(value).expect("tables and messages can be written");
    text.into()
}

/// The state of a run.
pub(super) struct World {
    pub(super) options: Options,
    pub(super) tasks: Rc<Tasks>,
    pub(super) services: RefCell<Services>,
    pub(super) node_slots: RefCell<Vec<NodeSlot>>,
    pub(super) connections: RefCell<BTreeMap<ConnectionId, Rc<Connection>>>,
    pub(super) clients: Vec<Mailbox<ClientEvent>>,
    pub(super) checks: RefCell<Checks>,
    pub(super) totals: RefCell<RunTotals>,
    /// Every link is bad.
    pub(super) is_rough: Cell<bool>,
    /// No client begins another game.
    pub(super) is_closing: Cell<bool>,
    /// No player leaves, drops or misses a countdown on purpose.
    pub(super) is_calm: Cell<bool>,
    /// The current terms of the room of all tables.
    pub(super) room: RefCell<RoomTerms<Rules>>,
    /// The tables at which the engine panics until an operator has repaired them.
    pub(super) panicking_tables: RefCell<BTreeMap<TableId, PlantedPanic>>,
    /// The time until which nodes may be declared dead wrongly.
    pub(super) doubt_until_ms: Cell<u64>,
    now_ms: Cell<u64>,
    events: RefCell<BTreeMap<(u64, u64), Event>>,
    next_sequence: Cell<u64>,
    ids: Cell<u64>,
    dice: RefCell<TestRng>,
    failure: RefCell<Option<String>>,
    digest: Cell<u64>,
    story: RefCell<VecDeque<String>>,
}

impl World {
    pub(super) fn new(options: Options) -> Rc<Self> {
        let tasks = Rc::new(Tasks::default());
        let slot = |_| NodeSlot {
            run: 0,
            node: None,
            is_paused: false,
            redis_cut: false,
            postgres_cut: false,
            os_clock_ms: 0,
        };
        Rc::new(Self {
            options,
            services: RefCell::new(Services::new()),
            node_slots: RefCell::new((0..options.nodes).map(slot).collect()),
            connections: RefCell::default(),
            clients: (0..options.players).map(|_| Mailbox::new(&tasks)).collect(),
            tasks,
            checks: RefCell::default(),
            totals: RefCell::default(),
            is_rough: Cell::new(false),
            is_closing: Cell::new(false),
            is_calm: Cell::new(false),
            room: RefCell::new(RoomTerms {
                revision: 0,
                is_open: true,
                terms: house_terms(options),
            }),
            panicking_tables: RefCell::default(),
            doubt_until_ms: Cell::new(0),
            now_ms: Cell::new(0),
            events: RefCell::default(),
            next_sequence: Cell::new(0),
            ids: Cell::new(0),
            dice: RefCell::new(TestRng::new(options.seed)),
            failure: RefCell::default(),
            digest: Cell::new(0xcbf2_9ce4_8422_2325),
            story: RefCell::default(),
        })
    }

    pub(super) fn mutation(&self) -> Option<Mutation> {
        self.options.mutation
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    /// Returns the house's true time.
    pub(super) fn timestamp(&self) -> Timestamp {
        self.timestamp_at(self.now_ms())
    }

    /// Returns the house's time at this point of the run.
    pub(super) fn timestamp_at(&self, now_ms: u64) -> Timestamp {
        let ms = i64::try_from(now_ms).expect("the time of a run fits an i64");
        Timestamp::from_ms(EPOCH_MS + ms)
    }

    /// Schedules an event.
    pub(super) fn schedule(&self, after_ms: u64, event: impl FnOnce(&Rc<Self>) + 'static) {
        let sequence = self.next_sequence.get();
        self.next_sequence.set(sequence + 1);
        self.events.borrow_mut().insert((self.now_ms() + after_ms, sequence), Box::new(event));
    }

    pub(super) fn sleep(&self, ms: u64) -> Wait<()> {
        let (promise, wait) = promise(&self.tasks);
        self.schedule(ms, move |_| promise.resolve(()));
        wait
    }

    pub(super) fn spawn(&self, owner: Owner, task: impl Future<Output = ()> + 'static) {
        self.tasks.spawn(owner, task);
    }

    /// Runs the world until a time, or until a check fails.
    pub(super) fn run_until(self: &Rc<Self>, until_ms: u64) -> Result<(), String> {
        loop {
            self.tasks.run();
            if let Some(failure) = self.failure.borrow_mut().take() {
                return Err(failure);
            }
            let next = self.events.borrow().first_key_value().map(|(key, _)| *key);
            let Some(key) = next.filter(|(at_ms, _)| *at_ms <= until_ms) else {
                self.now_ms.set(until_ms);
                return Ok(());
            };
            let event = self.events.borrow_mut().remove(&key).expect("the event was just found");
            self.now_ms.set(key.0);
            self.update_digest(&key.0.to_le_bytes());
            self.update_digest(&key.1.to_le_bytes());
            event(self);
        }
    }

    /// Reports a violation. The first one ends the run.
    pub(super) fn fail(&self, what: String) {
        self.failure.borrow_mut().get_or_insert(what);
    }

    /// Reports a failed check.
    pub(super) fn check(&self, checked: Result<(), String>) {
        if let Err(what) = checked {
            self.fail(what);
        }
    }

    /// Adds bytes to the digest of the run.
    pub(super) fn update_digest(&self, bytes: &[u8]) {
        let mix =
            |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.digest.set(bytes.iter().fold(self.digest.get(), mix));
    }

    pub(super) fn digest(&self) -> u64 {
        self.digest.get()
    }

    /// Logs an event for the story of a failed run.
    pub(super) fn log(&self, what: impl FnOnce() -> String) {
        if !self.options.keeps_story {
            return;
        }
        let mut story = self.story.borrow_mut();
        if story.len() == STORY_LINES {
            story.pop_front();
        }
        let now_ms = self.now_ms();
        story.push_back(format!("{:>6}.{:03} {}", now_ms / 1_000, now_ms % 1_000, what()));
    }

    pub(super) fn story(&self) -> Vec<String> {
        self.story.borrow_mut().drain(..).collect()
    }

    pub(super) fn random_below(&self, n: u32) -> u32 {
        self.dice.borrow_mut().below(n)
    }

    pub(super) fn random_between(&self, least: u32, most: u32) -> u64 {
        u64::from(least + self.random_below(most - least + 1))
    }

    pub(super) fn chance(&self, share: u32) -> bool {
        self.random_below(1_000) < share
    }

    pub(super) fn draw_arrivals(&self, quality: &Quality) -> arrayvec::ArrayVec<u64, 2> {
        quality.arrivals(&mut self.dice.borrow_mut())
    }

    /// Returns the quality of links between nodes and services.
    pub(super) fn near_link(&self) -> Quality {
        if self.is_rough.get() { NEAR_AND_BAD } else { NEAR }
    }

    /// Returns the quality of links between clients and nodes.
    pub(super) fn far_link(&self) -> Quality {
        if self.is_rough.get() { FAR_AND_BAD } else { FAR }
    }

    /// Returns an unused id.
    pub(super) fn new_id(&self) -> Uuid {
        self.ids.set(self.ids.get() + 1);
        Uuid::from_u64_pair(self.dice.borrow_mut().word(), self.ids.get())
    }

    /// Returns the entropy of a new game.
    pub(super) fn new_game_secrets(&self) -> GameEntropy {
        let mut dice = self.dice.borrow_mut();
        let bytes = std::array::from_fn(|_| dice.word().to_le_bytes()[0]);
        drop(dice);
        GameEntropy { seed: ServerSeed(Hex(bytes)), game: GameId(self.new_id()) }
    }

    /// Returns the tag of a new line.
    pub(super) fn new_tag(&self) -> Tag {
        self.ids.set(self.ids.get() + 1);
        let [_, _, tag @ ..] = self.ids.get().to_be_bytes();
        Tag(Hex(tag))
    }

    /// Returns the node of this run, if it is still running.
    pub(super) fn find_node(&self, run: NodeRun) -> Option<Rc<Node>> {
        let slots = self.node_slots.borrow();
        let node = slots.get(run.slot)?.node.as_ref()?;
        (node.run == run).then(|| node.clone())
    }

    /// Allows that live nodes are declared dead for some time from now.
    pub(super) fn extend_doubt(&self, ms: u64) {
        let until_ms = self.now_ms() + ms;
        self.doubt_until_ms.set(self.doubt_until_ms.get().max(until_ms));
    }

    /// Cancels all tasks, so that nothing references the world.
    pub(super) fn shut_down(&self) {
        self.node_slots.borrow_mut().clear();
        self.tasks.clear();
        self.events.borrow_mut().clear();
        self.connections.borrow_mut().clear();
        self.services.borrow_mut().clear();
    }
}
