//! The grades above greedy: what may be done is looked at one action ahead, and networks say what
//! each would be worth. From nothing but a view, and the same for the same view.
//!
//! `quick` plays by [`Networks`], a small one for each question. Larger ones ([`Large`]) judge
//! for who plays on in imagined games.
//!
//! Deliberately absent: memory of events, and rule sets with jokers or melds face down, which the
//! greedy player plays.

mod against;
mod considered;
mod heard;
mod inputs;
mod large;
mod look;
mod network;
mod suits;
mod sums;

use alloc::vec::Vec;

use crate::game::Skill;
use crate::games::tongits::action::Action;
use crate::games::tongits::rules::{Rules, SEATS};
use crate::games::tongits::view::View;
use crate::seat::{Seat, SeatSet};

pub use against::Against;
#[cfg(feature = "testing")]
pub use considered::{Considered, Question};
pub use considered::{Dumps, Judge};
pub use heard::Heard;
pub use large::Large;
#[cfg(feature = "testing")]
pub use large::{
    CARD_WEIGHT_MAX, CARDS, FEW, FEW_FROM, HIDDEN_1, HIDDEN_2, LARGE_WEIGHTS, OUTPUTS, Place, SETS,
    WEIGHT_MAX,
};
pub use look::Look;
pub use network::Networks;
#[cfg(feature = "testing")]
pub use network::{HIDDEN, INPUTS, Inputs, ONE, WEIGHT_ONE, WEIGHTS};
pub use suits::Suits;

/// Dumps that are looked at where a player is only imagined.
const DUMPS_OF_A_SKETCH: usize = 4;

/// Actions that a search looks at.
const TRIED_MAX: usize = 6;

/// What a win is worth beside its counts, in counts: grades are told by their shares of games, and a
/// win brings the POT nearer.
pub(super) const WIN_COUNTS: i64 = 64;

/// What the house plays with.
static HOUSE: Networks = Networks::parsed(include_bytes!("../quick.weights"));

/// What judges places in imagined games: two networks, because each is wrong in its own way.
static LARGE: [Large; NETWORKS] = [LARGE_1, LARGE_2];
const NETWORKS: usize = 2;
const LARGE_1: Large = Large::parsed(include_bytes!("../large_1.weights"));
const LARGE_2: Large = Large::parsed(include_bytes!("../large_2.weights"));

/// What the bot would play; `None` when the viewer is not to act.
pub(super) fn advise(view: &View) -> Option<Action> {
    HOUSE.advise(view, Dumps::All, &mut ())
}

/// What the bot would likely play, in less time: of the dumps those alone that are likely by its
/// habits.
pub(super) fn sketch(view: &View) -> Option<Action> {
    HOUSE.advise(view, Dumps::Likely(DUMPS_OF_A_SKETCH), &mut ())
}

/// Who plays on for a seat in one imagined game, by a large network.
pub(super) struct Planner {
    judge: Against<'static>,
    memory: Vec<Heard<'static>>,
}

impl Planner {
    /// Against such players, looking so.
    pub(super) fn new(seat: Seat, quick: SeatSet, look: Look) -> Self {
        let network = &LARGE[look.network..=look.network];
        Self { judge: against(seat, Some(quick), network, look.suits), memory: Vec::new() }
    }

    /// What it would likely play, in less time, as [`sketch`].
    pub(super) fn plan(&mut self, view: &View) -> Option<Action> {
        self.judge.advise(view, Dumps::Likely(DUMPS_OF_A_SKETCH), &mut self.memory)
    }

    /// What the viewer's place is worth; `None` where it wins at once, and where the network knows
    /// nothing.
    pub(super) fn worth(&mut self, view: &View) -> Option<i64> {
        let dumps = Dumps::Likely(DUMPS_OF_A_SKETCH);
        let considered = self.judge.considered(view, dumps, &mut self.memory)?;
        let best = considered.iter().map(|one| one.worth).max()?;
        (best < i64::MAX).then_some(best)
    }
}

