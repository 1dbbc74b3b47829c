//! The terms of tables for tests.

use crate::coins::Coins;
use crate::game::{Hits, Skill};
use crate::table::{Clocks, Price, Spectators, Terms};

/// Returns the terms of a public table with this bet, a fee of a twentieth and all else as usual.
pub fn terms<R>(rules: R, hits: Option<Hits>, bet: Coins, multiplier: u32) -> Terms<R> {
    Terms {
        room: "newbie".into(),
        rules,
        price: Price { bet, multiplier, fee_basis_points: 500 },
        hits,
        clocks: Clocks::default(),
        spectators: Spectators::default(),
        bots: Skill::default(),
        private: None,
        practice: false,
        tournament: None,
    }
}
