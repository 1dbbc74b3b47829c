//! The totals and the outcome of a run.

use std::collections::BTreeMap;
use std::fmt;

use crate::simulation::InjectedFault;

/// Defines the totals as a struct of counters.
macro_rules! totals {
    ($($(#[$meta:meta])* $counter:ident,)+) => {
        /// The totals of a run.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct RunTotals {
            $($(#[$meta])* pub $counter: u64,)+
            pub faults: BTreeMap<InjectedFault, u64>,
            pub(super) live_state_was_lost: bool,
        }

        impl RunTotals {
            /// Adds the totals of another run.
            pub fn add(&mut self, other: &Self) {
                $(self.$counter += other.$counter;)+
                for (fault, times) in &other.faults {
                    *self.faults.entry(*fault).or_default() += times;
                }
            }

            /// Returns each counter with its name.
            pub fn counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($counter), self.$counter)),+].into_iter()
            }
        }
    };
}

totals! {
    /// Games that were settled, and games that were voided because their live state was lost.
    games,
    voided,
    /// Games that were voided, and tables that were halted, voided and released, by an operator or
    /// over a panic.
    voided_by_order,
    tables_halted,
    tables_voided,
    tables_released,
    /// Clients that were informed of the end of their table.
    tables_closed,
    /// Terms updates that tables have stored.
    terms_updates,
    /// Updates that were written directly while the session slept, and viewers that resumed from a
    /// node's memory.
    written_directly,
    resumed_from_memory,
    /// Requests that were dropped before their end.
    abandoned,
    /// Journal lines, and journals that a snapshot replaced.
    lines,
    compactions,
    /// Messages of nodes; of these, acks of actions and refusals. Updates that carry an ack.
    messages,
    acks,
    refusals,
    acks_in_updates,
    /// Clients that resumed at a known table, and actions that they sent again.
    resumes,
    sent_again,
    /// Joins on connections that had joined, and second connections of players.
    joins_again,
    second_connections,
    /// Seed texts that committed clients revealed, and commitments that were dealt without a text.
    revealed,
    unrevealed,
    /// Actions of the AI for players who were away, within the grace (rule 8.3).
    grace_actions,
    /// Connections that were disconnected for a dead node.
    reaped,
    /// Watchers that were too slow.
    slow_watchers,
    /// Refunds of the POTs of private tables.
    pot_refunds,
    /// Grants of coins to players.
    grants,
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

/// The first failure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulationError {
    /// The name of the game, such as `tongits`.
    pub game: &'static str,
    pub seed: u64,
    pub message: String,
    /// The run made no progress in time, and no check found a violation.
    pub is_stalled: bool,
    /// The log of the events before the failure, if it was kept.
    pub story: Vec<String>,
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { game, seed, message, story, .. } = self;
        for line in story {
            writeln!(f, "{line}")?;
        }
        writeln!(f, "{game}, seed {seed}: {message}")?;
        write!(f, "repeat with: ./dev simulate-house --game {game} --seed {seed} --runs 1 --tell")
    }
}

impl std::error::Error for SimulationError {}

/// The reason why a run ends early.
pub(super) enum RunFailure {
    /// A check found a violation.
    Violation(String),
    /// The run made no progress in time.
    Stall(String),
}

impl From<String> for RunFailure {
    fn from(violation: String) -> Self {
        Self::Violation(violation)
    }
}
