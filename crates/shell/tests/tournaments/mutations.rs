//! Every deliberate defect of the house is detected.

use bahay_shell::simulation::tournaments::{TournamentMutation, simulate_tournament};

use crate::options::random_options;

/// Each mutation is detected within a bounded number of seeds, at each of which the house without
/// it holds.
#[test]
fn every_mutation_is_detected() {
    for mutation in TournamentMutation::ALL {
        let found = (1..=60).find_map(|seed| {
            let mut options = random_options(u32::try_from(seed % 4).unwrap(), 40, seed);
            options.mutation = Some(mutation);
            let failure = simulate_tournament(options.clone()).err()?;
            options.mutation = None;
            simulate_tournament(options).unwrap_or_else(|failure| panic!("{failure}"));
            Some(failure)
        });
        match found {
            Some(failure) => println!("{mutation:?}: {failure}"),
            None => panic!("no check detects {mutation:?}"),
        }
    }
}
