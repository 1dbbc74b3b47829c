//! The AI of Tongo (assets): heuristics (`greedy`), and sampled games for a search (`sampling`).

mod greedy;
mod sampling;

use alloc::vec::Vec;

use bahay_engine::chance::ChanceRng;
use bahay_engine::games::tongo_assets::{Action, TongoAssets, View};

use crate::ai::Ai;

/// The number of games that the searching AI samples for a seat that is taken over.
const IMAGINED: u32 = 60;

impl Ai for TongoAssets {
    fn choose_action(view: &View) -> Option<Action> {
        greedy::choose_action(view)
    }

    fn imagined_game_count(_view: &View) -> Option<u32> {
        Some(IMAGINED)
    }

    fn candidate_actions(view: &View, actions: &mut Vec<Action>) {
        sampling::candidate_actions(view, greedy::choose_action(view), actions);
    }

    fn sample_game(view: &View, dice: &mut ChanceRng) -> Option<Self> {
        sampling::sample_game(view, dice)
    }
}
