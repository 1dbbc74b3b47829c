//! Whole tournaments in virtual time: several nodes run the host of [`crate::tournaments`] over one
//! tournament, as the service does, while they are killed, race each other, and lose calls and
//! answers. Everything is derived from a seed.
//!
//! The tournament and its host are the real ones; `node` performs the calls of the host as
//! `src/tournaments` does. PostgreSQL (`database`: the journal with the ledger, passes and stored
//! games in its transactions) and live state with its tables (`tables`) are models, and the tables
//! play by chance. During the run and at its end, `checks` compares the journal, the ledger, the
//! games and the replicas of the nodes. A [`TournamentMutation`] breaks one part of the house, to
//! prove that the checks detect it.
//!
//! Out of scope: the games of tables, announcements, private codes, notices and reminders.

mod checks;
mod database;
mod node;
mod options;
mod players;
mod tables;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use bahay_engine::chance::ServerSeed;
use bahay_engine::hex::Hex;
use bahay_engine::table::Timestamp;
use bahay_engine::testing::{ANNOUNCED_MS, TestRng};
use bahay_engine::tournament::{Line, Rejection, Tournament, TournamentId};
use uuid::Uuid;

use super::tasks::{Owner, Promise, Tasks, Wait, promise};

use database::Database;
use node::Node;
use tables::LiveTables;

pub use options::{TournamentMutation, TournamentOptions};

/// The virtual time after which a tournament that is not over counts as stuck.
const STUCK_MS: i64 = 10 * 24 * 60 * 60 * 1_000;

/// The mean time between two kills.
const KILL_MS: u32 = 60_000;

/// The longest time until a killed node starts again.
const RESTART_MS: u32 = 10_000;

/// The delays of a message between a node and a service: mostly, and of a slow one.
const NEAR_MS: u32 = 3;
const SLOW_MS: u32 = 3_000;

/// The time after which a node gives up a call without an answer.
const TIMEOUT_MS: i64 = 5_000;

/// The share of lost calls, of lost answers and of slow messages, in 100,000ths: this number divided
/// by the number of players, within bounds. More players make more calls in the same time, and nodes
/// that mostly wait for answers would take few entries.
const LOST_CALLS: u32 = 24_000;
const LOST_BOUNDS: (u32, u32) = (10, 200);

/// A tournament that is over.
#[derive(Clone, Debug)]
pub struct TournamentRun {
    pub tournament: Tournament,
    pub journal: Vec<Line>,
    /// The public list of results as JSON lines.
    pub results: String,
    pub counts: TournamentCounts,
}

/// The events of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct TournamentCounts {
    pub games: u32,
    pub kills: u32,
    /// The appends of a version that another node had appended.
    pub conflicts: u32,
    /// The calls whose request or answer was lost.
    pub lost_calls: u32,
    /// The tables that live state has lost.
    pub lost_tables: u32,
    /// The tables that were opened again.
    pub reopened: u32,
    /// The entries of wallets that do not cover them.
    pub refused_entries: u32,
    /// The submissions of games that were refused, mostly because another node had scored the game.
    pub refused_games: u32,
    /// The house bots that have registered.
    pub bots: u32,
}

impl TournamentCounts {
    /// Adds the events of another run.
    pub fn add(&mut self, other: &Self) {
        self.games += other.games;
        self.kills += other.kills;
        self.conflicts += other.conflicts;
        self.lost_calls += other.lost_calls;
        self.lost_tables += other.lost_tables;
        self.reopened += other.reopened;
        self.refused_entries += other.refused_entries;
        self.refused_games += other.refused_games;
        self.bots += other.bots;
    }
}

/// The reason for which a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallError {
    /// The call or its answer is lost: it may have been performed.
    Lost,
    /// The player has no pass, and nothing was performed.
    NoPass,
    /// The journal has a line of this version that the tournament refuses.
    Violation(i64, Rejection),
}

type Event = Box<dyn FnOnce(&Rc<World>)>;

/// A place for the processes of one node.
#[derive(Default)]
struct NodeSlot {
    /// The number of processes that were started here.
    run: u32,
    node: Option<Rc<Node>>,
}

