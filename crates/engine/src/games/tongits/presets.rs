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
}

impl Rules {
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
