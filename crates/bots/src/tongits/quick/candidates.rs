//! The candidate actions of a seat and the positions that a judge evaluates for them: drawing,
//! fighting, challenging, folding, or, if the turn continues, the best dump after the action.
//!
//! A game that can be ended with Tongits is ended. After laying a meld or adding a card, the
//! remaining turn is decided anew.

use alloc::vec::Vec;

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::games::tongits::analysis::{for_each_legal_action, leftover};
use bahay_engine::games::tongits::{
    Action, Phase, Rules, View, additions, deadwood, for_each_meld,
};
use bahay_engine::variants;

use crate::tongits::greedy;
use crate::tongits::greedy::GreedyPlayer;
use crate::tongits::habit_tables::QUICK;
use crate::tongits::habits::Neighbours;
use crate::tongits::quick::inputs::SeatPosition;

/// The maximum number of melds to lay that are considered.
const LAID_MAX: usize = 5;

/// The maximum number of dumps that are considered after another action.
const DUMPS_AFTER_MAX: usize = 4;

/// The kind of decision that a judge evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionKind {
    /// Ending the turn with a dump.
    Dump,
    /// Drawing from the stock.
    Draw,
    /// Calling a fight.
    Fight,
    /// Challenging the fighter.
    Challenge,
    /// Folding in a fight.
    Fold,
}

impl DecisionKind {
    pub const ALL: [Self; 5] = [Self::Dump, Self::Draw, Self::Fight, Self::Challenge, Self::Fold];

    pub const fn index(self) -> usize {
        self as usize
    }
}

/// An evaluation of positions.
pub trait Judge {
    /// The encoding of a position.
    type Position;

    /// A cache of evaluated positions that speeds up similar ones. It has no effect on the results.
    type Memory: Default;

    fn encode_position(&self, kind: DecisionKind, position: &SeatPosition<'_>) -> Self::Position;

    /// Returns the value of a position; higher is better. Only values of the same judge are
    /// comparable.
    fn evaluate(&self, position: &Self::Position, memory: &mut Self::Memory) -> i64;

    /// Returns the action with the highest value, or the greedy player's action if the networks do
    /// not support the rules; `None` if the viewer is not to act.
    fn choose_action(
        &self,
        view: &View,
        dumps: DumpLimit,
        memory: &mut Self::Memory,
    ) -> Option<Action> {
        let candidates = self.consider_actions(view, dumps, memory)?;
        let best = candidates.iter().max_by_key(|candidate| candidate.worth);
        best.map(|best| best.action).or_else(|| greedy::choose_action(view))
    }

    /// Returns the candidate actions with their values. Returns `None` if the viewer is not to act,
    /// and an empty list if the networks do not support the rules.
    fn consider_actions(
        &self,
        view: &View,
        dumps: DumpLimit,
        memory: &mut Self::Memory,
    ) -> Option<Vec<Candidate<Self::Position>>> {
        let seat = view.viewer?;
        let hand = view.hand()?;
        let rules = &view.public.rules;
        if !supports_rules(rules) {
            return Some(Vec::new());
        }
        let position = SeatPosition::new(&view.public, seat, hand);
        let mut collector =
            ActionCollector { judge: self, position, dumps, memory, candidates: Vec::new() };
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
            variants!(Phase: Starter, Deal, Draw, Play, Fight, Over) => return None,
        }
        Some(collector.candidates)
    }
}

/// The dumps that are considered if the turn ends with nothing but a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpLimit {
    All,
    /// At most this many dumps, the most probable by the habits of `quick`.
    Likely(usize),
}

/// A candidate action.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<P> {
    pub action: Action,
    /// The resulting position; `None` if the action wins at once.
    pub position: Option<P>,
    /// The value of the position, or the maximum of the type if the action wins at once.
    pub worth: i64,
}

