//! Whole tournaments in virtual time under faults: they come to an end, no coin is left, and every
//! player has a result; the verifier in Python recomputes places and payments.
//!
//! `BAHAY_TOURNAMENT_SEEDS` sets the number of seeds of each kind, `BAHAY_TOURNAMENT_PLAYERS` the
//! number of players, 10,000 in the measure of the project.

use bahay_engine::tournament::Phase;
use bahay_shell::simulation::tournaments::{TournamentCounts, TournamentRun};
use serde_json::Value;

use crate::independent::verdicts;
use crate::options::{random_options, run, seeds, setting};
use crate::verifier::SCRIPT;

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
    let players = setting("BAHAY_TOURNAMENT_PLAYERS", 120);
    let tournaments = if kind == 0 { players.div_ceil(27) } else { 1 };
    let mut ended = 0;
    let mut counts = TournamentCounts::default();
    for seed in seeds(setting("BAHAY_TOURNAMENT_SEEDS", 12).into()) {
        let runs: Vec<TournamentRun> = (0..u64::from(tournaments))
            .map(|number| {
                let players = if kind == 0 { 40 } else { players };
                run(random_options(kind, players, seed + number * 1_000_003))
            })
            .collect();
        for run in &runs {
            check_final_places(run);
            ended += u32::from(run.tournament.phase() == Phase::Ended);
            counts.add(&run.counts);
        }
        let results: Vec<&str> = runs.iter().map(|run| run.results.as_str()).collect();
        for batch in results.chunks(50) {
            let Some((verdicts, code)) = verdicts(SCRIPT, batch) else { continue };
            let wrong = verdicts.iter().find(|verdict| !verdict.starts_with("verified: "));
            assert_eq!((wrong, code), (None, Some(0)), "seed {seed}");
        }
        println!("seed {seed}: {} games, {} kills so far", counts.games, counts.kills);
    }
    println!("{ended} ended, {counts:?}");
    assert!(ended > 0 && counts.games > 0 && counts.kills > 0, "the runs are trivial");
    assert!(counts.conflicts > 0 && counts.lost_calls > 0, "the nodes do not race: {counts:?}");
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