/// These networks against such others; `None` where nobody knows what they are.
fn against(
    seat: Seat,
    quick: Option<SeatSet>,
    networks: &'static [Large],
    suits: Suits,
) -> Against<'static> {
    let taken_for = |other: Seat| {
        quick.map(|quick| if quick.contains(other) { Skill::Quick } else { Skill::Greedy })
    };
    let others = [seat.next(SEATS), seat.previous(SEATS)].map(taken_for);
    Against { networks, others, win_counts: WIN_COUNTS, suits }
}

/// What a count is worth, in parts of what the networks judge: they were taught that four are one.
pub(super) const COUNT: i64 = network::WEIGHT_ONE as i64 * network::ONE as i64 / 4;

/// Whether the networks have learned this rule set.
pub(super) fn knows(rules: &Rules) -> bool {
    considered::knows(rules)
}

/// What a search looks at: what the large networks judge best, the best first; nothing where they
/// know nothing. What wins at once is all that is looked at. In each imagined game some are taken for
/// quick players. The mean over the networks and over all ways to exchange suits; before any game is
/// imagined, with the suits as they are.
pub(super) fn judged(view: &View, quick: &[SeatSet]) -> Vec<(Action, i64)> {
    let Some(seat) = view.viewer else { return Vec::new() };
    let mut memory = Vec::new();
    let mut considered = |judge: &Against<'static>| {
        judge.considered(view, Dumps::All, &mut memory).unwrap_or_default()
    };
    let mut judged: Vec<(Action, i64)>;
    if quick.is_empty() {
        let worths = considered(&against(seat, None, &LARGE, Suits::KEPT)).into_iter();
        judged = worths.map(|one| (one.action, one.worth)).collect();
    } else {
        let kinds = kinds(quick);
        let judges = kinds.iter().map(|(kind, _)| against(seat, Some(*kind), &LARGE, Suits::KEPT));
        let judges: Vec<Against<'static>> = judges.collect();
        // The same actions in the same order, whoever the others are.
        let by_kind: Vec<_> = judges.iter().map(considered).collect();
        judged = by_kind[0].iter().map(|one| (one.action, one.worth)).collect();
        if judged.iter().all(|(_, worth)| *worth < i64::MAX) {
            let mut sums = alloc::vec![alloc::vec![0; kinds.len()]; judged.len()];
            // What is most alike is judged one after the other.
            for suits in Suits::ALL {
                for (action, sums) in sums.iter_mut().enumerate() {
                    for ((judge, considered), sum) in judges.iter().zip(&by_kind).zip(sums) {
                        let place = considered[action].place.map(|place| place.exchanged(suits));
                        *sum += place.map_or(0, |place| judge.worth(&place, &mut memory));
                    }
                }
            }
            let all: i64 = kinds.iter().map(|(_, times)| times).sum();
            for ((_, worth), sums) in judged.iter_mut().zip(sums) {
                let by_kind = sums.iter().zip(&kinds);
                let ways = i64::from(Suits::COUNT);
                *worth = by_kind.map(|(sum, (_, times))| sum / ways * times / all).sum();
            }
        }
    }
    if let Some(wins) = judged.iter().find(|(_, worth)| *worth == i64::MAX) {
        return alloc::vec![*wins];
    }
    judged.sort_by_key(|(_, worth)| core::cmp::Reverse(*worth));
    judged.truncate(TRIED_MAX);
    judged
}

/// The ways in which others are taken for quick players, each with how often it is.
fn kinds(quick: &[SeatSet]) -> Vec<(SeatSet, i64)> {
    let mut kinds: Vec<(SeatSet, i64)> = Vec::new();
    for quick in quick {
        match kinds.iter_mut().find(|(kind, _)| kind == quick) {
            Some((_, times)) => *times += 1,
            None => kinds.push((*quick, 1)),
        }
    }
    kinds
}
