//! A deterministic simulator of the whole house in one thread and in virtual time: players with
//! clients, several nodes, models of Redis and PostgreSQL, lossy links between them, and faults,
//! all derived from one seed.
//!
//! The tables, the game, the AI and the records are the real ones, and so is the shell: `driver`
//! and `session` perform the calls of [`TableHost`](crate::TableHost) and
//! [`PlayerSession`](crate::PlayerSession) as the service does. Redis and PostgreSQL are models of
//! the contracts of the scripts in `crates/live-store` and the operations of `crates/ledger`.
//! Players are seated by the shell's [`Seating`](crate::lobby::Seating). During the run and at its
//! end, `checks` compares every message, view, line and payment with the truth.
//!
//! Everything is generic over the game. The cards that a message names are checked only at games
//! for which `checks/cards` states who may see which card.
//!
//! A run has three phases: games under faults; calm, in which every player must finish a game; and
//! closing, after which nothing may be open. Equal seeds give equal runs, byte for byte. A
//! [`Mutation`] breaks one part of the house, to prove that the checks detect it.
//!
//! Out of scope: REST, tokens, rate limits of clients, and jumps of Redis' own clock.

mod checks;
mod client;
mod connection;
mod link;
mod node;
mod operator;
mod options;
mod plan;
mod services;
mod tasks;
mod totals;
pub mod tournaments;
mod wire;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use bahay_bots::Ai;
use bahay_bots::catalog::{self, Visitor};
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameKind, GameRules as _, Skill};
use bahay_engine::hex::Hex;
use bahay_engine::spaces::Spaces;
use bahay_engine::table::{
    Clocks, ConnectionId, GameEntropy, GameId, Lift, PlayerId, Price, PrivateTerms, Spectators,
    TableId, Terms, Timestamp,
};
use bahay_engine::testing::TestRng;
use uuid::Uuid;

use crate::{RoomTerms, Tag};

use checks::Checks;
use client::{Client, ClientEvent};
use connection::Connection;
use link::{FAR, FAR_AND_BAD, NEAR, NEAR_AND_BAD, Quality};
use node::Node;
use services::Services;
use tasks::{Mailbox, Owner, Tasks, Wait, promise};
use totals::RunFailure;

pub use crate::Mutation;
pub use options::Options;
pub use plan::InjectedFault;
pub use totals::{Report, RunTotals, SimulationError};

/// The house's time at the start of a run, in ms since the epoch.
const EPOCH_MS: i64 = 1_800_000_000_000;

/// The number of log lines in the story of a failed run.
const STORY_LINES: usize = 80;

/// The number of countdowns of the game's longest kind after which a run under faults without a
/// settled game counts as stale. A game whose players are all away waits for each of them. With 120
/// the first seed of Tongo with assets still passes; the rest is a margin.
const STALE_COUNTDOWNS: u64 = 180;

/// How long every player may take to finish a game once it is calm, and then to leave.
const CALM_MS: u64 = 40 * 60_000;
const CLOSING_MS: u64 = 30 * 60_000;

/// The interval of the checks of deadlines.
const STEP_MS: u64 = 1_000;

/// The time between the start of calm and the checks, in which the last faults end.
const HEAL_MS: u64 = 50_000;

/// How long a private table may be empty before it ends.
const ENDS_AFTER_MS: u32 = 60_000;

type Event<G> = Box<dyn FnOnce(&Rc<World<G>>)>;

/// A process: its slot, and the number of its run there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NodeRun {
    slot: usize,
    run: u32,
}

/// The cases in which the engine panics at a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlantedPanic {
    /// On every input.
    Deciding,
    /// When the table is shown.
    Showing,
}

fn player_id(client: usize) -> PlayerId {
    PlayerId(Uuid::from_u64_pair(0x0070_6c61_7965_7200, client as u64))
}

/// A place for the processes of one node.
struct NodeSlot<G: SimulatedGame> {
    /// The number of processes that were started here.
    run: u32,
    /// The running process.
    node: Option<Rc<Node<G>>>,
    is_paused: bool,
    redis_cut: bool,
    postgres_cut: bool,
    /// The error of the operating system's clock in ms.
    os_clock_ms: i64,
}

