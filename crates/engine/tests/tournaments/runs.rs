//! Whole tournaments in virtual time under faults: they come to an end, no coin is left, and every
//! player has a result.
//!
//! `BAHAY_TOURNAMENT_SEEDS` sets the number of seeds of each kind, `BAHAY_TOURNAMENT_PLAYERS` the
//! number of players, 10,000 in the measure of the project.

use std::cell::Cell;
use std::env;

use bahay_engine::testing::{TournamentRun, simulate_tournament};
use bahay_engine::tournament::Phase;

use super::support::random_options;
use crate::support::with_each_seed;

fn setting(name: &str, default: u32) -> u32 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Plays tournaments of a kind.
fn play_kind(kind: u32) {
    let seeds = setting("BAHAY_TOURNAMENT_SEEDS", 12);
    let players = setting("BAHAY_TOURNAMENT_PLAYERS", 120);
    let tournaments = if kind == 0 { players.div_ceil(27) } else { 1 };
    let totals = Cell::new((0, 0, 0, 0));
    with_each_seed(u64::from(seeds), |seed| {
        for number in 0..u64::from(tournaments) {
            let seed = seed + number * 1_000_003;
            let players = if kind == 0 { 40 } else { players };
            let mut options = random_options(kind, players, seed);
            if kind == 0 && options.cancel_after_ms.is_none() {
                // One that never fills is cancelled.
                options.cancel_after_ms = Some(20 * 60 * 60_000);
            }
            let run = simulate_tournament(options).unwrap_or_else(|failure| panic!("{failure}"));
            check_run(&run);
            let (ended, games, kills, repeated) = totals.get();
            let is_ended = u32::from(run.tournament.phase() == Phase::Ended);
            let repeated = repeated + run.repeated;
            totals.set((ended + is_ended, games + run.games, kills + run.kills, repeated));
        }
    });
    let (ended, games, kills, repeated) = totals.get();
    println!("{ended} ended, {games} games, {kills} kills, {repeated} effects repeated");
    assert!(ended > 0 && games > 0 && kills > 0, "the runs are trivial");
}

fn check_run(run: &TournamentRun) {
    assert!(run.tournament.is_settled() && run.tournament.balance().is_zero());
    if run.tournament.phase() == Phase::Ended {
        assert!(run.games > 0);
    }
}

#[test]
fn sit_and_gos_always_pay_under_faults() {
    play_kind(0);
}

#[test]
fn knock_outs_always_pay_under_faults() {
    play_kind(1);
}

#[test]
fn arenas_always_pay_under_faults() {
    play_kind(2);
}

#[test]
fn duplicates_always_pay_under_faults() {
    play_kind(3);
}
