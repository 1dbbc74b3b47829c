//! What may be done, and where each of it leads, for who judges places: to draw, to fight, to
//! challenge, to fold, or, where the turn goes on, the best dump after it.
//!
//! A game that can be ended with Tongits is ended. What was laid or added is looked at again
//! afterwards with what is known then.

use alloc::vec::Vec;

use crate::cards::{Card, CardSet};
use crate::games::tongits::action::Action;
use crate::games::tongits::arrange::{deadwood, leftover};
use crate::games::tongits::bot::{self, GreedyPlayer};
use crate::games::tongits::habits::Neighbours;
use crate::games::tongits::habit_tables::QUICK;
use crate::games::tongits::legal::for_each_legal_action;
use crate::games::tongits::meld::{additions, for_each_meld};
use crate::games::tongits::phase::Phase;
use crate::games::tongits::quick::inputs::SeatPosition;
use crate::games::tongits::rules::Rules;
use crate::games::tongits::view::View;

/// Melds to lay that are looked at.
const LAID_MAX: usize = 5;

/// DumpLimit that are looked at where something else is done first.
const DUMPS_AFTER_MAX: usize = 4;

/// What a judge is asked about a place: what it is worth
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionKind {
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

impl DecisionKind {
    pub const ALL: [Self; 5] = [Self::Dump, Self::Draw, Self::Fight, Self::Challenge, Self::Fold];

    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Says what a place is worth.
pub trait Judge {
    /// What it needs to know of a place.
    type Position;

    /// What it keeps of the places that it has judged, so that others like them are judged sooner.
    /// What a place is worth does not depend on it.
    type Memory: Default;

    fn encode_position(&self, kind: DecisionKind, position: &SeatPosition<'_>) -> Self::Position;

    /// More is better; only what one judge says can be compared.
    fn evaluate(&self, position: &Self::Position, memory: &mut Self::Memory) -> i64;

    /// What this judge would play; `None` when the viewer is not to act.
    fn choose_action(&self, view: &View, dumps: DumpLimit, memory: &mut Self::Memory) -> Option<Action> {
        let considered = self.consider_actions(view, dumps, memory)?;
        let best = considered.iter().max_by_key(|one| one.worth);
        best.map(|best| best.action).or_else(|| bot::choose_action(view))
    }

    /// What may be done; `None` when the viewer is not to act, and nothing where only the greedy
    /// player knows what to do.
    fn consider_actions(
        &self,
        view: &View,
        dumps: DumpLimit,
        memory: &mut Self::Memory,
    ) -> Option<Vec<Candidate<Self::Position>>> {
        let (seat, hand) = (view.viewer?, view.hand()?);
        let rules = &view.public.rules;
        if !supports_rules(rules) {
            return Some(Vec::new());
        }
        let position = SeatPosition::new(&view.public, seat, hand);
        let mut collector = ActionCollector { judge: self, position, dumps, memory, considered: Vec::new() };
        match view.public.phase {
            Phase::Draw { seat: turn, .. } if turn == seat => collector.collect_turn_openings(),
            Phase::Play { seat: turn } if turn == seat => {
                match GreedyPlayer::new(view, seat, hand).finishing_action() {
                    Some(action) => collector.add_winning(action),
                    None => collector.collect_plays(),
                }
            }
            Phase::Fight { asked, asked_secretly, answered, .. }
                if asked.union(asked_secretly).difference(answered).contains(seat) =>
            {
                collector.collect_answers();
            }
            Phase::Starter
            | Phase::Deal { .. }
            | Phase::Draw { .. }
            | Phase::Play { .. }
            | Phase::Fight { .. }
            | Phase::Over => return None,
        }
        Some(collector.considered)
    }
}

/// Which dumps are looked at, where a dump is all that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpLimit {
    All,
    /// So many of them, the likeliest by the habits of `quick`.
    Likely(usize),
}

/// Something that may be done.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<P> {
    pub action: Action,
    /// Where it leads; `None` where it wins at once.
    pub position: Option<P>,
    /// What that is worth: more than any place, where it wins at once.
    pub worth: i64,
}

/// Whether networks have learned this rule set.
pub(super) fn supports_rules(rules: &Rules) -> bool {
    !rules.jokers && !rules.bahay
}

struct ActionCollector<'a, J: Judge + ?Sized> {
    judge: &'a J,
    position: SeatPosition<'a>,
    dumps: DumpLimit,
    memory: &'a mut J::Memory,
    considered: Vec<Candidate<J::Position>>,
}

