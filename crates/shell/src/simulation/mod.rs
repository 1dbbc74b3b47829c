//! A whole house in one thread and in virtual time: players with clients, several nodes, a model
//! of Redis and one of PostgreSQL, lossy links between them, and faults, all from one seed.
//!
//! The tables, the game, the AI and the records are the real ones, and so is the shell around them:
//! `driver` and `session` carry out what [`TableHost`](crate::TableHost) and
//! [`PlayerSession`](crate::PlayerSession) ask for, as the service does. Redis and PostgreSQL are
//! models of what the scripts in `src/live_store` and the operations of `src/ledger` promise. The
//! way to a seat is retold in `lobby`, from `src/lobby`. While it runs and at its end, `checks` holds everything
//! that was said, shown, stored and paid against the truth.
//!
//! A run has three parts: games under faults; calm, in which everybody must come to the end of a
//! game; and closing, after which nothing may be open. One seed is one run, to the last byte. A
//! [`Mutation`] breaks one part of the house, to show that the checks find it.
//!
//! Deliberately absent: REST, tokens, limits on clients' messages, and Redis' own clock jumping.

mod checks;
mod client;
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
mod client_seed;
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

pub use plan::Fault;

/// How long a run may go on under faults without a single game being settled.
const STALE_MS: u64 = 40 * 60_000;

/// How long everybody may take to see the end of a game once it is calm, and to go home.
const CALM_MS: u64 = 40 * 60_000;
const CLOSING_MS: u64 = 30 * 60_000;

/// The world is looked at this often.
const STEP_MS: u64 = 1_000;

/// Between the end of the last fault that can begin and calm.
const HEAL_MS: u64 = 50_000;

/// How long nobody sits at a private table before it ends.
const ENDS_AFTER_MS: u32 = 60_000;

/// What to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Decides everything.
    pub seed: u64,
    /// How many games to settle under faults, before it is calm.
    pub games: u64,
    pub nodes: usize,
    pub players: usize,
    /// The tables are those of hosts, who send players away.
    pub is_private: bool,
    pub mutation: Option<Mutation>,
    /// Keeps the story of the last moments, which costs time.
    pub keeps_story: bool,
}

