//! The grades above greedy: what may be done is looked at one action ahead, and networks say what
//! each would be worth. From nothing but a view, and the same for the same view.
//!
//! `quick` plays by [`Networks`], a small one for each question. Larger ones ([`LargeNetwork`]) judge
//! for who plays on in imagined games.
//!
//! Deliberately absent: memory of events, and rule sets with jokers or melds face down, which the
//! greedy player plays.

mod ensemble;
mod candidates;
mod accumulator;
mod inputs;
mod large;
mod evaluation_variant;
mod network;
mod suits;
mod sums;

use alloc::vec::Vec;

use crate::game::Skill;
use crate::games::tongits::action::Action;
use crate::games::tongits::rules::{Rules, SEATS};
use crate::games::tongits::view::View;
use crate::seat::{Seat, SeatSet};

pub use ensemble::EnsembleJudge;
#[cfg(feature = "testing")]
pub use candidates::DecisionKind;
pub use candidates::{Candidate, DumpLimit, Judge};
pub use accumulator::Accumulator;
#[cfg(feature = "testing")]
pub use large::{
    CARD_WEIGHT_MAX, CARDS, CATEGORIES, CATEGORY_FROM, HIDDEN_1, HIDDEN_2, LARGE_WEIGHTS, OUTPUTS, SETS,
    WEIGHT_MAX,
};
pub use large::{LargeNetwork, NetworkPosition};
pub use evaluation_variant::EvaluationVariant;
pub use network::Networks;
#[cfg(feature = "testing")]
pub use network::{HIDDEN, INPUTS, Inputs, WEIGHTS};
pub use suits::SuitPermutation;
#[cfg(feature = "testing")]
pub use sums::{ONE, WEIGHT_ONE};

/// DumpLimit that are looked at where a player is only imagined.
const SKETCH_DUMPS: usize = 4;

/// Actions that a search looks at.
const TRIED_MAX: usize = 6;

/// What a win is worth beside its counts, in counts: grades are told by their shares of games, and a
/// win brings the POT nearer.
pub(super) const WIN_COUNTS: i64 = 64;

/// What the house plays with.
static HOUSE: Networks = Networks::parse(include_bytes!("../quick.weights"));

/// What judges places in imagined games: two networks, because each is wrong in its own way.
static LARGE: [LargeNetwork; NETWORKS] = [LARGE_1, LARGE_2];
const NETWORKS: usize = 2;
const LARGE_1: LargeNetwork = LargeNetwork::parse(include_bytes!("../large_1.weights"));
const LARGE_2: LargeNetwork = LargeNetwork::parse(include_bytes!("../large_2.weights"));

/// What the bot would play; `None` when the viewer is not to act.
pub(super) fn choose_action(view: &View) -> Option<Action> {
    HOUSE.choose_action(view, DumpLimit::All, &mut ())
}

/// What the bot would likely play, in less time: of the dumps those alone that are likely by its
/// habits.
pub(super) fn sketch_action(view: &View) -> Option<Action> {
    HOUSE.choose_action(view, DumpLimit::Likely(SKETCH_DUMPS), &mut ())
}

/// Who plays on for a seat in one imagined game, by a large network.
pub(super) struct Planner {
    judge: EnsembleJudge<'static>,
    memory: Vec<Accumulator<'static>>,
}

impl Planner {
    /// EnsembleJudge such players, looking so.
    pub(super) fn new(seat: Seat, quick: SeatSet, variant: EvaluationVariant) -> Self {
        let network = &LARGE[variant.network..=variant.network];
        Self { judge: make_judge(seat, Some(quick), network, variant.suits), memory: Vec::new() }
    }

    /// What it would likely play, in less time, as [`sketch_action`].
    pub(super) fn choose_action(&mut self, view: &View) -> Option<Action> {
        self.judge.choose_action(view, DumpLimit::Likely(SKETCH_DUMPS), &mut self.memory)
    }

    /// What the viewer's place is worth; `None` where it wins at once, and where the network knows
    /// nothing.
    pub(super) fn evaluate_view(&mut self, view: &View) -> Option<i64> {
        let dumps = DumpLimit::Likely(SKETCH_DUMPS);
        let considered = self.judge.consider_actions(view, dumps, &mut self.memory)?;
        let best = considered.iter().map(|one| one.worth).max()?;
        (best < i64::MAX).then_some(best)
    }
}