/// A game that the simulator can play: its documents can be read, and its AI plays for the clients.
pub trait SimulatedGame: Ai + GameKind {}

impl<G: Ai + GameKind> SimulatedGame for G {}

/// Encodes a value that is sent or stored.
fn to_json(value: &impl serde::Serialize) -> Rc<str> {
    let text: String = serde_json::to_string(value).expect("tables and messages can be written");
    text.into()
}

/// The state of a run.
struct World<G: SimulatedGame> {
    options: Options,
    tasks: Rc<Tasks>,
    services: RefCell<Services>,
    node_slots: RefCell<Vec<NodeSlot<G>>>,
    connections: RefCell<BTreeMap<ConnectionId, Rc<Connection>>>,
    clients: Vec<Mailbox<ClientEvent>>,
    checks: RefCell<Checks<G>>,
    totals: RefCell<RunTotals>,
    /// Every link is bad.
    is_rough: Cell<bool>,
    /// No client begins another game.
    is_closing: Cell<bool>,
    /// No player leaves, drops or misses a countdown on purpose.
    is_calm: Cell<bool>,
    /// The current terms of the room of all tables.
    room: RefCell<RoomTerms<G::Rules>>,
    /// The tables at which the engine panics until an operator has repaired them.
    panicking_tables: RefCell<BTreeMap<TableId, PlantedPanic>>,
    /// The time until which nodes may be declared dead wrongly.
    doubt_until_ms: Cell<u64>,
    now_ms: Cell<u64>,
    events: RefCell<BTreeMap<(u64, u64), Event<G>>>,
    next_sequence: Cell<u64>,
    ids: Cell<u64>,
    dice: RefCell<TestRng>,
    failure: RefCell<Option<String>>,
    digest: Cell<u64>,
    story: RefCell<VecDeque<String>>,
}