impl Options {
    /// A small house: two to four nodes, and players for three to five tables.
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

/// Something in the house that is wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    /// A node acknowledges a command before the append was answered.
    AcksBeforeTheAppend,
    /// Redis appends without comparing versions.
    AppendsBlindly,
    /// A client is fed another seat's view.
    ShowsAnothersView,
    /// A node sends what happened as it is.
    ForgetsToRedact,
    /// Settling is not idempotent.
    SettlesTwice,
    /// The antes of a voided game stay in the POT.
    KeepsAntesOfVoided,
    /// Nothing goes back out of the POT of a private table.
    ForgetsWhoPaid,
    /// Who takes a due table takes it off the list for good.
    ClaimsForGood,
    /// A node goes by its own machine's clock.
    TrustsItsOwnClock,
    /// A node that asks for the time seldom does not ask for it when a client joins.
    JoinsByItsOwnTime,
    /// A node is taken for dead between two heartbeats.
    BuriesTheLiving,
    /// Games whose live state was lost stay open.
    NeverVoids,
    /// A session shows what comes after a gap as if there were none.
    OverlooksGaps,
    /// A session tells its client of lines that show it nothing.
    TellsOfHiddenLines,
    /// A second join on a connection is answered with what is already on its way there.
    RepeatsWhatWasSent,
    /// A second join on a connection has the journal read, slowly, which takes the place of what was
    /// published meanwhile.
    ReadsOverPublications,
    /// A connection whose join was refused goes on being told of the table.
    WatchesAfterARefusedJoin,
    /// A node's next heartbeat waits for the answer to the last one.
    WaitsForEachHeartbeat,
    /// Redis appends to a table that is halted.
    AppendsToHalted,
    /// A table is voided without being halted before.
    VoidsWithoutHalting,
    /// Tables are not told what their room says.
    KeepsOldTerms,
    /// The table goes on writing to a connection while its session is at something.
    WritesWhileBusy,
    /// Who resumes from a node's memory misses a line.
    ResumesTooLate,
    /// A node takes what a client reveals, and keeps it nowhere.
    ForgetsReveals,
    /// A node deals when the first client has revealed.
    DealsUnheard,
    /// A game is settled with another text than the one that its client revealed.
    SettlesAnotherText,
    /// A Redis that is killed comes back without what it had not yet written to its disk.
    ForgetsTheLastSecond,
    /// A player whose line is lost is taken over at once.
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

/// What happened, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTotals {
    /// Games settled, and games voided because their live state was lost.
    pub games: u64,
    pub voided: u64,
    /// Games voided, and tables halted, voided and released, by order of an operator or over a
    /// panic.
    pub voided_by_order: u64,
    pub tables_halted: u64,
    pub tables_voided: u64,
    pub tables_released: u64,
    /// Clients that were told that their table is gone.
    pub tables_closed: u64,
    /// Terms updates that tables have taken.
    pub terms_updates: u64,
    /// Updates that the table wrote while the session slept, and viewers that resumed by what a
    /// node remembered.
    pub written_directly: u64,
    pub resumed_from_memory: u64,
    /// Requests that nobody waited for to the end.
    pub abandoned: u64,
    /// Lines in journals, and times that a journal was replaced by a snapshot.
    pub lines: u64,
    pub compactions: u64,
    /// What nodes sent, and of it acks of moves and refusals.
    pub messages: u64,
    pub acks: u64,
    pub refusals: u64,
    /// Clients that came back to a table they knew, and moves they then sent again.
    pub resumes: u64,
    pub sent_again: u64,
    /// Joins on connections that had joined, and second connections of players who had one.
    pub joins_again: u64,
    pub second_connections: u64,
    /// Deals by clients that had committed: texts that they revealed, and commitments that were
    /// dealt without one.
    pub revealed: u64,
    pub unrevealed: u64,
    /// Answers of the AI for players who were away, within the grace of rule 8.3.
    pub grace_actions: u64,
    /// Connections told gone for a node that was dead.
    pub reaped: u64,
    /// Watchers that did not keep up.
    pub slow_watchers: u64,
    /// Returns out of the POTs of private tables.
    pub pot_refunds: u64,
    /// Times that a player brought coins.
    pub grants: u64,
    pub faults: BTreeMap<Fault, u64>,
    live_state_was_lost: bool,
}

impl RunTotals {
    /// Adds another run's.
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

/// A run in which everything held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub totals: RunTotals,
    /// Of every event, line and message: equal for equal seeds.
    pub digest: u64,
    /// How long it was in virtual time.
    pub virtual_ms: u64,
}

/// A run in which something did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulationError {
    pub seed: u64,
    pub message: String,
    /// The last that happened before, if it was to be told.
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

/// Runs a house.
///
/// # Errors
/// The first thing that did not hold.
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

    let (mut games, mut since_ms) = (0, 0);
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
    run_until_true(world, CALM_MS, |world| world.idle_since(calm_ms).is_empty()).map_err(|message| {
        format!("{message}: clients {:?} have not finished a game", world.idle_since(calm_ms))
    })?;

    world.is_closing.set(true);
    run_until_true(world, CLOSING_MS, |world| !world.has_open_games() && !world.has_seated_players())
        .map_err(|message| format!("{message}: not everything came to its end"))?;
    if options.is_private {
        run_until_true(world, CLOSING_MS, |world| !world.has_private_pots())
            .map_err(|message| format!("{message}: not every POT went back"))?;
    }
    world.check_end()
}

/// Lets the world go on until something is so.
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

/// Lets the world go on for a moment, after which no table may wait for nothing.
fn run_step(world: &Rc<World>) -> Result<(), String> {
    world.run_until(world.now_ms() + STEP_MS)?;
    world.check_deadlines()
}

/// What the tables of the house play by.
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
