//! The totals and the outcome of a run.

use std::collections::BTreeMap;
use std::fmt;

use crate::simulation::InjectedFault;

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
    pub(super) live_state_was_lost: bool,
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
