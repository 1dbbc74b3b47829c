//! The version of the engine: of the rules as implemented, and of the meaning of journals and
//! snapshots. It guarantees that a journal replays to the same table, bit for bit, wherever it is
//! replayed.
//!
//! Increase [`ENGINE`] with every change after which an existing journal or snapshot would replay
//! to another table, or not at all: another rule, another default, another order of chance, another
//! meaning of a field in a line or a snapshot. Leave it for changes that replay alike: a faster
//! meld finder, a bot that plays better, a new view. An older version stays in [`ENGINES`] for as
//! long as this code still replays it. A table keeps the version of its creation, so while
//! nodes of two versions run, each plays the tables that it supports.
//!
//! Nothing has been released yet, so there is one version, which may still change.

use alloc::format;
use alloc::string::String;

/// The version of new tables.
pub const ENGINE: u32 = 1;

/// Every version whose journals this code replays.
pub const ENGINES: [u32; 1] = [ENGINE];

/// Returns the name of a version in records.
pub(super) fn engine_name(engine: u32) -> String {
    format!("bahay/engine/v{engine}")
}

#[cfg(test)]
mod tests {
    use super::{ENGINE, ENGINES};

    #[test]
    fn the_current_engine_can_be_replayed() {
        assert!(ENGINES.contains(&ENGINE));
    }
}
