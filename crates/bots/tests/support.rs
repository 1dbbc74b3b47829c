//! Tables and games for the tests of the AI.

use bahay_bots::Ai;
use bahay_engine::coins::Coins;
use bahay_engine::game::GameKind;
use bahay_engine::table::Terms;
use bahay_engine::testing::{self, Policy, TestRng, play};

/// Returns the terms of a table with the rule set of this name.
pub fn terms<G: GameKind>(rule_set: &str) -> Terms<G::Rules> {
    let set = G::rule_sets().iter().find(|set| set.name == rule_set).expect("there is such a one");
    testing::terms((set.rules)(), set.hits, Coins::from_hundredths(100), 1)
}

/// Plays a game to its end, each seat by its policy; a random seat begins.
pub fn play_game<G: Ai>(rules: &G::Rules, policies: &[Policy], seed: u64) -> G {
    play(rules, None, policies, G::choose_action, &mut TestRng::new(seed)).0
}

/// Returns the number of games that `BAHAY_GAMES` sets.
pub fn games(otherwise: u64) -> u64 {
    let given = std::env::var("BAHAY_GAMES").ok().and_then(|games| games.parse().ok());
    given.unwrap_or(otherwise)
}
