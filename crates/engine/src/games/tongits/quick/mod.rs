//! The grades above greedy: what may be done is looked at one action ahead, and networks say what
//! each would be worth. From nothing but a view, and the same for the same view.
//!
//! `quick` plays by [`Networks`], a small one for each question. A larger one ([`Large`]) judges
//! for who plays on in imagined games.
//!
//! Deliberately absent: memory of events, and rule sets with jokers or melds face down, which the
//! greedy player plays.

mod considered;
mod inputs;
mod large;
mod network;

use alloc::vec::Vec;

use crate::games::tongits::action::Action;
use crate::games::tongits::rules::Rules;
use crate::games::tongits::view::View;

#[cfg(feature = "testing")]
pub use considered::{Considered, Question};
pub use considered::{Dumps, Judge};
pub use large::Large;
pub(super) use large::WIN_COUNTS;
#[cfg(feature = "testing")]
pub use large::{FEW, FEW_FROM, HIDDEN_1, HIDDEN_2, LARGE_WEIGHTS, OUTPUTS, Place};
pub use network::Networks;
#[cfg(feature = "testing")]
pub use network::{HIDDEN, INPUTS, Inputs, ONE, WEIGHT_ONE, WEIGHTS};

/// Dumps that are looked at where a player is only imagined.
const DUMPS_OF_A_SKETCH: usize = 4;

/// Actions that a search looks at.
const TRIED_MAX: usize = 6;

/// What the house plays with.
static HOUSE: Networks = Networks::parsed(include_bytes!("../quick.weights"));

/// What judges places in imagined games.
static LARGE: Large = Large::parsed(include_bytes!("../large.weights"));

/// What the bot would play; `None` when the viewer is not to act.
pub(super) fn advise(view: &View) -> Option<Action> {
    HOUSE.advise(view, Dumps::All)
}

/// What the bot would likely play, in less time: of the dumps those alone that are likely by its
/// habits.
pub(super) fn sketch(view: &View) -> Option<Action> {
    HOUSE.advise(view, Dumps::Likely(DUMPS_OF_A_SKETCH))
}

/// What the large network would likely play, in less time, as [`sketch`].
pub(super) fn plan(view: &View) -> Option<Action> {
    LARGE.advise(view, Dumps::Likely(DUMPS_OF_A_SKETCH))
}

/// What a count is worth, in parts of what the networks judge: they were taught that four are one.
pub(super) const COUNT: i64 = network::WEIGHT_ONE as i64 * network::ONE as i64 / 4;

/// Whether the networks have learned this rule set.
pub(super) fn knows(rules: &Rules) -> bool {
    considered::knows(rules)
}

/// What the viewer's place is worth by the large network; `None` where it wins at once, and where
/// it knows nothing.
pub(super) fn judge(view: &View) -> Option<i64> {
    let considered = LARGE.considered(view, Dumps::Likely(DUMPS_OF_A_SKETCH))?;
    let best = considered.iter().map(|one| LARGE.worth_of(one)).max()?;
    (best < i64::MAX).then_some(best)
}

/// What a search looks at: what the large network judges best, the best first; nothing where it knows
/// nothing. What wins at once is all that is looked at.
pub(super) fn judged(view: &View) -> Vec<(Action, i64)> {
    let considered = LARGE.considered(view, Dumps::All).unwrap_or_default();
    let mut judged: Vec<(Action, i64)> =
        considered.iter().map(|one| (one.action, LARGE.worth_of(one))).collect();
    judged.sort_by_key(|(_, worth)| core::cmp::Reverse(*worth));
    let wins = judged.first().is_some_and(|(_, worth)| *worth == i64::MAX);
    judged.truncate(if wins { 1 } else { TRIED_MAX });
    judged
}
