//! The games of the catalogue, each in a module of its own, and what they share.

mod action_numbers;
pub(crate) mod description;
mod list;
pub mod tongits;
pub mod tongo_assets;
pub mod tongo_options;

#[cfg(test)]
mod tests {
    use crate::game::{GameKind, GameRules, RulesError};
    use crate::games::tongits::{Preset, Tongits};
    use crate::games::tongo_assets::TongoAssets;
    use crate::games::tongo_options::TongoOptions;
    use alloc::vec::Vec;

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

    /// Checks that rules are read as they are written, and refused with a misspelt field in them or
    /// in one of their parts.
    fn check_misspelt_fields<G: GameKind>() {
        for set in G::rule_sets() {
            let rules = (set.rules)();
            let written = serde_json::to_value(&rules).unwrap();
            assert_eq!(serde_json::from_value::<G::Rules>(written.clone()).unwrap(), rules);
            let mut misspelt = written.clone();
            misspelt["misspelt"] = 1.into();
            assert!(serde_json::from_value::<G::Rules>(misspelt).is_err(), "{}", set.name);
            let fields = written.as_object().unwrap().iter();
            for (part, _) in fields.filter(|(_, value)| value.is_object()) {
                let mut misspelt = written.clone();
                misspelt[part]["misspelt"] = 1.into();
                let read = serde_json::from_value::<G::Rules>(misspelt);
                assert!(read.is_err(), "{} of {}", part, set.name);
            }
        }
    }

    #[test]
    fn a_misspelt_field_of_the_rules_is_refused() {
        check_misspelt_fields::<Tongits>();
        check_misspelt_fields::<TongoAssets>();
        check_misspelt_fields::<TongoOptions>();
    }

    /// A change of rules, with the name of the field by which it is refused.
    pub(super) type InvalidField<R> = (&'static str, fn(&mut R));

    /// Checks that each change of the rules is refused by the name of a field, and returns the
    /// errors.
    pub(super) fn check_invalid_fields<R: GameRules + Copy>(
        rules: R,
        changes: &[InvalidField<R>],
    ) -> Vec<RulesError> {
        let check = |(field, change): &InvalidField<R>| {
            let mut invalid = rules;
            change(&mut invalid);
            let error = invalid.check().unwrap_err();
            assert_eq!(error.field, *field);
            let path = alloc::format!("/{}", field.replace('.', "/"));
            let written = serde_json::to_value(invalid).unwrap();
            assert!(written.pointer(&path).is_some(), "the error names a field: {error}");
            error
        };
        changes.iter().map(check).collect()
    }
}
