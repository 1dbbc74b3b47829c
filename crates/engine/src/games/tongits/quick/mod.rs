//! The grade above greedy: what may be done is looked at one action ahead, and networks say what
//! each would be worth ([`Networks`]). From nothing but a view, and the same for the same view.
//!
//! A game that can be ended with Tongits is ended. Else each way to go on is a place that a network
//! judges: to draw, to fight, to challenge, to fold, or, where the turn goes on, the best dump after
//! it. What was laid or added is looked at again afterwards with what is known then.
//!
//! Deliberately absent: memory of events, and rule sets with jokers or melds face down, which the
//! greedy player plays.

mod inputs;
mod network;

use alloc::vec::Vec;

use crate::cards::{Card, CardSet};
use crate::games::tongits::action::Action;
use crate::games::tongits::arrange::{Arrangement, deadwood};
use crate::games::tongits::bot::{self, Head};
use crate::games::tongits::habits::Neighbours;
use crate::games::tongits::habits_counted::QUICK;
use crate::games::tongits::legal::for_each;
use crate::games::tongits::meld::{additions, for_each_meld};
use crate::games::tongits::phase::Phase;
use crate::games::tongits::quick::inputs::Sight;
use crate::games::tongits::rules::Rules;
use crate::games::tongits::view::View;

#[cfg(feature = "testing")]
pub use network::{HIDDEN, INPUTS, ONE, WEIGHT_ONE, WEIGHTS};
pub use network::{Inputs, Networks, Question};

/// Melds to lay that are looked at.
const LAID_MAX: usize = 5;

/// Dumps that are looked at where something else is done first.
const DUMPS_AFTER_MAX: usize = 4;

/// Dumps that are looked at where a player is only imagined.
const DUMPS_OF_A_SKETCH: usize = 4;

/// Actions that a search looks at.
const TRIED_MAX: usize = 6;

/// What the house plays with.
static HOUSE: Networks = Networks::parsed(include_bytes!("../quick.weights"));

/// What the bot would play; `None` when the viewer is not to act.
pub(super) fn advise(view: &View) -> Option<Action> {
    Networks::advise(&HOUSE, view)
}

/// What the bot would likely play, in less time: of the dumps those alone that are likely by its
/// habits.
pub(super) fn sketch(view: &View) -> Option<Action> {
    HOUSE.best(view, DUMPS_OF_A_SKETCH)
}

/// What a count is worth, in parts of what the networks judge: they were taught that four are one.
pub(super) const COUNT: i64 = network::WEIGHT_ONE as i64 * network::ONE as i64 / 4;

/// Whether the networks have learned this rule set.
pub(super) fn knows(rules: &Rules) -> bool {
    !rules.jokers && !rules.bahay
}

/// What the viewer's place is worth by the networks; `None` where it wins at once, and where they
/// know nothing.
pub(super) fn judge(view: &View) -> Option<i64> {
    let considered = HOUSE.considered(view)?;
    let best = considered.iter().map(|one| HOUSE.worth_of(one)).max()?;
    (best < i64::MAX).then_some(best)
}

/// What a search looks at: what these networks judge best, the best first; elsewhere what the greedy
/// player advises, and all that is legal.
pub(super) fn worth_trying(view: &View, actions: &mut Vec<Action>) {
    let Some(mut considered) = HOUSE.considered(view) else { return };
    if considered.is_empty() {
        let advised = bot::advise(view);
        actions.extend(advised);
        let (seat, hand) = (view.viewer, view.hand());
        if let (Some(seat), Some(hand)) = (seat, hand) {
            for_each(&view.public, seat, hand, |action| {
                if Some(action) != advised {
                    actions.push(action);
                }
            });
        }
        return;
    }
    considered.sort_by_cached_key(|one| core::cmp::Reverse(HOUSE.worth_of(one)));
    actions.extend(considered.iter().take(TRIED_MAX).map(|one| one.action));
}

/// Something that may be done.
#[derive(Clone, Copy, Debug)]
pub struct Considered {
    pub action: Action,
    /// What is asked about it; `None` where it wins at once.
    pub place: Option<(Question, Inputs)>,
}

impl Networks {
    /// What these networks would play; `None` when the viewer is not to act.
    pub fn advise(&self, view: &View) -> Option<Action> {
        self.best(view, usize::MAX)
    }

    fn best(&self, view: &View, dumps_max: usize) -> Option<Action> {
        let considered = self.considered_of(view, dumps_max)?;
        let best = considered.iter().max_by_key(|one| self.worth_of(one));
        best.map(|best| best.action).or_else(|| bot::advise(view))
    }

    /// What may be done; `None` when the viewer is not to act, and nothing where only the greedy
    /// player knows what to do.
    pub fn considered(&self, view: &View) -> Option<Vec<Considered>> {
        self.considered_of(view, usize::MAX)
    }

    fn considered_of(&self, view: &View, dumps_max: usize) -> Option<Vec<Considered>> {
        let (seat, hand) = (view.viewer?, view.hand()?);
        let rules = &view.public.rules;
        if !knows(rules) {
            return Some(Vec::new());
        }
        let sight = Sight::new(&view.public, seat, hand);
        let thought = Thought { networks: self, sight, dumps_max };
        match view.public.phase {
            Phase::Draw { seat: turn, .. } if turn == seat => Some(thought.begin_turn()),
            Phase::Play { seat: turn } if turn == seat => {
                let finish = Head::new(view, seat, hand).finish();
                Some(finish.map_or_else(|| thought.play(), |action| alloc::vec![wins(action)]))
            }
            Phase::Fight { asked, asked_secretly, answered, .. } => {
                let is_asked = asked.union(asked_secretly).difference(answered).contains(seat);
                is_asked.then(|| thought.answer())
            }
            Phase::Starter
            | Phase::Deal { .. }
            | Phase::Draw { .. }
            | Phase::Play { .. }
            | Phase::Over => None,
        }
    }

