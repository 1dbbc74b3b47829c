//! A deterministic simulator of the whole house in one thread and in virtual time: players with
//! clients, several nodes, models of Redis and PostgreSQL, lossy links between them, and faults,
//! all derived from one seed.
//!
//! The tables, the game, the AI and the records are the real ones, and so is the shell: `driver`
//! and `session` perform the calls of [`TableHost`](crate::TableHost) and
//! [`PlayerSession`](crate::PlayerSession) as the service does. Redis and PostgreSQL are models of
//! the contracts of the scripts in `src/live_store` and the operations of `src/ledger`. `lobby`
//! models the assignment of seats in `src/lobby`. During the run and at its end, `checks` compares
//! every message, view, line and payment with the truth.
//!
//! A run has three phases: games under faults; calm, in which every player must finish a game; and
//! closing, after which nothing may be open. Equal seeds give equal runs, byte for byte. A
//! [`Mutation`] breaks one part of the house, to prove that the checks detect it.
//!
//! Out of scope: REST, tokens, rate limits of clients, and jumps of Redis' own clock.

mod checks;
mod client;
mod client_seed;
mod connection;
mod driver;
mod link;
mod lobby;
mod node;
mod operator;
mod plan;
mod postgres;
mod presence;
mod redis;
mod repeated_joins;
mod services;
mod session;
mod tasks;
mod wire;
mod world;

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use bahay_engine::coins::Coins;
use bahay_engine::game::Skill;
use bahay_engine::games::tongits::Rules;
use bahay_engine::table::{Clocks, Hits, Price, PrivateTerms, Spectators, Terms};

use tasks::Owner;
use world::World;

pub use plan::InjectedFault;

/// How long a run may continue under faults without a settled game.
const STALE_MS: u64 = 40 * 60_000;

/// How long every player may take to finish a game once it is calm, and then to leave.
const CALM_MS: u64 = 40 * 60_000;
const CLOSING_MS: u64 = 30 * 60_000;

/// The interval of the checks of deadlines.
const STEP_MS: u64 = 1_000;

/// The time between the start of calm and the checks, in which the last faults end.
const HEAL_MS: u64 = 50_000;

/// How long a private table may be empty before it ends.
const ENDS_AFTER_MS: u32 = 60_000;

/// The parameters of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The seed that determines the run.
    pub seed: u64,
    /// The number of games to settle under faults before the calm.
    pub games: u64,
    pub nodes: usize,
    pub players: usize,
    /// The tables are private, and their hosts kick players.
    pub is_private: bool,
    pub mutation: Option<Mutation>,
    /// Keeps a log of the last events, which is slow.
    pub keeps_story: bool,
}

impl Options {
    /// Returns the options of a small house: two to four nodes, and players for three to five
    /// tables.
    pub const fn from_seed(seed: u64) -> Self {
        let (nodes, tables) = match seed % 3 {
            0 => (2, 3),
            1 => (3, 4),
            _ => (4, 5),
        };
        let is_private = seed % 4 == 3;
        let players = 3 * tables;
        Self { seed, games: 24, nodes, players, is_private, mutation: None, keeps_story: false }
    }
}

/// A deliberate defect of the house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    /// A node acknowledges a command before the append is answered.
    AcksBeforeTheAppend,
    /// Redis appends without comparing versions.
    AppendsBlindly,
    /// A client gets another seat's view.
    ShowsAnothersView,
    /// A node sends events without redaction.
    ForgetsToRedact,
    /// Settlement is not idempotent.
    SettlesTwice,
    /// The antes of a voided game stay in the POT.
    KeepsAntesOfVoided,
    /// The POT of a private table is never refunded.
    ForgetsWhoPaid,
    /// Claiming a due table removes its deadline.
    ClaimsForGood,
    /// A node uses its own machine's clock.
    TrustsItsOwnClock,
    /// A node reads the time rarely and not when a client joins.
    JoinsByItsOwnTime,
    /// A node is declared dead between two heartbeats.
    BuriesTheLiving,
    /// Games without live state stay open.
    NeverVoids,
    /// A session delivers lines after a gap as if there were none.
    OverlooksGaps,
    /// A session delivers hidden lines.
    TellsOfHiddenLines,
    /// A second join on a connection repeats lines that are already on their way.
    RepeatsWhatWasSent,
    /// A second join on a connection reads the journal, slowly, and the result replaces lines that
    /// were published meanwhile.
    ReadsOverPublications,
    /// A connection keeps its watch after a refused join.
    WatchesAfterARefusedJoin,
    /// A node waits for each heartbeat's response before it sends the next.
    WaitsForEachHeartbeat,
    /// Redis appends to a halted table.
    AppendsToHalted,
    /// A table is voided without being halted first.
    VoidsWithoutHalting,
    /// Tables ignore terms updates of their room.
    KeepsOldTerms,
    /// The table keeps writing to a connection while its session is busy.
    WritesWhileBusy,
    /// A viewer that resumes from a node's memory misses a line.
    ResumesTooLate,
    /// A node acknowledges a client's reveal and drops it.
    ForgetsReveals,
    /// A node deals after the first client's reveal.
    DealsUnheard,
    /// A game is settled with another seed text than the one that its client revealed.
    SettlesAnotherText,
    /// A restarted Redis has lost the writes of the last second.
    ForgetsTheLastSecond,
    /// A player is taken over immediately after a disconnection.
    GivesNoGrace,
}