impl<G: SimulatedGame> World<G> {
    fn new(options: Options) -> Rc<Self> {
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
            services: RefCell::default(),
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
                terms: house_terms::<G>(options),
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

    fn mutation(&self) -> Option<Mutation> {
        self.options.mutation
    }

    fn has_mutation(&self, mutation: Mutation) -> bool {
        self.mutation() == Some(mutation)
    }

    fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    /// Returns the house's true time.
    fn timestamp(&self) -> Timestamp {
        self.timestamp_at(self.now_ms())
    }

    /// Returns the house's time at this point of the run.
    fn timestamp_at(&self, now_ms: u64) -> Timestamp {
        let ms = i64::try_from(now_ms).expect("the time of a run fits an i64");
        Timestamp::from_ms(EPOCH_MS + ms)
    }

    /// Schedules an event.
    fn schedule(&self, after_ms: u64, event: impl FnOnce(&Rc<Self>) + 'static) {
        let sequence = self.next_sequence.get();
        self.next_sequence.set(sequence + 1);
        self.events.borrow_mut().insert((self.now_ms() + after_ms, sequence), Box::new(event));
    }

    fn sleep(&self, ms: u64) -> Wait<()> {
        let (promise, wait) = promise(&self.tasks);
        self.schedule(ms, move |_| promise.resolve(()));
        wait
    }

    fn spawn(&self, owner: Owner, task: impl Future<Output = ()> + 'static) {
        self.tasks.spawn(owner, task);
    }

    /// Runs the world until a time, or until a check fails.
    fn run_until(self: &Rc<Self>, until_ms: u64) -> Result<(), String> {
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
    fn fail(&self, what: String) {
        self.failure.borrow_mut().get_or_insert(what);
    }

    /// Reports a failed check.
    fn check(&self, checked: Result<(), String>) {
        if let Err(what) = checked {
            self.fail(what);
        }
    }

    /// Adds bytes to the digest of the run.
    fn update_digest(&self, bytes: &[u8]) {
        let mix =
            |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.digest.set(bytes.iter().fold(self.digest.get(), mix));
    }

    /// Logs an event for the story of a failed run.
    fn log(&self, what: impl FnOnce() -> String) {
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

    fn random_below(&self, n: u32) -> u32 {
        self.dice.borrow_mut().below(n)
    }

    fn random_between(&self, (least, most): (u32, u32)) -> u64 {
        u64::from(least + self.random_below(most - least + 1))
    }

    /// Returns a random node slot.
    fn random_slot(&self) -> usize {
        self.random_below(u32::try_from(self.options.nodes).unwrap_or(1)) as usize
    }

    /// Returns a random one of these values, if there are any.
    fn pick<T: Copy>(&self, values: &[T]) -> Option<T> {
        let count = u32::try_from(values.len()).ok().filter(|count| *count > 0)?;
        values.get(self.random_below(count) as usize).copied()
    }

    fn chance(&self, share: u32) -> bool {
        self.random_below(1_000) < share
    }

    fn draw_arrivals(&self, quality: &Quality) -> arrayvec::ArrayVec<u64, 2> {
        quality.arrivals(&mut self.dice.borrow_mut())
    }

    /// Returns the quality of links between nodes and services.
    fn near_link(&self) -> Quality {
        if self.is_rough.get() { NEAR_AND_BAD } else { NEAR }
    }

    /// Returns the quality of links between clients and nodes.
    fn far_link(&self) -> Quality {
        if self.is_rough.get() { FAR_AND_BAD } else { FAR }
    }

    /// Returns an unused id.
    fn new_id(&self) -> Uuid {
        self.ids.set(self.ids.get() + 1);
        Uuid::from_u64_pair(self.dice.borrow_mut().word(), self.ids.get())
    }

    /// Returns the entropy of a new game.
    fn new_game_secrets(&self) -> GameEntropy {
        let mut dice = self.dice.borrow_mut();
        let bytes = std::array::from_fn(|_| dice.word().to_le_bytes()[0]);
        drop(dice);
        GameEntropy { seed: ServerSeed(Hex(bytes)), game: GameId(self.new_id()) }
    }

    /// Returns the tag of a new line.
    fn new_tag(&self) -> Tag {
        self.ids.set(self.ids.get() + 1);
        let [_, _, tag @ ..] = self.ids.get().to_be_bytes();
        Tag(Hex(tag))
    }

    /// Returns the node of this run, if it is still running.
    fn find_node(&self, run: NodeRun) -> Option<Rc<Node<G>>> {
        let slots = self.node_slots.borrow();
        let node = slots.get(run.slot)?.node.as_ref()?;
        (node.run == run).then(|| node.clone())
    }

    /// Allows that live nodes are declared dead for some time from now.
    fn extend_doubt(&self, ms: u64) {
        let until_ms = self.now_ms() + ms;
        self.doubt_until_ms.set(self.doubt_until_ms.get().max(until_ms));
    }

    /// Cancels all tasks, so that nothing references the world.
    fn shut_down(&self) {
        self.node_slots.borrow_mut().clear();
        self.tasks.clear();
        self.events.borrow_mut().clear();
        self.connections.borrow_mut().clear();
        self.services.take();
    }
}

/// Runs a simulation.
///
/// # Errors
/// Returns the first violation that a check found.
pub fn simulate<G: SimulatedGame>(options: Options) -> Result<Report, SimulationError> {
    let world = World::<G>::new(options);
    let ran = run(&world);
    let report = Report {
        totals: world.totals.borrow().clone(),
        digest: world.digest.get(),
        virtual_ms: world.now_ms(),
    };
    let story = world.story.take().into();
    world.shut_down();
    match ran {
        Ok(()) => Ok(report),
        Err(failure) => {
            let (message, is_stalled) = match failure {
                RunFailure::Violation(message) => (message, false),
                RunFailure::Stall(message) => (message, true),
            };
            Err(SimulationError { game: G::NAME, seed: options.seed, message, is_stalled, story })
        }
    }
}

/// Runs a simulation of the game with this name, such as `tongits`, whose options follow from the
/// number of its seats. `None` if there is no such game.
pub fn simulate_game(
    game: &str,
    options: impl FnOnce(u8) -> Options,
) -> Option<Result<Report, SimulationError>> {
    struct Run<F>(F);

    impl<F: FnOnce(u8) -> Options> Visitor for Run<F> {
        type Output = Result<Report, SimulationError>;

        fn visit<G: Ai + Lift<AnyGame> + Spaces + 'static>(self) -> Self::Output {
            let rules = house_terms::<G>(Options::from_seed(0, 0)).rules;
            simulate::<G>(self.0(rules.seats().least))
        }
    }

    catalog::with_kind(game, Run(options))
}

fn run<G: SimulatedGame>(world: &Rc<World<G>>) -> Result<(), RunFailure> {
    let options = world.options;
    for slot in 0..options.nodes {
        Node::start(world, slot);
    }
    for client in 0..options.players {
        world.grant(player_id(client));
        Client::start(world, client);
    }
    world.spawn(Owner::World, world.clone().inject_faults());
    world.spawn(Owner::World, world.clone().change_room());
    if options.is_private {
        world.spawn(Owner::World, world.clone().kick_players());
    }
    if options.mutation == Some(Mutation::ForgetsTheLastSecond) {
        world.spawn(Owner::World, world.clone().sync_redis());
    }

    let mut games = 0;
    let mut since_ms = 0;
    let longest_ms = *house_terms::<G>(options).rules.countdown_ms().end();
    let stale_ms = STALE_COUNTDOWNS * u64::from(longest_ms);
    while games < options.games {
        run_step(world)?;
        let now = world.totals.borrow().games;
        if now > games {
            (games, since_ms) = (now, world.now_ms());
        }
        if world.now_ms() - since_ms > stale_ms {
            let message = format!("no game was settled in {} s", stale_ms / 1_000);
            return Err(RunFailure::Stall(message));
        }
    }

    world.is_calm.set(true);
    world.open_room();
    world.run_until(world.now_ms() + HEAL_MS)?;
    let calm_ms = world.now_ms();
    let have_all_finished = |world: &Rc<World<G>>| world.idle_since(calm_ms).is_empty();
    run_until_true(world, CALM_MS, have_all_finished, || {
        format!("clients {:?} have not finished a game", world.idle_since(calm_ms))
    })?;

    world.is_closing.set(true);
    let is_closed = |world: &Rc<World<G>>| !world.has_open_games() && !world.has_seated_players();
    run_until_true(world, CLOSING_MS, is_closed, || "games or seats are still open".to_owned())?;
    if options.is_private {
        let are_refunded = |world: &Rc<World<G>>| !world.has_private_pots();
        run_until_true(world, CLOSING_MS, are_refunded, || {
            "a private POT is not refunded".to_owned()
        })?;
    }
    Ok(world.check_end()?)
}

/// Runs the world until a condition holds. `shortfall` describes a condition that does not hold in
/// time.
fn run_until_true<G: SimulatedGame>(
    world: &Rc<World<G>>,
    at_most_ms: u64,
    condition: impl Fn(&Rc<World<G>>) -> bool,
    shortfall: impl Fn() -> String,
) -> Result<(), RunFailure> {
    let until_ms = world.now_ms() + at_most_ms;
    while !condition(world) {
        if world.now_ms() >= until_ms {
            let message = format!("after {} s of calm: {}", at_most_ms / 1_000, shortfall());
            return Err(RunFailure::Stall(message));
        }
        run_step(world)?;
    }
    Ok(())
}

/// Runs the world for one step, after which no table may wait without a deadline.
fn run_step<G: SimulatedGame>(world: &Rc<World<G>>) -> Result<(), String> {
    world.run_until(world.now_ms() + STEP_MS)?;
    world.check_deadlines()
}

/// Returns the terms of the house's tables.
fn house_terms<G: SimulatedGame>(options: Options) -> Terms<G::Rules> {
    let Options { is_private, mutation, .. } = options;
    let bet = Coins::from_whole(1).unwrap_or_default();
    let rule_set = G::rule_sets().first().expect("every game has a rule set");
    let mut clocks = Clocks::default();
    if mutation == Some(Mutation::GivesNoGrace) {
        clocks.grace_ms = 0;
    }
    Terms {
        room: "newbie".into(),
        rules: (rule_set.rules)(),
        price: Price { bet, multiplier: 1, fee_basis_points: 500 },
        hits: rule_set.hits,
        clocks,
        spectators: Spectators::default(),
        bots: Skill::default(),
        private: is_private
            .then_some(PrivateTerms { ends_after_ms: ENDS_AFTER_MS, short_stakes: false }),
        practice: false,
        tournament: None,
    }
}
