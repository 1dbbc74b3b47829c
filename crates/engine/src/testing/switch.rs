//! Rules with a switch, for games of tests that break a sound game's contract.

use core::ops::RangeInclusive;

use crate::game::{GameRules, RulesError, SeatRange, Value};

/// A switch that selects a fault.
pub trait Switch: Value {
    /// The name of the game with the fault.
    const KIND: &'static str;
}

impl<S: Switch, R: GameRules> GameRules for (S, R) {
    fn kind(&self) -> &'static str {
        S::KIND
    }

    fn seats(&self) -> SeatRange {
        self.1.seats()
    }

    fn counts_max(&self, seats: u8) -> u32 {
        self.1.counts_max(seats)
    }

    fn may_have_short_stakes(&self) -> bool {
        self.1.may_have_short_stakes()
    }

    fn check(&self) -> Result<(), RulesError> {
        self.1.check()
    }

    fn countdown_ms(&self) -> RangeInclusive<u32> {
        self.1.countdown_ms()
    }
}
