//! The skills above greedy: a one-action look-ahead with positions evaluated by networks. The
//! choice depends on the view alone and is deterministic.
//!
//! `quick` plays with [`Networks`], a small one for each kind of decision. The larger
//! [`LargeNetwork`]s evaluate positions for the search.
//!
//! Deliberately absent: memory of events, and rule sets with jokers or face-down melds, which the
//! greedy player plays.

mod accumulator;
mod candidates;
mod ensemble;
mod evaluation_variant;
mod inputs;
mod large;
mod network;
mod suits;
mod sums;

use alloc::vec::Vec;

use bahay_engine::game::Skill;
use bahay_engine::games::tongits::{Action, SEATS, View};
use bahay_engine::seat::{Seat, SeatSet};

pub use accumulator::Accumulator;
#[cfg(feature = "testing")]
pub use candidates::DecisionKind;
pub(super) use candidates::supports_rules;
pub use candidates::{Candidate, DumpLimit, Judge};
pub use ensemble::EnsembleJudge;
pub use evaluation_variant::EvaluationVariant;
#[cfg(feature = "testing")]
pub use inputs::{INPUTS, Inputs, SETS};
#[cfg(feature = "testing")]
pub use large::{
    CARD_WEIGHT_MAX, CARDS, CATEGORIES, CATEGORY_FROM, HIDDEN_1, HIDDEN_2, LARGE_WEIGHTS, OUTPUTS,
    WEIGHT_MAX,
};
pub use large::{LargeNetwork, NetworkPosition};
pub use network::Networks;
#[cfg(feature = "testing")]
pub use network::{HIDDEN, WEIGHTS};
pub use suits::SuitPermutation;
#[cfg(feature = "testing")]
pub use sums::{ONE, WEIGHT_ONE};

/// The number of dumps considered for a simulated player.
const SKETCH_DUMPS: usize = 4;

/// The maximum number of actions that a search considers.
const TRIED_MAX: usize = 6;

/// The value of a win beyond its counts, in counts: bots are compared by their shares of games, and
/// a win brings the POT nearer.
pub(super) const WIN_COUNTS: i64 = 64;

/// The networks of the house's `quick` player.
static HOUSE: Networks = Networks::parse(include_bytes!("../quick.weights"));

/// The networks that evaluate positions in sampled games: two of them, because their errors differ.
static LARGE: [LargeNetwork; NETWORKS] = [LARGE_1, LARGE_2];
const NETWORKS: usize = 2;
const LARGE_1: LargeNetwork = LargeNetwork::parse(include_bytes!("../large_1.weights"));
const LARGE_2: LargeNetwork = LargeNetwork::parse(include_bytes!("../large_2.weights"));

/// Returns the action of `quick`; `None` if the viewer is not to act.
pub(super) fn choose_action(view: &View) -> Option<Action> {
    HOUSE.choose_action(view, DumpLimit::All, &mut ())
}

/// Returns the probable action of `quick` in less time, by considering only the dumps that are
/// likely by its habits.
pub(super) fn sketch_action(view: &View) -> Option<Action> {
    HOUSE.choose_action(view, DumpLimit::Likely(SKETCH_DUMPS), &mut ())
}

/// The policy of a seat in one sampled game, by a large network.
pub(super) struct Planner {
    judge: EnsembleJudge<'static>,
    memory: Vec<Accumulator<'static>>,
}

impl Planner {
    /// Creates a planner against the given opponents, with the given variant.
    pub(super) fn new(seat: Seat, quick: SeatSet, variant: EvaluationVariant) -> Self {
        let network = &LARGE[variant.network..=variant.network];
        Self { judge: make_judge(seat, Some(quick), network, variant.suits), memory: Vec::new() }
    }

    /// Returns the network's probable action, with the restriction of [`sketch_action`].
    pub(super) fn choose_action(&mut self, view: &View) -> Option<Action> {
        self.judge.choose_action(view, DumpLimit::Likely(SKETCH_DUMPS), &mut self.memory)
    }

    /// Returns the value of the viewer's position; `None` if it wins at once or if the network does
    /// not support the rules.
    pub(super) fn evaluate_view(&mut self, view: &View) -> Option<i64> {
        let dumps = DumpLimit::Likely(SKETCH_DUMPS);
        let candidates = self.judge.consider_actions(view, dumps, &mut self.memory)?;
        let best = candidates.iter().map(|candidate| candidate.worth).max()?;
        (best < i64::MAX).then_some(best)
    }
}

/// Creates a judge with these networks and opponents; `quick` is `None` if the opponents' skills
/// are unknown.
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

/// The value of a count, in the networks' unit: they are trained with four counts as one.
pub(super) const COUNT: i64 = sums::WEIGHT_ONE as i64 * sums::ONE as i64 / 4;

/// Returns the candidates of a search: the actions that the large networks value most, in
/// descending order, or nothing if they do not support the rules. An action that wins at once is
/// the only candidate.
///
/// `quick` holds, for each sampled game, the seats taken to be quick. The values are averaged over
/// the networks, the opponents and all suit permutations; before any game is sampled, the suits are
/// not permuted.
pub(super) fn evaluate_actions(view: &View, quick: &[SeatSet]) -> Vec<(Action, i64)> {
    let Some(seat) = view.viewer else { return Vec::new() };
    let kinds = count_opponent_kinds(quick);
    let judges: Vec<EnsembleJudge<'static>> = if kinds.is_empty() {
        alloc::vec![make_judge(seat, None, &LARGE, SuitPermutation::IDENTITY)]
    } else {
        kinds
            .iter()
            .map(|(kind, _)| make_judge(seat, Some(*kind), &LARGE, SuitPermutation::IDENTITY))
            .collect()
    };
    let mut memory = Vec::new();
    // The actions and their order do not depend on the opponents.
    let by_kind: Vec<Vec<Candidate<NetworkPosition>>> = judges
        .iter()
        .map(|judge| judge.consider_actions(view, DumpLimit::All, &mut memory).unwrap_or_default())
        .collect();
    let mut judged: Vec<(Action, i64)> =
        by_kind[0].iter().map(|candidate| (candidate.action, candidate.worth)).collect();
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

/// Returns, by action and by opponents' skills, the value of a position averaged over all suit
/// permutations.
fn worths_over_permutations(
    judges: &[EnsembleJudge<'static>],
    by_kind: &[Vec<Candidate<NetworkPosition>>],
    memory: &mut Vec<Accumulator<'static>>,
) -> Vec<Vec<i64>> {
    let mut sums = alloc::vec![alloc::vec![0; judges.len()]; by_kind[0].len()];
    // Similar positions are evaluated in succession, for the accumulators.
    for suits in SuitPermutation::ALL {
        for (action, sums) in sums.iter_mut().enumerate() {
            for ((judge, candidates), sum) in judges.iter().zip(by_kind).zip(sums) {
                let position =
                    candidates[action].position.expect("only a winning candidate has no position");
                *sum += judge.evaluate(&position.permute_suits(suits), memory);
            }
        }
    }
    for sum in sums.iter_mut().flatten() {
        *sum /= i64::from(SuitPermutation::COUNT);
    }
    sums
}

/// Returns the distinct sets of seats taken to be quick, each with its frequency.
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
