//! What happens and what goes wrong at tables, counted from the start of the process, for whoever
//! reports figures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::metrics::Play;

/// Counters of one process.
#[derive(Debug, Default)]
pub struct Counts {
    play: Arc<Play>,
    pub(super) halted: AtomicU64,
    pub(super) other_version: AtomicU64,
    pub(super) voided_lost: AtomicU64,
    pub(super) dead_node_connections: AtomicU64,
    is_other_version_logged: AtomicBool,
}

impl Counts {
    /// The way of a move in figures.
    pub fn play(&self) -> &Arc<Play> {
        &self.play
    }

    /// Tables that this process halted.
    pub fn halted(&self) -> u64 {
        self.halted.load(Ordering::Relaxed)
    }

    /// How often a table was left to nodes of another version of the engine.
    pub fn other_version(&self) -> u64 {
        self.other_version.load(Ordering::Relaxed)
    }

    /// Games that this process voided because their live state was lost.
    pub fn voided_lost(&self) -> u64 {
        self.voided_lost.load(Ordering::Relaxed)
    }

    /// Connections of dead nodes whose tables this process told.
    pub fn dead_node_connections(&self) -> u64 {
        self.dead_node_connections.load(Ordering::Relaxed)
    }

    /// Counts a table of another version, and says so in the log, the first time.
    pub(super) fn record_other_version(&self, table: impl std::fmt::Display, engine: u32) {
        self.other_version.fetch_add(1, Ordering::Relaxed);
        if !self.is_other_version_logged.swap(true, Ordering::Relaxed) {
            tracing::warn!(%table, engine, "tables of another engine version are left to other nodes");
        }
    }
}

/// One more.
pub(super) fn increment(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