impl<J: Judge + ?Sized> ActionCollector<'_, J> {
    fn collect_turn_openings(&mut self) {
        let position = self.position;
        for_each_legal_action(position.public, position.seat, position.hand, |action| match action {
            Action::Draw => self.add_candidate(action, DecisionKind::Draw, &position),
            Action::Fight => self.add_candidate(action, DecisionKind::Fight, &position),
            Action::Chow { .. }
            | Action::Drop { .. }
            | Action::Sapaw { .. }
            | Action::Dump { .. }
            | Action::Tongits
            | Action::Challenge
            | Action::Fold => {}
        });
        for_each_legal_action(position.public, position.seat, position.hand, |action| {
            if let (Action::Chow { cards }, Some(discard)) = (action, position.public.discards.top()) {
                let after = position.with_meld_laid(cards.with(discard), cards);
                let most = match self.dumps {
                    DumpLimit::All => usize::MAX,
                    DumpLimit::Likely(most) => most,
                };
                self.add_candidate_with_dump(action, &after, most);
            }
        });
    }

    fn collect_answers(&mut self) {
        let position = self.position;
        self.add_candidate(Action::Challenge, DecisionKind::Challenge, &position);
        self.add_candidate(Action::Fold, DecisionKind::Fold, &position);
    }

    fn collect_plays(&mut self) {
        let position = self.position;
        let dumps: Vec<Card> = match self.dumps {
            DumpLimit::All => dump_candidates(&position, usize::MAX).collect(),
            DumpLimit::Likely(most) => likely_dumps(&position, most),
        };
        for card in dumps {
            self.add_candidate(Action::Dump { card }, DecisionKind::Dump, &position.with_card_dumped(card));
        }
        for cards in self.melds_to_lay() {
            let action = Action::Drop { cards, face_down: false };
            self.add_candidate_with_dump(action, &position.with_meld_laid(cards, cards), DUMPS_AFTER_MAX);
        }
        for (meld, cards, owner) in position.public.melds.iter_open() {
            for card in additions(cards).intersection(position.hand).iter() {
                // What the hand needs is not given away.
                if deadwood(position.hand.without(card)) > deadwood(position.hand) {
                    continue;
                }
                let action = Action::Sapaw { card, meld };
                let after = position.with_card_added(card, cards, owner);
                self.add_candidate_with_dump(action, &after, DUMPS_AFTER_MAX);
            }
        }
    }

    /// Those that leave the fewest points.
    fn melds_to_lay(&self) -> Vec<CardSet> {
        let hand = self.position.hand;
        let mut melds = Vec::new();
        for_each_meld(hand, |meld| melds.push(meld));
        melds.sort_by_key(|meld| deadwood(hand.difference(*meld)));
        melds.truncate(LAID_MAX);
        melds
    }

    fn add_winning(&mut self, action: Action) {
        self.considered.push(Candidate { action, position: None, worth: i64::MAX });
    }

    fn add_candidate(&mut self, action: Action, kind: DecisionKind, position: &SeatPosition<'_>) {
        let position = self.judge.encode_position(kind, position);
        let worth = self.judge.evaluate(&position, self.memory);
        self.considered.push(Candidate { action, position: Some(position), worth });
    }

    /// An action that is followed by a dump, judged by the best one.
    fn add_candidate_with_dump(&mut self, action: Action, after: &SeatPosition<'_>, most: usize) {
        let leftover = leftover(after.hand);
        // All melded but one card, which is dumped or added: Tongits.
        if leftover.difference(after.additions).len() <= 1 {
            return self.add_winning(action);
        }
        let mut best: Option<(i64, J::Position)> = None;
        for card in dump_candidates(after, most) {
            let position = self.judge.encode_position(DecisionKind::Dump, &after.with_card_dumped(card));
            let worth = self.judge.evaluate(&position, self.memory);
            if best.as_ref().is_none_or(|(most, _)| *most <= worth) {
                best = Some((worth, position));
            }
        }
        let (worth, position) = best.expect("what is left over and the table does not take is dumped");
        self.considered.push(Candidate { action, position: Some(position), worth });
    }
}

/// The cards that may be dumped: at most so many, those first that leave the fewest points.
fn dump_candidates(position: &SeatPosition<'_>, most: usize) -> impl Iterator<Item = Card> {
    let dumpable = if position.public.rules.dump_addable {
        position.hand
    } else {
        position.hand.difference(position.additions)
    };
    let mut cards: Vec<Card> = dumpable.iter().collect();
    if cards.len() > most {
        cards.sort_by_cached_key(|card| deadwood(position.hand.without(*card)));
        cards.truncate(most);
    }
    cards.into_iter()
}

/// The cards that are likely dumped, by habits.
fn likely_dumps(position: &SeatPosition<'_>, most: usize) -> Vec<Card> {
    let public = position.public;
    let mut cards: Vec<Card> = dump_candidates(position, usize::MAX).collect();
    if cards.len() > most {
        let seen = public.rules.deck().difference(position.unseen).difference(position.hand);
        let is_open = position.open.contains(position.seat);
        let neighbours = Neighbours::new(position.hand, seen, public.stock_count, is_open);
        cards.sort_by_cached_key(|card| core::cmp::Reverse(QUICK.score(&neighbours, *card)));
        cards.truncate(most);
    }
    cards
}
