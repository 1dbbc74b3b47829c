//! The named rule sets (chapter 10), which rooms choose from.

use crate::games::tongits::rules::{
    Additions, AllBurned, ChallengersTied, Countdowns, Counts, DealDirection, EndingCounts,
    ItemCounts, Rules,
};

/// A named rule set, with its requirements for the table's POT (rule 7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub rules: Rules,
    /// The number of consecutive wins that take the POT.
    pub hits_to_win: u8,
    /// The additional counts that each loser owes for the second consecutive win; 0 if that win
    /// takes the POT.
    pub second_hit_bonus: u32,
}

impl Preset {
    pub const ALL: [Self; 3] = [
        Self { name: "kingdom", rules: Rules::kingdom(), hits_to_win: 2, second_hit_bonus: 0 },
        Self { name: "classic", rules: Rules::classic(), hits_to_win: 3, second_hit_bonus: 1 },
        Self { name: "joker", rules: Rules::joker(), hits_to_win: 3, second_hit_bonus: 1 },
    ];

    /// Returns the preset with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name == name)
    }
}

impl Rules {
    /// The names of the rule sets, the product's own first.
    pub const PRESETS: [&'static str; 3] =
        [Preset::ALL[0].name, Preset::ALL[1].name, Preset::ALL[2].name];

    /// Returns the rules with this name.
    pub fn preset(name: &str) -> Option<Self> {
        Preset::find(name).map(|preset| preset.rules)
    }

    /// Returns the product's rule set.
    pub const fn kingdom() -> Self {
        Self {
            deal: DealDirection::Clockwise,
            hand_cards: 12,
            jokers: false,
            auto_draw: true,
            dump_addable: false,
            secret_run_min: 5,
            bahay: false,
            sagasa: false,
            spread: false,
            fight_blocked_by: Additions::Anyone,
            secret_may_challenge: true,
            challengers_tied: ChallengersTied::FirstAfterFighter,
            zero_count_fight: false,
            variable_payout: false,
            all_burned: AllBurned::FewestPoints,
            counts: Counts::Items(ItemCounts {
                normal: 1,
                tongits: 1,
                special: 1,
                secret: 1,
                challenge: 2,
                burned: 1,
            }),
            countdowns: Countdowns { draw_ms: 10_000, play_ms: 20_000, fight_ms: 10_000 },
        }
    }

    /// Returns the rules of the game as commonly played without special cards (rules 10.1 to 10.4).
    pub const fn classic() -> Self {
        Self {
            deal: DealDirection::Counterclockwise,
            dump_addable: true,
            secret_run_min: 0,
            bahay: true,
            sagasa: true,
            spread: true,
            fight_blocked_by: Additions::Opponents,
            secret_may_challenge: false,
            challengers_tied: ChallengersTied::LastAnswer,
            counts: Counts::Endings(EndingCounts {
                tongits: 3,
                fight: 1,
                challenge: 3,
                stock: 1,
                zero_count_fight: 3,
                burned: 1,
                secret: 3,
                variable_points: 10,
            }),
            ..Self::kingdom()
        }
    }

    /// Returns `classic` with two jokers, zero-count fight and variable payout (chapter 11).
    pub const fn joker() -> Self {
        Self { jokers: true, zero_count_fight: true, variable_payout: true, ..Self::classic() }
    }
}

#[cfg(test)]
mod tests {
    use super::Preset;
    use crate::game::GameRules;
    use crate::games::tongits::rules::Rules;

    #[test]
    fn each_preset_is_found_by_name_and_is_valid() {
        for (preset, name) in Preset::ALL.into_iter().zip(Rules::PRESETS) {
            assert_eq!(preset.name, name);
            assert_eq!(Rules::preset(name), Some(preset.rules));
            assert_eq!(preset.rules.check(), Ok(()));
        }
        assert_eq!(Rules::preset("classics"), None);
        assert_eq!(Rules::preset("kingdom"), Some(Rules::kingdom()));
    }
}