/// The state of a run.
struct World {
    options: TournamentOptions,
    /// The tournament before the first line.
    announced: Tournament,
    tasks: Rc<Tasks>,
    now_ms: Cell<i64>,
    events: RefCell<BTreeMap<(i64, u64), Event>>,
    next_sequence: Cell<u64>,
    rng: RefCell<TestRng>,
    slots: RefCell<Vec<NodeSlot>>,
    database: RefCell<Database>,
    tables: RefCell<LiveTables>,
    /// The nodes without work, which wait for a change.
    waiting: RefCell<Vec<Promise<()>>>,
    counts: RefCell<TournamentCounts>,
    failure: RefCell<Option<String>>,
}

/// Plays a tournament to its close.
///
/// # Errors
/// The check that failed, with the seed.
pub fn simulate_tournament(options: TournamentOptions) -> Result<TournamentRun, String> {
    let seed = options.seed;
    let world = World::new(options);
    let ran = world.run().and_then(|()| world.check_end());
    world.shut_down();
    let tournament = ran.map_err(|failure| format!("seed {seed}: {failure}"))?;
    let mut database = world.database.borrow_mut();
    let journal = std::mem::take(&mut database.journal);
    let results = std::mem::take(&mut database.results);
    let counts = world.counts.take();
    Ok(TournamentRun { tournament, journal, results, counts })
}

impl World {
    fn new(options: TournamentOptions) -> Rc<Self> {
        let mut rng = TestRng::new(options.seed);
        let id = TournamentId(Uuid::from_u64_pair(rng.word(), rng.word()));
        let mut seed = [0; 32];
        for bytes in seed.chunks_mut(8) {
            bytes.copy_from_slice(&rng.word().to_be_bytes());
        }
        let announced = Tournament::new(id, options.terms.clone(), ServerSeed(Hex(seed)));
        Rc::new(Self {
            database: RefCell::new(Database::new(announced.clone())),
            slots: RefCell::new((0..options.nodes).map(|_| NodeSlot::default()).collect()),
            options,
            announced,
            tasks: Rc::default(),
            now_ms: Cell::new(ANNOUNCED_MS),
            events: RefCell::default(),
            next_sequence: Cell::new(0),
            rng: RefCell::new(rng),
            tables: RefCell::default(),
            waiting: RefCell::default(),
            counts: RefCell::default(),
            failure: RefCell::default(),
        })
    }

    fn run(self: &Rc<Self>) -> Result<(), String> {
        for slot in 0..self.options.nodes {
            Node::start(self, slot);
        }
        self.send_requests();
        self.plan_kill();
        loop {
            self.tasks.run();
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if self.database.borrow().is_over() {
                return Ok(());
            }
            let next = self.events.borrow_mut().pop_first();
            let Some(((at_ms, _), event)) = next else {
                return Err("nothing happens any more".into());
            };
            if at_ms - ANNOUNCED_MS > STUCK_MS {
                return Err("it does not come to an end".into());
            }
            self.now_ms.set(at_ms);
            event(self);
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ms.get())
    }

    fn has_mutation(&self, mutation: TournamentMutation) -> bool {
        self.options.mutation == Some(mutation)
    }

    /// Schedules an event.
    fn schedule(&self, after_ms: i64, event: impl FnOnce(&Rc<Self>) + 'static) {
        let sequence = self.next_sequence.get();
        self.next_sequence.set(sequence + 1);
        let at_ms = self.now_ms.get() + after_ms;
        self.events.borrow_mut().insert((at_ms, sequence), Box::new(event));
    }

    fn sleep(&self, ms: i64) -> Wait<()> {
        let (promise, wait) = promise(&self.tasks);
        self.schedule(ms, move |_| promise.resolve(()));
        wait
    }

    /// Waits for a change of the database, or for a time.
    fn wait_for_change(&self, until_ms: Option<i64>) -> Wait<()> {
        let (promise, wait) = promise(&self.tasks);
        if let Some(until_ms) = until_ms {
            let promise = promise.clone();
            self.schedule((until_ms - self.now_ms.get()).max(1), move |_| promise.resolve(()));
        }
        self.waiting.borrow_mut().push(promise);
        wait
    }

