//! What may be done, and where each of it leads, for who judges places: to draw, to fight, to
//! challenge, to fold, or, where the turn goes on, the best dump after it.
//!
//! A game that can be ended with Tongits is ended. What was laid or added is looked at again
//! afterwards with what is known then.

use alloc::vec::Vec;

use crate::cards::{Card, CardSet};
use crate::games::tongits::action::Action;
use crate::games::tongits::arrange::{deadwood, leftover};
use crate::games::tongits::bot::{self, Head};
use crate::games::tongits::habits::Neighbours;
use crate::games::tongits::habits_counted::QUICK;
use crate::games::tongits::legal::for_each;
use crate::games::tongits::meld::{additions, for_each_meld};
use crate::games::tongits::phase::Phase;
use crate::games::tongits::quick::inputs::Sight;
use crate::games::tongits::rules::Rules;
use crate::games::tongits::view::View;

/// Melds to lay that are looked at.
const LAID_MAX: usize = 5;

/// Dumps that are looked at where something else is done first.
const DUMPS_AFTER_MAX: usize = 4;

/// What a judge is asked about a place: what it is worth
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// to have ended the turn so.
    Dump,
    /// to draw from the stock.
    Draw,
    /// to fight.
    Fight,
    /// to challenge who fights.
    Challenge,
    /// to fold.
    Fold,
}

impl Question {
    pub const ALL: [Self; 5] = [Self::Dump, Self::Draw, Self::Fight, Self::Challenge, Self::Fold];

    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Says what a place is worth.
pub trait Judge {
    /// What it needs to know of a place.
    type Place;

    /// What it keeps of the places that it has judged, so that others like them are judged sooner.
    /// What a place is worth does not depend on it.
    type Memory: Default;

    fn place(&self, question: Question, sight: &Sight<'_>) -> Self::Place;

    /// More is better; only what one judge says can be compared.
    fn worth(&self, place: &Self::Place, memory: &mut Self::Memory) -> i64;

    /// What this judge would play; `None` when the viewer is not to act.
    fn advise(&self, view: &View, dumps: Dumps, memory: &mut Self::Memory) -> Option<Action> {
        let considered = self.considered(view, dumps, memory)?;
        let best = considered.iter().max_by_key(|one| one.worth);
        best.map(|best| best.action).or_else(|| bot::advise(view))
    }

    /// What may be done; `None` when the viewer is not to act, and nothing where only the greedy
    /// player knows what to do.
    fn considered(
        &self,
        view: &View,
        dumps: Dumps,
        memory: &mut Self::Memory,
    ) -> Option<Vec<Considered<Self::Place>>> {
        let (seat, hand) = (view.viewer?, view.hand()?);
        let rules = &view.public.rules;
        if !knows(rules) {
            return Some(Vec::new());
        }
        let sight = Sight::new(&view.public, seat, hand);
        let mut thought = Thought { judge: self, sight, dumps, memory, considered: Vec::new() };
        match view.public.phase {
            Phase::Draw { seat: turn, .. } if turn == seat => thought.begin_turn(),
            Phase::Play { seat: turn } if turn == seat => {
                match Head::new(view, seat, hand).finish() {
                    Some(action) => thought.wins(action),
                    None => thought.play(),
                }
            }
            Phase::Fight { asked, asked_secretly, answered, .. }
                if asked.union(asked_secretly).difference(answered).contains(seat) =>
            {
                thought.answer();
            }
            Phase::Starter
            | Phase::Deal { .. }
            | Phase::Draw { .. }
            | Phase::Play { .. }
            | Phase::Fight { .. }
            | Phase::Over => return None,
        }
        Some(thought.considered)
    }
}

/// Which dumps are looked at, where a dump is all that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dumps {
    All,
    /// So many of them, the likeliest by the habits of `quick`.
    Likely(usize),
}

/// Something that may be done.
#[derive(Clone, Copy, Debug)]
pub struct Considered<P> {
    pub action: Action,
    /// Where it leads; `None` where it wins at once.
    pub place: Option<P>,
    /// What that is worth: more than any place, where it wins at once.
    pub worth: i64,
}

/// Whether networks have learned this rule set.
pub(super) fn knows(rules: &Rules) -> bool {
    !rules.jokers && !rules.bahay
}

struct Thought<'a, J: Judge + ?Sized> {
    judge: &'a J,
    sight: Sight<'a>,
    dumps: Dumps,
    memory: &'a mut J::Memory,
    considered: Vec<Considered<J::Place>>,
}

impl<J: Judge + ?Sized> Thought<'_, J> {
    fn begin_turn(&mut self) {
        let sight = self.sight;
        for_each(sight.public, sight.seat, sight.hand, |action| match action {
            Action::Draw => self.leads_to(action, Question::Draw, &sight),
            Action::Fight => self.leads_to(action, Question::Fight, &sight),
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
                let most = match self.dumps {
                    Dumps::All => usize::MAX,
                    Dumps::Likely(most) => most,
                };
                self.followed_by_a_dump(action, &after, most);
            }
        });
    }

    fn answer(&mut self) {
        let sight = self.sight;
        self.leads_to(Action::Challenge, Question::Challenge, &sight);
        self.leads_to(Action::Fold, Question::Fold, &sight);
    }

    fn play(&mut self) {
        let sight = self.sight;
        let dumps: Vec<Card> = match self.dumps {
            Dumps::All => dumps(&sight, usize::MAX).collect(),
            Dumps::Likely(most) => likely_dumps(&sight, most),
        };
        for card in dumps {
            self.leads_to(Action::Dump { card }, Question::Dump, &sight.dumping(card));
        }
        for cards in self.melds_to_lay() {
            let action = Action::Drop { cards, face_down: false };
            self.followed_by_a_dump(action, &sight.laying(cards, cards), DUMPS_AFTER_MAX);
        }
        for (meld, cards, owner) in sight.public.melds.open() {
            for card in additions(cards).intersection(sight.hand).iter() {
                // What the hand needs is not given away.
                if deadwood(sight.hand.without(card)) > deadwood(sight.hand) {
                    continue;
                }
                let action = Action::Sapaw { card, meld };
                let after = sight.adding(card, cards, owner);
                self.followed_by_a_dump(action, &after, DUMPS_AFTER_MAX);
            }
        }
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

    fn wins(&mut self, action: Action) {
        self.considered.push(Considered { action, place: None, worth: i64::MAX });
    }

    fn leads_to(&mut self, action: Action, question: Question, sight: &Sight<'_>) {
        let place = self.judge.place(question, sight);
        let worth = self.judge.worth(&place, self.memory);
        self.considered.push(Considered { action, place: Some(place), worth });
    }

    /// An action that is followed by a dump, judged by the best one.
    fn followed_by_a_dump(&mut self, action: Action, after: &Sight<'_>, most: usize) {
        let leftover = leftover(after.hand);
        // All melded but one card, which is dumped or added: Tongits.
        if leftover.difference(after.additions).len() <= 1 {
            return self.wins(action);
        }
        let mut best: Option<(i64, J::Place)> = None;
        for card in dumps(after, most) {
            let place = self.judge.place(Question::Dump, &after.dumping(card));
            let worth = self.judge.worth(&place, self.memory);
            if best.as_ref().is_none_or(|(most, _)| *most <= worth) {
                best = Some((worth, place));
            }
        }
        let (worth, place) = best.expect("what is left over and the table does not take is dumped");
        self.considered.push(Considered { action, place: Some(place), worth });
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