impl Mutation {
    pub const ALL: [Self; 28] = [
        Self::AcksBeforeTheAppend,
        Self::AppendsBlindly,
        Self::ShowsAnothersView,
        Self::ForgetsToRedact,
        Self::SettlesTwice,
        Self::KeepsAntesOfVoided,
        Self::ForgetsWhoPaid,
        Self::ClaimsForGood,
        Self::TrustsItsOwnClock,
        Self::JoinsByItsOwnTime,
        Self::BuriesTheLiving,
        Self::NeverVoids,
        Self::OverlooksGaps,
        Self::TellsOfHiddenLines,
        Self::RepeatsWhatWasSent,
        Self::ReadsOverPublications,
        Self::WatchesAfterARefusedJoin,
        Self::WaitsForEachHeartbeat,
        Self::AppendsToHalted,
        Self::VoidsWithoutHalting,
        Self::KeepsOldTerms,
        Self::WritesWhileBusy,
        Self::ResumesTooLate,
        Self::ForgetsReveals,
        Self::DealsUnheard,
        Self::SettlesAnotherText,
        Self::ForgetsTheLastSecond,
        Self::GivesNoGrace,
    ];
}

/// The totals of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTotals {
    /// Games that were settled, and games that were voided because their live state was lost.
    pub games: u64,
    pub voided: u64,
    /// Games that were voided, and tables that were halted, voided and released, by an operator or
    /// over a panic.
    pub voided_by_order: u64,
    pub tables_halted: u64,
    pub tables_voided: u64,
    pub tables_released: u64,
    /// Clients that were informed of the end of their table.
    pub tables_closed: u64,
    /// Terms updates that tables have stored.
    pub terms_updates: u64,
    /// Updates that were written directly while the session slept, and viewers that resumed from a
    /// node's memory.
    pub written_directly: u64,
    pub resumed_from_memory: u64,
    /// Requests that were dropped before their end.
    pub abandoned: u64,
    /// Journal lines, and journals that a snapshot replaced.
    pub lines: u64,
    pub compactions: u64,
    /// Messages of nodes; of these, acks of actions and refusals.
    pub messages: u64,
    pub acks: u64,
    pub refusals: u64,
    /// Clients that resumed at a known table, and actions that they sent again.
    pub resumes: u64,
    pub sent_again: u64,
    /// Joins on connections that had joined, and second connections of players.
    pub joins_again: u64,
    pub second_connections: u64,
    /// Seed texts that committed clients revealed, and commitments that were dealt without a text.
    pub revealed: u64,
    pub unrevealed: u64,
    /// Actions of the AI for players who were away, within the grace (rule 8.3).
    pub grace_actions: u64,
    /// Connections that were disconnected for a dead node.
    pub reaped: u64,
    /// Watchers that were too slow.
    pub slow_watchers: u64,
    /// Refunds of the POTs of private tables.
    pub pot_refunds: u64,
    /// Grants of coins to players.
    pub grants: u64,
    pub faults: BTreeMap<InjectedFault, u64>,
    live_state_was_lost: bool,
}

impl RunTotals {
    /// Adds the totals of another run.
    pub fn add(&mut self, other: &Self) {
        self.games += other.games;
        self.voided += other.voided;
        self.voided_by_order += other.voided_by_order;
        self.tables_halted += other.tables_halted;
        self.tables_voided += other.tables_voided;
        self.tables_released += other.tables_released;
        self.tables_closed += other.tables_closed;
        self.terms_updates += other.terms_updates;
        self.written_directly += other.written_directly;
        self.resumed_from_memory += other.resumed_from_memory;
        self.abandoned += other.abandoned;
        self.lines += other.lines;
        self.compactions += other.compactions;
        self.messages += other.messages;
        self.acks += other.acks;
        self.refusals += other.refusals;
        self.resumes += other.resumes;
        self.sent_again += other.sent_again;
        self.joins_again += other.joins_again;
        self.second_connections += other.second_connections;
        self.revealed += other.revealed;
        self.unrevealed += other.unrevealed;
        self.grace_actions += other.grace_actions;
        self.reaped += other.reaped;
        self.slow_watchers += other.slow_watchers;
        self.pot_refunds += other.pot_refunds;
        self.grants += other.grants;
        for (fault, times) in &other.faults {
            *self.faults.entry(*fault).or_default() += times;
        }
    }
}

