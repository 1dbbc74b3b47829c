//! Counters of this process's tables since its start, for metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::metrics::PlayMetrics;

/// The counters of one process.
#[derive(Debug, Default)]
pub struct Counts {
    play: Arc<PlayMetrics>,
    pub(super) halted: AtomicU64,
    pub(super) other_version: AtomicU64,
    pub(super) voided_lost: AtomicU64,
    pub(super) dead_node_connections: AtomicU64,
    is_other_version_logged: AtomicBool,
}

impl Counts {
    /// Returns the metrics of an action's path.
    pub fn play(&self) -> &Arc<PlayMetrics> {
        &self.play
    }

    /// Returns the number of tables that this process halted.
    pub fn halted(&self) -> u64 {
        self.halted.load(Ordering::Relaxed)
    }

    /// Returns how often a table was left to nodes of another engine version.
    pub fn other_version(&self) -> u64 {
        self.other_version.load(Ordering::Relaxed)
    }

    /// Returns the number of games that this process voided because their live state was lost.
    pub fn voided_lost(&self) -> u64 {
        self.voided_lost.load(Ordering::Relaxed)
    }

    /// Returns the number of dead nodes' connections that this process disconnected at their
    /// tables.
    pub fn dead_node_connections(&self) -> u64 {
        self.dead_node_connections.load(Ordering::Relaxed)
    }

    /// Counts a table of another engine version, and logs the first one.
    pub(super) fn record_other_version(&self, table: impl std::fmt::Display, engine: u32) {
        self.other_version.fetch_add(1, Ordering::Relaxed);
        if !self.is_other_version_logged.swap(true, Ordering::Relaxed) {
            tracing::warn!(%table, engine, "tables of another engine version are left to other nodes");
        }
    }
}

/// Increments a counter.
pub(super) fn increment(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
