//! The games of the catalogue, each in a module of its own, and what they share.

mod action_numbers;
mod conditions;
mod description;
mod list;
pub mod tongits;
pub mod tongo_assets;
pub mod tongo_options;

#[cfg(test)]
mod tests {
    use crate::game::{GameKind, GameRules};
    use crate::games::tongits::{Preset, Tongits};
    use crate::games::tongo_assets::TongoAssets;
    use crate::games::tongo_options::TongoOptions;

    /// Checks that the rule sets of a game have these names, the default first, and that each is a
    /// set of its own by which games can be dealt.
    fn check_rule_sets<G: GameKind>(names: &[&str]) {
        let sets = G::rule_sets();
        assert!(sets.iter().map(|set| set.name).eq(names.iter().copied()), "{names:?}");
        for (place, set) in sets.iter().enumerate() {
            assert_eq!((set.rules)().check(), Ok(()), "{}", set.name);
            for other in &sets[place + 1..] {
                assert_ne!(set.name, other.name);
                assert_ne!((set.rules)(), (other.rules)(), "{} and {}", set.name, other.name);
            }
        }
    }

    #[test]
    fn rule_sets_differ_and_can_be_dealt() {
        check_rule_sets::<Tongits>(&["kingdom", "classic", "joker", "relaxed"]);
        check_rule_sets::<TongoAssets>(&["standard", "personal", "advanced"]);
        check_rule_sets::<TongoOptions>(&["lively", "seed"]);
        for (preset, set) in Preset::ALL.iter().zip(Tongits::rule_sets()) {
            assert_eq!((preset.name, preset.rules), (set.name, (set.rules)()));
        }
    }
}
