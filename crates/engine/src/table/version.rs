//! The version of the engine: of the rules as they are coded, and of what journals and snapshots
//! say. It is the promise that a journal replays to the same table, bit for bit, wherever it is
//! replayed.
//!
//! Raise [`ENGINE`] with every change after which a journal or snapshot written before would
//! replay to another table, or not at all: another rule, another default, another order of
//! chance, a field of a line or a snapshot with another meaning. Leave it for what replays alike:
//! a faster meld finder, a bot that plays better, a new view. An older version stays in
//! [`ENGINES`] for as long as this code still replays it; tables keep the version that they were
//! created with, so while nodes of two versions run, each plays the tables that it can.
//!
//! Nothing has been released yet, so there is one version, and it may still change.

use alloc::format;
use alloc::string::String;

/// What new tables are created with.
pub const ENGINE: u32 = 1;

/// Every version whose journals this code replays.
pub const ENGINES: [u32; 1] = [ENGINE];

/// As records name a version.
pub(super) fn engine_name(engine: u32) -> String {
    format!("bahay/engine/v{engine}")
}

#[cfg(test)]
mod tests {
    use super::{ENGINE, ENGINES};

    #[test]
    fn what_is_created_can_be_replayed() {
        assert!(ENGINES.contains(&ENGINE));
    }
}
