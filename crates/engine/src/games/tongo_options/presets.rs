//! The named rule sets (rule 8.4), from which rooms choose.

use crate::game::RuleSet;
use crate::games::tongo_options::rules::{Countdowns, Rules};

/// The named rule sets; the first is the default. Neither has a POT (rule 9.2).
pub(super) const RULE_SETS: [RuleSet<Rules>; 2] = [
    RuleSet { name: "lively", title: "Lively", rules: Rules::lively, hits: None },
    RuleSet { name: "seed", title: "Seed", rules: Rules::seed, hits: None },
];

impl Rules {
    /// Returns the rules without challenges in the first rounds, and with a price for answering
    /// them.
    pub const fn lively() -> Self {
        Self { challenge_round: 3, answer_pays_risk: true, ..Self::seed() }
    }

    /// Returns the rules of the game's author.
    pub const fn seed() -> Self {
        Self {
            seats_min: 2,
            seats_max: 4,
            chips: 100,
            start_cost: 1,
            raise_max: 5,
            buy_in: 5,
            free_exchange: true,
            dice_2d6: false,
            index_margin: false,
            rounds_max: 20,
            challenge_round: 1,
            answer_pays_risk: false,
            countdowns: Countdowns { stop_ms: 10_000, turn_ms: 40_000, answer_ms: 15_000 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE_SETS;
    use crate::game::GameRules;
    use crate::games::tongo_options::rules::Rules;

    #[test]
    fn rule_sets_can_be_dealt_and_the_default_comes_first() {
        assert_eq!(RULE_SETS.map(|set| set.name), ["lively", "seed"]);
        for set in RULE_SETS {
            assert_eq!((set.rules)().check(), Ok(()), "{}", set.name);
        }
        assert_ne!(Rules::lively(), Rules::seed());
    }
}
