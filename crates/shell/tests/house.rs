//! The whole house in virtual time under faults: whatever fails, nothing that must hold breaks;
//! and where something in the house is broken on purpose, the checks find it.
//!
//! `BAHAY_SEED` gives the first seed; a failing run prints its own and the command that repeats it.

use bahay_shell::simulation::{Mutation, Options, Tally, simulate};

/// The first seed of this run.
fn base() -> u64 {
    std::env::var("BAHAY_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

fn holds(seeds: impl Iterator<Item = u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let report = simulate(Options::of(seed)).unwrap_or_else(|failure| panic!("{failure}"));
        tally.add(&report.tally);
    }
    tally
}

#[test]
fn everything_holds_whatever_fails() {
    let tally = holds((0..6).map(|number| base().wrapping_add(number)));
    println!("{tally:?}");
    assert!(tally.games > 100 && tally.acks > 1_000, "{tally:?}");
    assert!(tally.resumes > 100 && tally.compactions > 0, "{tally:?}");
    assert!(tally.joins_again > 1_000 && tally.second_connections > 20, "{tally:?}");
    assert!(tally.halted > 0 && tally.released > 0 && tally.ended > 0, "{tally:?}");
    assert!(tally.pot_refunds > 0, "{tally:?}");
    assert!(tally.stood_in > 20, "{tally:?}");
    assert!(tally.revealed > 100 && tally.unrevealed > 5, "{tally:?}");
    assert!(tally.closed > 0 && tally.terms_updates > 50 && tally.abandoned > 0, "{tally:?}");
    assert!(tally.written_directly > 10_000 && tally.resumed_from_memory > 50, "{tally:?}");
}

#[test]
fn one_seed_is_one_run_to_the_last_byte() {
    let run = |seed| simulate(Options::of(seed)).unwrap_or_else(|failure| panic!("{failure}"));
    let seed = base().wrapping_add(100);
    assert_eq!(run(seed), run(seed));
    assert_ne!(run(seed).digest, run(seed.wrapping_add(1)).digest);
}

/// Each canary dies within a bounded number of seeds, most of them at the first.
#[test]
fn what_is_broken_on_purpose_is_found() {
    let mut missed = Vec::new();
    for mutation in Mutation::ALL {
        // A gap is rare, because a host tells the lines that are new one by one.
        let seeds = if matches!(mutation, Mutation::OverlooksGaps) { 100 } else { 20 };
        let found = (1..=seeds).find_map(|seed| {
            simulate(Options { mutation: Some(mutation), ..Options::of(seed) }).err()
        });
        match found {
            Some(failure) => println!("{mutation:?}: seed {}: {}", failure.seed, failure.what),
            None => missed.push(mutation),
        }
    }
    assert!(missed.is_empty(), "{missed:?} are found by no check");
}
