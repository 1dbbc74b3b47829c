//! Whole tournaments in virtual time under faults: they come to an end, no coin is left, and every
//! player has a result; the verifier in Python recomputes places and payments.
//!
//! `BAHAY_TOURNAMENT_SEEDS` sets the number of seeds of each kind, `BAHAY_TOURNAMENT_PLAYERS` the
//! number of players, 10,000 in the measure of the project.

use std::cell::Cell;
use std::env;

use bahay_engine::testing::{TournamentRun, simulate_tournament};
use bahay_engine::tournament::Phase;
use serde_json::Value;

use super::support::random_options;
use super::verifier::SCRIPT;
use crate::independent::verdicts;
use crate::support::with_each_seed;

fn setting(name: &str, default: u32) -> u32 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Checks that the final place of each player is the one in the results.
fn check_final_places(run: &TournamentRun) {
    for line in run.results.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for given in line["places"].as_array().into_iter().flatten() {
            let player = serde_json::from_value(given["player"].clone()).unwrap();
            let place = run.tournament.final_place(player);
            let place = place.map(|place| serde_json::to_value(place).unwrap());
            assert_eq!(place.as_ref(), Some(given));
        }
    }
}

/// Plays tournaments of a kind, one in four of which is cancelled, and verifies their results.
fn play_kind(kind: u32) {
    let seeds = setting("BAHAY_TOURNAMENT_SEEDS", 12);
    let players = setting("BAHAY_TOURNAMENT_PLAYERS", 120);
    let tournaments = if kind == 0 { players.div_ceil(27) } else { 1 };
    let totals = Cell::new((0, 0, 0, 0));
    with_each_seed(u64::from(seeds), |seed| {
        let runs: Vec<TournamentRun> = (0..u64::from(tournaments))
            .map(|number| {
                let players = if kind == 0 { 40 } else { players };
                let options = random_options(kind, players, seed + number * 1_000_003);
                simulate_tournament(options).unwrap_or_else(|failure| panic!("{failure}"))
            })
            .collect();
        for run in &runs {
            check_final_places(run);
            assert!(run.tournament.is_settled() && run.tournament.balance().is_zero());
            let (ended, games, kills, repeated) = totals.get();
            let is_ended = u32::from(run.tournament.phase() == Phase::Ended);
            let repeated = repeated + run.repeated;
            totals.set((ended + is_ended, games + run.games, kills + run.kills, repeated));
        }
        let results: Vec<&str> = runs.iter().map(|run| run.results.as_str()).collect();
        for batch in results.chunks(50) {
            let Some((verdicts, code)) = verdicts(SCRIPT, batch) else { continue };
            let wrong = verdicts.iter().find(|verdict| !verdict.starts_with("verified: "));
            assert_eq!((wrong, code), (None, Some(0)), "seed {seed}");
        }
    });
    let (ended, games, kills, repeated) = totals.get();
    println!("{ended} ended, {games} games, {kills} kills, {repeated} effects repeated");
    assert!(ended > 0 && games > 0 && kills > 0, "the runs are trivial");
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