/// Returns whether the networks were trained for these rules.
pub(in crate::tongits) fn supports_rules(rules: &Rules) -> bool {
    !rules.jokers && !rules.bahay
}

struct ActionCollector<'a, J: Judge + ?Sized> {
    judge: &'a J,
    position: SeatPosition<'a>,
    dumps: DumpLimit,
    memory: &'a mut J::Memory,
    candidates: Vec<Candidate<J::Position>>,
}

impl<J: Judge + ?Sized> ActionCollector<'_, J> {
    fn collect_turn_openings(&mut self) {
        let position = self.position;
        for_each_legal_action(
            position.public,
            position.seat,
            position.hand,
            |action| match action {
                Action::Draw => self.add_candidate(action, DecisionKind::Draw, &position),
                Action::Fight => self.add_candidate(action, DecisionKind::Fight, &position),
                variants!(Action: Chow, Drop, Sapaw, Dump, Tongits, Challenge, Fold) => {}
            },
        );
        for_each_legal_action(position.public, position.seat, position.hand, |action| {
            let discard = position.public.discards.top();
            if let (Action::Chow { cards }, Some(discard)) = (action, discard) {
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
            let dumped = position.with_card_dumped(card);
            self.add_candidate(Action::Dump { card }, DecisionKind::Dump, &dumped);
        }
        for cards in self.melds_to_lay() {
            let action = Action::Drop { cards, face_down: false };
            let laid = position.with_meld_laid(cards, cards);
            self.add_candidate_with_dump(action, &laid, DUMPS_AFTER_MAX);
        }
        for (meld, cards, owner) in position.public.melds.iter_open() {
            for card in additions(cards).intersection(position.hand).iter() {
                // A card that the hand needs is not given away.
                if deadwood(position.hand.without(card)) > deadwood(position.hand) {
                    continue;
                }
                let action = Action::Sapaw { card, meld };
                let after = position.with_card_added(card, cards, owner);
                self.add_candidate_with_dump(action, &after, DUMPS_AFTER_MAX);
            }
        }
    }

    /// Returns the melds that leave the fewest points when laid.
    fn melds_to_lay(&self) -> Vec<CardSet> {
        let hand = self.position.hand;
        let mut melds = Vec::new();
        for_each_meld(hand, |meld| melds.push(meld));
        melds.sort_by_key(|meld| deadwood(hand.difference(*meld)));
        melds.truncate(LAID_MAX);
        melds
    }

    fn add_winning(&mut self, action: Action) {
        self.candidates.push(Candidate { action, position: None, worth: i64::MAX });
    }

    fn add_candidate(&mut self, action: Action, kind: DecisionKind, position: &SeatPosition<'_>) {
        let position = self.judge.encode_position(kind, position);
        let worth = self.judge.evaluate(&position, self.memory);
        self.candidates.push(Candidate { action, position: Some(position), worth });
    }

    /// Adds an action that a dump follows, with the value of the best dump.
    fn add_candidate_with_dump(&mut self, action: Action, after: &SeatPosition<'_>, most: usize) {
        let leftover = leftover(after.hand);
        // If all cards but one are melded, the last is dumped or added, which is Tongits.
        if leftover.difference(after.additions).len() <= 1 {
            return self.add_winning(action);
        }
        let mut best: Option<(i64, J::Position)> = None;
        for card in dump_candidates(after, most) {
            let position =
                self.judge.encode_position(DecisionKind::Dump, &after.with_card_dumped(card));
            let worth = self.judge.evaluate(&position, self.memory);
            if best.as_ref().is_none_or(|(most, _)| *most <= worth) {
                best = Some((worth, position));
            }
        }
        let (worth, position) = best.expect("some leftover card can be dumped");
        self.candidates.push(Candidate { action, position: Some(position), worth });
    }
}

/// Returns the cards that may be dumped: at most `most`, those first that leave the fewest points.
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

/// Returns at most `most` cards to dump, the most probable by the habits of `quick`.
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
