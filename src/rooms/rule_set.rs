//! Rule sets by name, for operators and hosts, who choose one and not a dozen switches.

use bahay_engine::games::tongits::{Additions, Countdowns, Rules};

/// A named rule set of Tong-its.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSet {
    /// As docs/rules/tongits.md has it.
    Kingdom,
    /// For beginners: any card may be dumped (rule 3.6), and only what opponents add to a seat's
    /// melds keeps it from fighting (rule 4.1).
    Relaxed,
}

impl RuleSet {
    pub const ALL: [Self; 2] = [Self::Kingdom, Self::Relaxed];

    /// The rules, with these countdowns.
    pub fn rules(self, countdowns: Countdowns) -> Rules {
        let kingdom = Rules { countdowns, ..Rules::kingdom() };
        match self {
            Self::Kingdom => kingdom,
            Self::Relaxed => {
                Rules { dump_addable: true, fight_blocked_by: Additions::Opponents, ..kingdom }
            }
        }
    }

    /// Which of them these rules are, their countdowns aside.
    pub fn of(rules: &Rules) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.rules(rules.countdowns) == *rules)
    }
}

#[cfg(test)]
mod tests {
    use super::RuleSet;
    use bahay_engine::games::tongits::Rules;

    #[test]
    fn rule_sets_are_told_apart_and_can_be_dealt() {
        for set in RuleSet::ALL {
            let rules = set.rules(Rules::kingdom().countdowns);
            assert_eq!(RuleSet::of(&rules), Some(set));
            assert!(rules.check().is_ok());
        }
    }
}