/// These networks against such others; `None` where nobody knows what they are.
fn make_judge(
    seat: Seat,
    quick: Option<SeatSet>,
    networks: &'static [LargeNetwork],
    suits: SuitPermutation,
) -> EnsembleJudge<'static> {
    let taken_for = |other: Seat| {
        quick.map(|quick| if quick.contains(other) { Skill::Quick } else { Skill::Greedy })
    };
    let others = [seat.next(SEATS), seat.previous(SEATS)].map(taken_for);
    EnsembleJudge { networks, others, win_counts: WIN_COUNTS, suits }
}

/// What a count is worth, in parts of what the networks judge: they were taught that four are one.
pub(super) const COUNT: i64 = sums::WEIGHT_ONE as i64 * sums::ONE as i64 / 4;

/// Whether the networks have learned this rule set.
pub(super) fn supports_rules(rules: &Rules) -> bool {
    candidates::supports_rules(rules)
}

/// What a search looks at: what the large networks judge best, the best first; nothing where they
/// know nothing. What wins at once is all that is looked at. In each imagined game some are taken for
/// quick players. The mean over the networks and over all ways to exchange suits; before any game is
/// imagined, with the suits as they are.
pub(super) fn evaluate_actions(view: &View, quick: &[SeatSet]) -> Vec<(Action, i64)> {
    let Some(seat) = view.viewer else { return Vec::new() };
    let kinds = count_opponent_kinds(quick);
    let judges: Vec<EnsembleJudge<'static>> = if kinds.is_empty() {
        alloc::vec![make_judge(seat, None, &LARGE, SuitPermutation::IDENTITY)]
    } else {
        kinds.iter().map(|(kind, _)| make_judge(seat, Some(*kind), &LARGE, SuitPermutation::IDENTITY)).collect()
    };
    let mut memory = Vec::new();
    // The same actions in the same order, whoever the others are.
    let by_kind: Vec<Vec<Candidate<NetworkPosition>>> = judges
        .iter()
        .map(|judge| judge.consider_actions(view, DumpLimit::All, &mut memory).unwrap_or_default())
        .collect();
    let mut judged: Vec<(Action, i64)> =
        by_kind[0].iter().map(|one| (one.action, one.worth)).collect();
    if let Some(wins) = judged.iter().find(|(_, worth)| *worth == i64::MAX) {
        return alloc::vec![*wins];
    }
    if !kinds.is_empty() {
        let all: i64 = kinds.iter().map(|(_, times)| times).sum();
        let worths = worths_over_permutations(&judges, &by_kind, &mut memory);
        for ((_, worth), worths) in judged.iter_mut().zip(worths) {
            let by_kind = worths.iter().zip(&kinds);
            *worth = by_kind.map(|(worth, (_, times))| worth * times / all).sum();
        }
    }
    judged.sort_by_key(|(_, worth)| core::cmp::Reverse(*worth));
    judged.truncate(TRIED_MAX);
    judged
}

/// By action and by kind: the mean of what a place is worth over all ways to exchange suits.
fn worths_over_permutations(
    judges: &[EnsembleJudge<'static>],
    by_kind: &[Vec<Candidate<NetworkPosition>>],
    memory: &mut Vec<Accumulator<'static>>,
) -> Vec<Vec<i64>> {
    let mut sums = alloc::vec![alloc::vec![0; judges.len()]; by_kind[0].len()];
    // What is most alike is judged one after the other.
    for suits in SuitPermutation::ALL {
        for (action, sums) in sums.iter_mut().enumerate() {
            for ((judge, considered), sum) in judges.iter().zip(by_kind).zip(sums) {
                let position = considered[action].position.expect("none of these wins at once");
                *sum += judge.evaluate(&position.permute_suits(suits), memory);
            }
        }
    }
    for sum in sums.iter_mut().flatten() {
        *sum /= i64::from(SuitPermutation::COUNT);
    }
    sums
}

/// The ways in which others are taken for quick players, each with how often it is.
fn count_opponent_kinds(quick: &[SeatSet]) -> Vec<(SeatSet, i64)> {
    let mut kinds: Vec<(SeatSet, i64)> = Vec::new();
    for quick in quick {
        match kinds.iter_mut().find(|(kind, _)| kind == quick) {
            Some((_, times)) => *times += 1,
            None => kinds.push((*quick, 1)),
        }
    }
    kinds
}
