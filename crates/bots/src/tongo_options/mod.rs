//! The AI of Tongo (options): heuristics (`greedy`), and a better choice of cards from memory
//! (`quick`).
//!
//! Dependencies point in one direction: `quick` → `greedy` → `acting_seat` → `odds`; `quick` →
//! `judge` → `hands`; `judge` → `odds`; `quick` → `memory`.

mod acting_seat;
mod greedy;
mod hands;
mod judge;
mod memory;
mod odds;
mod quick;
mod sampling;

use alloc::vec::Vec;

use bahay_engine::chance::ChanceRng;
use bahay_engine::game::Skill;
use bahay_engine::games::tongo_options::{Action, Event, TongoOptions, View};

use crate::ai::Ai;
use acting_seat::CommitmentPolicy;

impl Ai for TongoOptions {
    fn choose_action(view: &View) -> Option<Action> {
        greedy::choose_action(view)
    }

    fn choose_action_with_memory(
        skill: Skill,
        view: &View,
        shown: &mut dyn Iterator<Item = &Event>,
    ) -> Option<Action> {
        match skill {
            Skill::Greedy => greedy::choose_action(view),
            Skill::Quick => quick::choose_action(view, shown),
        }
    }

    fn choose_uncommitted_action(
        view: &View,
        shown: &mut dyn Iterator<Item = &Event>,
    ) -> Option<Action> {
        quick::choose_action_with(CommitmentPolicy::Barred, view, shown)
    }

    fn candidate_actions(view: &View, actions: &mut Vec<Action>) {
        sampling::candidate_actions(view, greedy::choose_action(view), actions);
    }

    fn sample_game(view: &View, dice: &mut ChanceRng) -> Option<Self> {
        sampling::sample_game(view, dice)
    }
}