/// The result of a run in which every check held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub totals: RunTotals,
    /// A hash of every event, line and message: equal for equal seeds.
    pub digest: u64,
    /// The length of the run in virtual time.
    pub virtual_ms: u64,
}

/// The first violation that a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulationError {
    pub seed: u64,
    pub message: String,
    /// The log of the events before the violation, if it was kept.
    pub story: Vec<String>,
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.story {
            writeln!(f, "{line}")?;
        }
        writeln!(f, "seed {}: {}", self.seed, self.message)?;
        write!(f, "repeat with: ./dev simulate-house --seed {} --runs 1 --tell", self.seed)
    }
}

impl std::error::Error for SimulationError {}

/// Runs a simulation.
///
/// # Errors
/// Returns the first violation that a check found.
pub fn simulate(options: Options) -> Result<Report, SimulationError> {
    let world = World::new(options);
    let ran = run(&world);
    let report = Report {
        totals: world.totals.borrow().clone(),
        digest: world.digest(),
        virtual_ms: world.now_ms(),
    };
    let story = world.story();
    world.shut_down();
    match ran {
        Ok(()) => Ok(report),
        Err(message) => Err(SimulationError { seed: options.seed, message, story }),
    }
}

fn run(world: &Rc<World>) -> Result<(), String> {
    let options = world.options;
    for slot in 0..options.nodes {
        node::Node::start(world, slot);
    }
    for client in 0..options.players {
        world.grant(client::player_id(client));
        client::start(world, client);
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
    while games < options.games {
        run_step(world)?;
        let now = world.totals.borrow().games;
        if now > games {
            (games, since_ms) = (now, world.now_ms());
        }
        if world.now_ms() - since_ms > STALE_MS {
            return Err(format!("no game was settled in {} s", STALE_MS / 1_000));
        }
    }

    world.is_calm.set(true);
    world.open_room();
    world.run_until(world.now_ms() + HEAL_MS)?;
    let calm_ms = world.now_ms();
    run_until_true(world, CALM_MS, |world| world.idle_since(calm_ms).is_empty()).map_err(
        |message| {
            format!("{message}: clients {:?} have not finished a game", world.idle_since(calm_ms))
        },
    )?;

    world.is_closing.set(true);
    run_until_true(world, CLOSING_MS, |world| {
        !world.has_open_games() && !world.has_seated_players()
    })
    .map_err(|message| format!("{message}: games or seats are still open"))?;
    if options.is_private {
        run_until_true(world, CLOSING_MS, |world| !world.has_private_pots())
            .map_err(|message| format!("{message}: a private POT is not refunded"))?;
    }
    world.check_end()
}

/// Runs the world until a condition holds.
fn run_until_true(
    world: &Rc<World>,
    at_most_ms: u64,
    condition: impl Fn(&Rc<World>) -> bool,
) -> Result<(), String> {
    let until_ms = world.now_ms() + at_most_ms;
    while !condition(world) {
        if world.now_ms() >= until_ms {
            return Err(format!("after {} s of calm", at_most_ms / 1_000));
        }
        run_step(world)?;
    }
    Ok(())
}

/// Runs the world for one step, after which no table may wait without a deadline.
fn run_step(world: &Rc<World>) -> Result<(), String> {
    world.run_until(world.now_ms() + STEP_MS)?;
    world.check_deadlines()
}

/// Returns the terms of the house's tables.
fn house_terms(options: Options) -> Terms<Rules> {
    let Options { is_private, mutation, .. } = options;
    let bet = Coins::from_whole(1).unwrap_or_default();
    let mut clocks = Clocks::default();
    if mutation == Some(Mutation::GivesNoGrace) {
        clocks.grace_ms = 0;
    }
    Terms {
        room: "newbie".into(),
        rules: Rules::kingdom(),
        price: Price { bet, multiplier: 1, fee_basis_points: 500 },
        hits: Some(Hits::default()),
        clocks,
        spectators: Spectators::default(),
        bots: Skill::default(),
        private: is_private
            .then_some(PrivateTerms { ends_after_ms: ENDS_AFTER_MS, short_stakes: false }),
        practice: false,
    }
}
