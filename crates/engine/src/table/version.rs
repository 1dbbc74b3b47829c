//! The version of the engine: of the rules as they are coded, and of what journals and snapshots
//! say. It is the promise that a journal replays to the same table, bit for bit, wherever it is
//! replayed.
//!
//! Raise [`ENGINE`] with every change after which a journal or snapshot written before would
//! replay to another table, or not at all: another rule, another default, another order of
//! chance, a field of a line or a snapshot with another meaning. Leave it for what replays alike:
//! a faster meld finder, a bot that plays better, a new view. An older version stays in
//! [`ENGINES`] for as long as this code still replays it; tables keep the version that they were
//! founded with, so while nodes of two versions run, each plays the tables that it can.

use alloc::format;
use alloc::string::String;

/// What new tables are founded with. Version 2 added two lines, a room's new terms and a player
/// removed; version 3 bots of the house, and pictures of players. What earlier versions wrote
/// replays alike.
pub const ENGINE: u32 = 3;

/// Every version whose journals this code replays.
pub const ENGINES: [u32; 3] = [1, 2, ENGINE];

/// The first version that knows [`Input::Reterm`](super::Input) and [`Input::Remove`](super::Input):
/// nodes that play older tables could not replay these lines.
pub(super) const WITH_REVISIONS: u32 = 2;

/// The first version that knows bots and pictures.
pub(super) const WITH_BOTS: u32 = 3;

/// Of tables that were founded before versions were written down.
pub(super) const fn first() -> u32 {
    1
}

/// As records name a version.
pub(super) fn name(engine: u32) -> String {
    format!("bahay/engine/v{engine}")
}

#[cfg(test)]
mod tests {
    use super::{ENGINE, ENGINES};

    #[test]
    fn what_is_founded_can_be_replayed() {
        assert!(ENGINES.contains(&ENGINE));
    }
}
