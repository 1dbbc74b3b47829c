//! Fault hooks for tests.

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::Table;

/// Fault hooks for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultHooks {
    /// Called with every text of a client before it is parsed.
    pub before_parse: Option<fn(&str)>,
    /// Called with every table before it is shown to a player.
    pub before_showing: Option<fn(&Table<AnyGame>)>,
}