    fn announce_change(&self) {
        for promise in self.waiting.take() {
            promise.resolve(());
        }
    }

    fn random_below(&self, n: u32) -> u32 {
        self.rng.borrow_mut().below(n)
    }

    fn random_ms(&self, (least, most): (u32, u32)) -> i64 {
        i64::from(least + self.random_below(most - least + 1))
    }

    /// Returns whether a fault occurs that has this share in thousandths.
    fn has_fault(&self, share: u32) -> bool {
        self.options.has_faults && self.random_below(1_000) < share
    }

    /// Returns whether a message is lost or slow.
    fn has_link_fault(&self) -> bool {
        let (least, most) = LOST_BOUNDS;
        let share = (LOST_CALLS / self.options.players.max(1)).clamp(least, most);
        self.options.has_faults && self.random_below(100_000) < share
    }

    /// Reports a violation. The first one ends the run.
    fn fail(&self, what: String) {
        self.failure.borrow_mut().get_or_insert(what);
    }

    /// Reports a failed check.
    fn check(&self, checked: Result<(), String>) {
        if let Err(what) = checked {
            self.fail(what);
        }
    }

    /// Returns a random running node.
    fn pick_node(&self) -> Option<Rc<Node>> {
        let slots = self.slots.borrow();
        let running: Vec<&Rc<Node>> = slots.iter().filter_map(|slot| slot.node.as_ref()).collect();
        self.rng.borrow_mut().choose(&running).map(|node| Rc::clone(node))
    }

    fn is_running(&self, slot: usize, run: u32) -> bool {
        let slots = self.slots.borrow();
        slots[slot].node.is_some() && slots[slot].run == run
    }

    /// Performs a call of a node at a service. A call of a node that was killed meanwhile is performed
    /// or not.
    fn call<T: 'static>(
        self: &Rc<Self>,
        node: &Node,
        perform: impl FnOnce(&Rc<Self>) -> T + 'static,
    ) -> Wait<Result<T, CallError>> {
        let (promise, wait) = promise(&self.tasks);
        let is_lost = self.has_link_fault();
        let is_answer_lost = self.has_link_fault();
        if is_lost || is_answer_lost {
            self.counts.borrow_mut().lost_calls += 1;
            let timeout = promise.clone();
            self.schedule(TIMEOUT_MS, move |_| timeout.resolve(Err(CallError::Lost)));
        }
        if is_lost {
            return wait;
        }
        let slot = node.slot;
        let run = node.run;
        let back_ms = self.draw_delay();
        self.schedule(self.draw_delay(), move |world| {
            if !world.is_running(slot, run) && world.random_below(2) == 0 {
                return;
            }
            let result = perform(world);
            if !is_answer_lost {
                world.schedule(back_ms, move |_| promise.resolve(Ok(result)));
            }
        });
        wait
    }

    fn draw_delay(&self) -> i64 {
        let most_ms = if self.has_link_fault() { SLOW_MS } else { NEAR_MS };
        i64::from(self.random_below(most_ms))
    }

    /// Plans the next kill of a node, which loses its memory and starts again.
    fn plan_kill(self: &Rc<Self>) {
        if !self.options.has_faults {
            return;
        }
        let after_ms = self.random_ms((0, 2 * KILL_MS));
        self.schedule(after_ms, |world| {
            world.plan_kill();
            let Some(node) = world.pick_node() else { return };
            world.counts.borrow_mut().kills += 1;
            world.slots.borrow_mut()[node.slot].node = None;
            world.tasks.cancel_all(Owner::Node(node.slot));
            let slot = node.slot;
            world.schedule(world.random_ms((1_000, RESTART_MS)), move |world| {
                Node::start(world, slot);
            });
        });
    }

    /// Cancels all tasks, so that nothing references the world.
    fn shut_down(&self) {
        self.slots.borrow_mut().clear();
        self.tasks.clear();
        self.waiting.take();
        self.events.take();
    }
}
