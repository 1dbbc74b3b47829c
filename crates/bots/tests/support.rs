//! Games of the AI against other policies, for the tests of its strength.

use bahay_bots::Ai;
use bahay_engine::testing::{Policy, TestRng, play};

/// Plays a game to its end, each seat by its policy; a random seat begins.
pub fn play_game<G: Ai>(rules: &G::Rules, policies: &[Policy], seed: u64) -> G {
    play(rules, None, policies, G::choose_action, &mut TestRng::new(seed)).0
}

/// Returns the number of games that `BAHAY_GAMES` sets.
pub fn games(otherwise: u64) -> u64 {
    let given = std::env::var("BAHAY_GAMES").ok().and_then(|games| games.parse().ok());
    given.unwrap_or(otherwise)
}
