//! The grades above greedy: what may be done is looked at one action ahead, and networks say what
//! each would be worth. From nothing but a view, and the same for the same view.
//!
//! `quick` plays by [`Networks`], a small one for each question. Larger ones ([`Large`]) judge
//! for who plays on in imagined games.
//!
//! Deliberately absent: memory of events, and rule sets with jokers or melds face down, which the
//! greedy player plays.

mod considered;
mod inputs;
mod large;
mod look;
mod network;
mod suits;

use alloc::vec::Vec;

use crate::game::Skill;
use crate::games::tongits::action::Action;
use crate::games::tongits::rules::{Rules, SEATS};
use crate::games::tongits::view::View;
use crate::seat::{Seat, SeatSet};

#[cfg(feature = "testing")]
pub use considered::{Considered, Question};
pub use considered::{Dumps, Judge};
pub use large::{Against, Large};
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
    HOUSE.advise(view, Dumps::All)
}

/// What the bot would likely play, in less time: of the dumps those alone that are likely by its
/// habits.
pub(super) fn sketch(view: &View) -> Option<Action> {
    HOUSE.advise(view, Dumps::Likely(DUMPS_OF_A_SKETCH))
}

/// What a large network would likely play against such players, in less time, as [`sketch`].
pub(super) fn plan(view: &View, quick: SeatSet, look: Look) -> Option<Action> {
    look.against(view.viewer?, quick).advise(view, Dumps::Likely(DUMPS_OF_A_SKETCH))
}

impl Look {
    fn against(self, seat: Seat, quick: SeatSet) -> Against<'static> {
        let network = &LARGE[self.network..=self.network];
        against(seat, Some(quick), network, self.suits)
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

/// What the viewer's place is worth by a large network against such players; `None` where it wins at
/// once, and where the network knows nothing.
pub(super) fn judge(view: &View, quick: SeatSet, look: Look) -> Option<i64> {
    let judge = look.against(view.viewer?, quick);
    let considered = judge.considered(view, Dumps::Likely(DUMPS_OF_A_SKETCH))?;
    let best = considered.iter().map(|one| judge.worth_of(one)).max()?;
    (best < i64::MAX).then_some(best)
}

/// What a search looks at: what the large networks judge best, the best first; nothing where they
/// know nothing. What wins at once is all that is looked at. In each imagined game some are taken for
/// quick players. The mean over the networks and over all ways to exchange suits.
pub(super) fn judged(view: &View, quick: &[SeatSet]) -> Vec<(Action, i64)> {
    let Some(seat) = view.viewer else { return Vec::new() };
    let mut kinds: Vec<(Option<SeatSet>, i64)> = Vec::new();
    for quick in quick {
        match kinds.iter_mut().find(|(kind, _)| *kind == Some(*quick)) {
            Some((_, times)) => *times += 1,
            None => kinds.push((Some(*quick), 1)),
        }
    }
    if kinds.is_empty() {
        kinds.push((None, 1));
    }
    let all: i64 = kinds.iter().map(|(_, times)| times).sum();
    let mut judged: Vec<(Action, i64)> = Vec::new();
    for (kind, times) in kinds {
        let judge = against(seat, kind, &LARGE, Suits::KEPT);
        let considered = judge.considered(view, Dumps::All).unwrap_or_default();
        if let Some(wins) = considered.iter().find(|one| one.place.is_none()) {
            return alloc::vec![(wins.action, i64::MAX)];
        }
        for (place, one) in considered.iter().enumerate() {
            // The same actions in the same order, whoever the others are.
            let worth = one.place.map_or(0, |place| judge.worth_by_all_suits(&place)) * times / all;
            match judged.get_mut(place) {
                Some((_, sum)) => *sum += worth,
                None => judged.push((one.action, worth)),
            }
        }
    }
    judged.sort_by_key(|(_, worth)| core::cmp::Reverse(*worth));
    judged.truncate(TRIED_MAX);
    judged
}
