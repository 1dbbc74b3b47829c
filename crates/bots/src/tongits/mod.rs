//! The AI of Tong-its: greedy play, networks (`quick`), and beliefs about hidden cards for a
//! search.
//!
//! Dependencies point in one direction: `look_ahead` → `quick` → `greedy`; `sampling` → `belief` →
//! `habit_tables` → `habits`; `quick` → `habit_tables`.

mod belief;
mod greedy;
mod habit_tables;
mod habits;
mod look_ahead;
mod quick;
mod sampling;

use alloc::vec::Vec;

use bahay_engine::cards::CardSet;
use bahay_engine::chance::ChanceRng;
use bahay_engine::game::Skill;
use bahay_engine::games::tongits::{Action, Event, PublicState, Tongits, View};
use bahay_engine::seat::{Seat, SeatSet};

use crate::ai::{Ai, SampledGame};

#[cfg(feature = "testing")]
pub use habits::{
    DEADWOODS, DUMP_WEIGHTS, GAINS, Habits, Neighbours, STAGES, TRAITS, deadwood_bucket,
    gain_bucket, stage,
};
#[cfg(feature = "testing")]
pub use quick::{
    CARD_WEIGHT_MAX, CARDS, CATEGORIES, CATEGORY_FROM, Candidate, DecisionKind, DumpLimit,
    EnsembleJudge, HIDDEN, HIDDEN_1, HIDDEN_2, INPUTS, Inputs, Judge, LARGE_WEIGHTS, LargeNetwork,
    NetworkPosition, Networks, ONE, OUTPUTS, SETS, SuitPermutation, WEIGHT_MAX, WEIGHT_ONE,
    WEIGHTS,
};

/// The number of games sampled for a player who is taken over; `strong` is measured with the same
/// number.
const IMAGINED: u32 = 500;

/// Returns the cards that every seat sees: the discards and the melds.
fn table_cards(public: &PublicState) -> CardSet {
    public.melds.cards().union(public.discards.cards().iter().copied().collect())
}

/// Returns the cards that a seat with this hand does not see: those in other hands, face down or in
/// the stock.
fn unseen_cards(public: &PublicState, hand: CardSet) -> CardSet {
    public.rules.deck().difference(table_cards(public)).difference(hand)
}

impl Ai for Tongits {
    fn choose_action(view: &View) -> Option<Action> {
        greedy::choose_action(view)
    }

    fn choose_action_with_memory(
        skill: Skill,
        view: &View,
        _shown: &mut dyn Iterator<Item = &Event>,
    ) -> Option<Action> {
        match skill {
            Skill::Greedy => greedy::choose_action(view),
            Skill::Quick => quick::choose_action(view),
        }
    }

    fn imagined_game_count(view: &View) -> Option<u32> {
        quick::supports_rules(&view.public.rules).then_some(IMAGINED)
    }

    fn evaluate_actions(view: &View, quick: &[SeatSet]) -> Vec<(Action, i64)> {
        quick::evaluate_actions(view, quick)
    }

    fn sample_game(view: &View, dice: &mut ChanceRng) -> Option<Self> {
        sampling::sample_game(view, dice)
    }

    fn sample_likely_games(
        view: &View,
        seen_events: &[Event],
        count: u32,
        dice: &mut ChanceRng,
    ) -> Vec<SampledGame<Self>> {
        sampling::sample_likely_games(view, seen_events, count, dice)
    }

    fn look_ahead(&self, quick: SeatSet, seat: Seat, action: &Action) -> Option<i64> {
        look_ahead::evaluate_action(self, quick, seat, action)
    }
}