    /// What it is worth to do this.
    pub fn worth_of(&self, considered: &Considered) -> i64 {
        match &considered.place {
            Some((question, inputs)) => self.worth(*question, inputs),
            None => i64::MAX,
        }
    }
}

fn wins(action: Action) -> Considered {
    Considered { action, place: None }
}

struct Thought<'a> {
    networks: &'a Networks,
    sight: Sight<'a>,
    dumps_max: usize,
}

impl Thought<'_> {
    fn begin_turn(&self) -> Vec<Considered> {
        let sight = &self.sight;
        let mut considered = Vec::new();
        let here = sight.inputs();
        let mut ask = |action: Action, question: Question| {
            considered.push(Considered { action, place: Some((question, here)) });
        };
        for_each(sight.public, sight.seat, sight.hand, |action| match action {
            Action::Draw => ask(action, Question::Draw),
            Action::Fight => ask(action, Question::Fight),
            Action::Chow { .. }
            | Action::Drop { .. }
            | Action::Sapaw { .. }
            | Action::Dump { .. }
            | Action::Tongits
            | Action::Challenge
            | Action::Fold => {}
        });
        for_each(sight.public, sight.seat, sight.hand, |action| {
            if let (Action::Chow { cards }, Some(discard)) = (action, sight.public.discards.top()) {
                let after = sight.laying(cards.with(discard), cards);
                considered.push(self.followed_by_a_dump(action, after, usize::MAX));
            }
        });
        considered
    }

    fn answer(&self) -> Vec<Considered> {
        let here = self.sight.inputs();
        let ask = |action, question| Considered { action, place: Some((question, here)) };
        alloc::vec![ask(Action::Challenge, Question::Challenge), ask(Action::Fold, Question::Fold)]
    }

    fn play(&self) -> Vec<Considered> {
        let sight = &self.sight;
        let dumps: Vec<Card> = if self.dumps_max == usize::MAX {
            dumps(sight, usize::MAX).collect()
        } else {
            likely_dumps(sight, self.dumps_max)
        };
        let mut considered: Vec<Considered> = dumps
            .into_iter()
            .map(|card| {
                let place = Some((Question::Dump, sight.dumping(card).inputs()));
                Considered { action: Action::Dump { card }, place }
            })
            .collect();
        for cards in self.melds_to_lay() {
            let action = Action::Drop { cards, face_down: false };
            let after = sight.laying(cards, cards);
            considered.push(self.followed_by_a_dump(action, after, DUMPS_AFTER_MAX));
        }
        for (meld, cards, owner) in sight.public.melds.open() {
            for card in additions(cards).intersection(sight.hand).iter() {
                // What the hand needs is not given away.
                if deadwood(sight.hand.without(card)) > deadwood(sight.hand) {
                    continue;
                }
                let action = Action::Sapaw { card, meld };
                let after = sight.adding(card, cards, owner);
                considered.push(self.followed_by_a_dump(action, after, DUMPS_AFTER_MAX));
            }
        }
        considered
    }

    /// Those that leave the fewest points.
    fn melds_to_lay(&self) -> Vec<CardSet> {
        let hand = self.sight.hand;
        let mut melds = Vec::new();
        for_each_meld(hand, |meld| melds.push(meld));
        melds.sort_by_key(|meld| deadwood(hand.difference(*meld)));
        melds.truncate(LAID_MAX);
        melds
    }

    /// An action that is followed by a dump, judged by the best one.
    fn followed_by_a_dump(&self, action: Action, after: Sight<'_>, most: usize) -> Considered {
        let leftover = Arrangement::of(after.hand, 0).leftover;
        // All melded but one card, which is dumped or added: Tongits.
        if leftover.difference(after.additions).len() <= 1 {
            return wins(action);
        }
        let judged = dumps(&after, most).map(|card| {
            let inputs = after.dumping(card).inputs();
            (self.networks.worth(Question::Dump, &inputs), inputs)
        });
        let best = judged.max_by_key(|(worth, _)| *worth);
        Considered { action, place: best.map(|(_, inputs)| (Question::Dump, inputs)) }
    }
}

/// The cards that may be dumped: at most so many, those first that leave the fewest points.
fn dumps(sight: &Sight<'_>, most: usize) -> impl Iterator<Item = Card> {
    let dumpable = if sight.public.rules.dump_addable {
        sight.hand
    } else {
        sight.hand.difference(sight.additions)
    };
    let mut cards: Vec<Card> = dumpable.iter().collect();
    if cards.len() > most {
        cards.sort_by_cached_key(|card| deadwood(sight.hand.without(*card)));
        cards.truncate(most);
    }
    cards.into_iter()
}

/// The cards that are likely dumped, by habits.
fn likely_dumps(sight: &Sight<'_>, most: usize) -> Vec<Card> {
    let public = sight.public;
    let mut cards: Vec<Card> = dumps(sight, usize::MAX).collect();
    if cards.len() > most {
        let seen = public.rules.deck().difference(sight.unseen).difference(sight.hand);
        let is_open = sight.open.contains(sight.seat);
        let neighbours = Neighbours::of(sight.hand, seen, public.stock_count, is_open);
        cards.sort_by_cached_key(|card| core::cmp::Reverse(QUICK.score(&neighbours, *card)));
        cards.truncate(most);
    }
    cards
}
