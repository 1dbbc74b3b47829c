//! Formats with names, from which operators create tournaments.

use alloc::vec;
use alloc::vec::Vec;

use crate::tournament::terms::{EntrantLimits, Format, PayoutStep, Stage};

/// A named format, with the bounds on entrants and the payouts that fit it.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// The identifier in snake case.
    pub name: &'static str,
    pub format: Format,
    pub entrants: EntrantLimits,
    pub payouts: Vec<PayoutStep>,
    /// The wait of the first player of a sit-and-go until house bots complete it, if the terms have
    /// bots and name no other; 0 for other formats.
    pub bots_after_ms: u32,
}

/// Returns the presets for tables of three (rules 3.6, 4.1 and 5.1).
pub fn presets() -> Vec<Preset> {
    let steps = || {
        let step =
            |entrants_from, shares: &[u32]| PayoutStep { entrants_from, shares: shares.to_vec() };
        vec![
            step(0, &[100]),
            step(6, &[65, 35]),
            step(18, &[50, 30, 20]),
            step(50, &[38, 24, 15, 10, 7, 6]),
            step(100, &[30, 20, 14, 10, 8, 6, 4, 3, 3, 2]),
        ]
    };
    let sit_and_go = |name, seats, bots_after_ms| Preset {
        name,
        format: Format::SitAndGo { games: 6 },
        entrants: EntrantLimits { least: seats, most: seats },
        payouts: steps(),
        bots_after_ms,
    };
    let stage = |groups, rounds, advance| Stage { groups, rounds, games: 3, advance };
    vec![
        sit_and_go("sit_and_go_3", 3, 30_000),
        sit_and_go("sit_and_go_9", 9, 60_000),
        sit_and_go("sit_and_go_27", 27, 120_000),
        Preset {
            name: "championship",
            format: Format::KnockOut {
                stages: vec![stage(3, 20, 63), stage(1, 10, 9), stage(1, 6, 0)],
            },
            entrants: EntrantLimits { least: 9, most: 135 },
            payouts: steps(),
            bots_after_ms: 0,
        },
        Preset {
            name: "arena_hour",
            format: Format::Arena { duration_ms: 60 * 60 * 1_000, pairing_ms: 3_000 },
            entrants: EntrantLimits { least: 3, most: 3_000 },
            payouts: steps(),
            bots_after_ms: 0,
        },
        Preset {
            name: "duplicate_30",
            format: Format::Duplicate { rounds: 30, games: 1 },
            entrants: EntrantLimits { least: 6, most: 3_000 },
            payouts: steps(),
            bots_after_ms: 0,
        },
    ]
}
