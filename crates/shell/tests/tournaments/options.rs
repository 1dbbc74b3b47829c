//! Tournaments by kind and seed.

use std::env;

use bahay_engine::testing::TestRng;
use bahay_shell::simulation::tournaments::{TournamentOptions, TournamentRun, simulate_tournament};

use crate::support::{MINUTE_MS, random_terms};

/// Returns a number from the environment.
pub(crate) fn setting(name: &str, default: u32) -> u32 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Returns the seeds of this run.
pub(crate) fn seeds(most: u64) -> Vec<u64> {
    let given = env::var("BAHAY_SEED").ok().and_then(|seed| seed.parse().ok());
    given.map_or_else(|| (1..=most).collect(), |seed| vec![seed])
}

/// Returns a tournament of a kind, 0 to 3, for about this number of players on two to four nodes.
/// One in four is cancelled.
pub(crate) fn random_options(kind: u32, players: u32, seed: u64) -> TournamentOptions {
    let mut rng = TestRng::new(seed ^ 0x5eed_5eed);
    let terms = random_terms(kind, players, seed);
    let registration_ms = (10 + rng.below(6)) * MINUTE_MS;
    // A sit-and-go that never fills is cancelled as well.
    let patience_ms = (kind == 0).then_some(20 * 60 * MINUTE_MS);
    let is_cancelled = seed % 4 == 3;
    let cancel_after_ms = if is_cancelled { Some(rng.below(40 * MINUTE_MS)) } else { patience_ms };
    TournamentOptions {
        terms,
        players,
        seed,
        nodes: 2 + usize::try_from(seed % 3).unwrap(),
        has_faults: true,
        cancel_after_ms,
        registration_ms,
        mutation: None,
    }
}

/// Runs a tournament whose checks must hold.
pub(crate) fn run(options: TournamentOptions) -> TournamentRun {
    simulate_tournament(options).unwrap_or_else(|failure| panic!("{failure}"))
}
