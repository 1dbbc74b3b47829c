//! The simulated house under faults: every check holds under every fault, and every deliberate
//! defect is detected.
//!
//! `BAHAY_SEED` sets the first seed; a failed run prints its own seed and the command that repeats
//! it.

use std::collections::BTreeSet;

use bahay_engine::catalog;
use bahay_engine::games::tongits::Tongits;
use bahay_shell::simulation::{
    Mutation, Options, Report, RunTotals, SimulationError, simulate, simulate_game,
};

/// Returns the first seed of this run.
fn first_seed() -> u64 {
    std::env::var("BAHAY_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

/// Returns the options of a house with tables of three.
fn from_seed(seed: u64) -> Options {
    Options::from_seed(seed, 3)
}

fn run(options: Options) -> Result<Report, SimulationError> {
    simulate::<Tongits>(options)
}

#[test]
fn every_check_holds_under_faults() {
    let mut totals = RunTotals::default();
    for seed in (0..6).map(|number| first_seed().wrapping_add(number)) {
        let report = run(from_seed(seed)).unwrap_or_else(|failure| panic!("{failure}"));
        totals.add(&report.totals);
    }
    println!("{totals:?}");
    assert!(totals.games > 100 && totals.acks > 1_000, "{totals:?}");
    assert!(totals.acks_in_updates > 1_000, "{totals:?}");
    assert!(totals.resumes > 100 && totals.compactions > 0, "{totals:?}");
    assert!(totals.joins_again > 1_000 && totals.second_connections > 20, "{totals:?}");
    assert!(
        totals.tables_halted > 0 && totals.tables_released > 0 && totals.tables_voided > 0,
        "{totals:?}"
    );
    assert!(totals.pot_refunds > 0, "{totals:?}");
    assert!(totals.grace_actions > 20, "{totals:?}");
    assert!(totals.revealed > 100 && totals.unrevealed > 5, "{totals:?}");
    assert!(
        totals.tables_closed > 0 && totals.terms_updates > 50 && totals.abandoned > 0,
        "{totals:?}"
    );
    assert!(totals.written_directly > 10_000 && totals.resumed_from_memory > 50, "{totals:?}");
}

#[test]
fn one_seed_gives_one_run_byte_for_byte() {
    let run = |seed| run(from_seed(seed)).unwrap_or_else(|failure| panic!("{failure}"));
    let seed = first_seed().wrapping_add(100);
    assert_eq!(run(seed), run(seed));
    assert_ne!(run(seed).digest, run(seed.wrapping_add(1)).digest);
}

/// Returns the names of the house's games other than Tong-its.
fn other_games() -> impl Iterator<Item = &'static str> {
    let games = catalog::kinds().into_iter().filter(|kind| !kind.is_hidden);
    games.map(|kind| kind.name).filter(|name| *name != "tongits")
}

fn run_game(game: &str, options: impl FnOnce(u8) -> Options) -> Result<Report, SimulationError> {
    simulate_game(game, options).expect("the catalogue has the game")
}

/// The checks that do not depend on the rules hold at every other game of the house too.
#[test]
fn every_other_game_holds_under_faults() {
    for game in other_games() {
        let mut totals = RunTotals::default();
        for seed in (0..2).map(|number| first_seed().wrapping_add(number)) {
            let options = |seats| Options { games: 12, ..Options::from_seed(seed, seats) };
            let report = run_game(game, options).unwrap_or_else(|failure| panic!("{failure}"));
            totals.add(&report.totals);
        }
        assert!(totals.games > 20 && totals.acks > 100 && totals.resumes > 10, "{totals:?}");
        assert!(totals.terms_updates > 0 && totals.written_directly > 100, "{totals:?}");
    }
}

/// The defects of the house are detected without knowledge of the rules: by a check, not because
/// the run stalls, and at a seed at which the house without the defect holds.
#[test]
fn mutations_are_detected_at_every_game() {
    const MUTATIONS: [Mutation; 6] = [
        Mutation::ForgetsToRedact,
        Mutation::ShowsAnothersView,
        Mutation::SettlesTwice,
        Mutation::AppendsBlindly,
        Mutation::GivesNoGrace,
        Mutation::ForgetsReveals,
    ];
    for game in other_games() {
        let run = |mutation, seed| {
            run_game(game, |seats| Options { mutation, ..Options::from_seed(seed, seats) })
        };
        let mut sound_seeds = BTreeSet::new();
        let mut check_baseline = |seed| {
            if sound_seeds.insert(seed) {
                run(None, seed).unwrap_or_else(|failure| panic!("without a mutation: {failure}"));
            }
        };
        check_baseline(1);
        for mutation in MUTATIONS {
            let is_detected =
                |seed: &u64| run(Some(mutation), *seed).is_err_and(|failure| !failure.is_stalled);
            match (1..=20).find(is_detected) {
                Some(seed) => check_baseline(seed),
                None => panic!("no check detects {mutation:?} at {game}"),
            }
        }
    }
}

/// Each mutation is detected within a bounded number of seeds, mostly with the first.
#[test]
fn every_mutation_is_detected() {
    let mut missed = Vec::new();
    for mutation in Mutation::ALL.iter().copied() {
        // A gap is rare, because a host delivers new lines one by one.
        let seeds = if matches!(mutation, Mutation::OverlooksGaps) { 100 } else { 20 };
        let found = (1..=seeds)
            .find_map(|seed| run(Options { mutation: Some(mutation), ..from_seed(seed) }).err());
        match found {
            Some(failure) => println!("{mutation:?}: seed {}: {}", failure.seed, failure.message),
            None => missed.push(mutation),
        }
    }
    assert!(missed.is_empty(), "no check detects {missed:?}");
}
