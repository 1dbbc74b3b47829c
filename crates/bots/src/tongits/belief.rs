//! A belief about the other hands: a distribution over the unseen cards, given the events that a
//! seat has seen.
//!
//! A priori, all distributions of the unseen cards are equally likely. The actions of the others
//! update this prior: a seat that dumped a king probably holds no two more, and a seat for which
//! the table drew could not chow (rule 3.1). The likelihood of an action given a hand comes from
//! the [`Habits`] of a greedy or a quick player; the skill of each opponent is part of the hidden
//! state. A [`BeliefChain`] samples the posterior by Markov chain Monte Carlo (Metropolis): it
//! moves between hidden states by small changes and visits each in proportion to its probability.
//!
//! A hand differed at the time of an earlier action, because cards have been drawn since. The card
//! obtained by each draw is therefore part of the hidden state.
//!
//! Deliberately absent: rule sets with jokers or face-down melds, and answers to fights.

use alloc::vec::Vec;

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::chance::ChanceRng;
use bahay_engine::game::Skill;
use bahay_engine::games::tongits::analysis::can_chow;
use bahay_engine::games::tongits::{
    BySeat, Event, Phase, Pile, PublicState, SEATS, View, deadwood, has_secret,
};
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::variants;

use crate::tongits::habit_tables::{GREEDY, QUICK};
use crate::tongits::habits::{
    Habits, NEVER, Neighbours, ONE, deadwood_bucket, exp_fixed, gain_bucket, stage,
};
use crate::tongits::{table_cards, unseen_cards};

/// The number of proposals before the first sample and between two samples. Most proposals are
/// rejected.
const BURN_IN_STEPS: u32 = 500;
const STEPS_PER_SAMPLE: u32 = 20;

/// The prior for equal skills, as a difference of natural logarithms: the bots of a room usually
/// have one skill.
const SAME_SKILL_BONUS: i32 = 2 * ONE;

/// A publicly visible action of a seat.
#[derive(Clone, Copy, Debug)]
enum ObservedMove {
    /// The beginning of a turn, with the discard that could be chowed.
    Began {
        discard: Option<Card>,
        may_fight: bool,
        is_open: bool,
        others_open: usize,
        stock: u8,
        opening: TurnOpening,
    },
    /// A card was added to the hand.
    Drew,
    /// Cards were moved from the hand to the table.
    Laid(CardSet),
    Dumped {
        card: Card,
        on_table: CardSet,
        is_open: bool,
        has_laid: bool,
        seen: CardSet,
        stock: u8,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TurnOpening {
    /// The table drew, because nothing else was legal.
    AutoDraw,
    Draw,
    Chow,
    Fight,
}

/// The visible actions of each seat, the latest last.
#[derive(Clone, Debug)]
struct MoveHistory {
    moves: BySeat<Vec<ObservedMove>>,
    secret_run_min: u8,
}

impl MoveHistory {
    /// Reconstructs the history from the events that a seat has seen; `None` if some are missing or
    /// the rules are not supported.
    fn from_events(view: &View, seen_events: &[Event]) -> Option<Self> {
        let rules = &view.public.rules;
        let from_the_deal =
            matches!(seen_events.first(), Some(Event::StarterChosen { .. } | Event::Dealt { .. }));
        if rules.jokers || rules.bahay || !from_the_deal {
            return None;
        }
        let mut public = PublicState::new(rules, None);
        let mut moves = [const { Vec::new() }; SEATS as usize];
        let mut has_laid = false;
        for event in seen_events {
            let began = |seat: Seat, opening: TurnOpening| {
                let Phase::Draw { fight_blocked, .. } = public.phase else { return None };
                let is_open = public.melds.is_open(seat);
                let open = seat.others(SEATS).filter(|other| public.melds.is_open(*other));
                Some(ObservedMove::Began {
                    discard: public.discards.top(),
                    may_fight: is_open && !fight_blocked,
                    is_open,
                    others_open: open.count(),
                    stock: public.stock_count,
                    opening,
                })
            };
            match event {
                Event::Drawn { seat, auto, .. } => {
                    has_laid = false;
                    let opening = if *auto { TurnOpening::AutoDraw } else { TurnOpening::Draw };
                    moves[seat.index()].extend(began(*seat, opening));
                    moves[seat.index()].push(ObservedMove::Drew);
                }
                Event::Chowed { seat, cards, .. } => {
                    has_laid = true;
                    moves[seat.index()].extend(began(*seat, TurnOpening::Chow));
                    moves[seat.index()].push(ObservedMove::Laid(*cards));
                }
                Event::Fought { seat, .. } => {
                    moves[seat.index()].extend(began(*seat, TurnOpening::Fight));
                }
                Event::Dropped { seat, cards } => {
                    has_laid = true;
                    moves[seat.index()].push(ObservedMove::Laid(*cards));
                }
                Event::Sapawed { seat, card, .. } => {
                    moves[seat.index()].push(ObservedMove::Laid(CardSet::only(*card)));
                }
                Event::Dumped { seat, card } => moves[seat.index()].push(ObservedMove::Dumped {
                    card: *card,
                    on_table: public.melds.additions(),
                    is_open: public.melds.is_open(*seat),
                    has_laid,
                    seen: table_cards(&public),
                    stock: public.stock_count,
                }),
                variants!(Event: StarterChosen, Dealt, LaidFaceDown, Sagasa, TongitsDeclared,
                    Answered, Shown, Over) => {}
            }
            if matches!(event, Event::Dumped { .. }) {
                has_laid = false;
            }
            public.apply(event);
        }
        // An incomplete history supports no conclusion.
        (public == view.public).then_some(Self { moves, secret_run_min: rules.secret_run_min })
    }

    /// Returns the discard that was available at the beginning of a seat's latest turn, if the turn
    /// began as `wanted`.
    #[cfg(test)]
    fn latest_turn(&self, seat: Seat, wanted: TurnOpening) -> Option<Card> {
        let began = self.moves[seat.index()].iter().rev().find_map(|observed| match observed {
            ObservedMove::Began { discard, opening, .. } => Some((*discard, *opening)),
            ObservedMove::Drew | ObservedMove::Laid(_) | ObservedMove::Dumped { .. } => None,
        });
        began.filter(|(_, opening)| *opening == wanted)?.0
    }

    /// Returns the log-likelihood of a seat's actions, given its habits, its present hand and the
    /// cards obtained by its draws.
    fn log_likelihood(&self, seat: Seat, habits: &Habits, hand: CardSet, drawn: &[Card]) -> i32 {
        let mut hand = hand;
        let mut drawn = drawn.iter().rev();
        let mut sum = 0;
        for observed in self.moves[seat.index()].iter().rev() {
            match *observed {
                ObservedMove::Laid(cards) => hand = hand.union(cards),
                ObservedMove::Drew => {
                    hand = drawn.next().map_or(hand, |card| hand.without(*card));
                }
                ObservedMove::Dumped { card, on_table, is_open, has_laid, seen, stock } => {
                    let left = hand;
                    hand = hand.with(card);
                    let may_be = hand.difference(on_table);
                    let neighbours = Neighbours::new(hand, seen, stock, is_open);
                    sum += habits.dump_log_probability(&neighbours, may_be, card);
                    if !has_laid && neighbours.has_meld_without(card) {
                        let secret = has_secret(left, self.secret_run_min);
                        let keeps = &habits.keeps_meld[stage(stock)][usize::from(is_open)];
                        sum += keeps[usize::from(secret)];
                    }
                    let kept = left.intersection(on_table).len();
                    sum += habits.keeps_addable * i32::try_from(kept).unwrap_or(0);
                }
                ObservedMove::Began {
                    discard,
                    may_fight,
                    is_open,
                    others_open,
                    stock,
                    opening,
                } => {
                    let can = discard.filter(|discard| can_chow(hand, *discard));
                    match (opening, can) {
                        (TurnOpening::AutoDraw, Some(_)) => sum += NEVER,
                        (TurnOpening::Draw, Some(discard)) => {
                            sum +=
                                habits.declines[usize::from(is_open)][gain_bucket(hand, discard)];
                        }
                        (TurnOpening::Chow, Some(discard)) => {
                            sum += habits.chows[usize::from(is_open)][gain_bucket(hand, discard)];
                        }
                        (TurnOpening::Draw, None) if !may_fight => sum += NEVER,
                        (
                            TurnOpening::AutoDraw
                            | TurnOpening::Draw
                            | TurnOpening::Chow
                            | TurnOpening::Fight,
                            _,
                        ) => {}
                    }
                    if may_fight {
                        let step = deadwood_bucket(deadwood(hand));
                        let fought = opening == TurnOpening::Fight;
                        let chances = if fought { &habits.fights } else { &habits.waits };
                        sum += chances[stage(stock)][others_open][step];
                    }
                }
            }
        }
        sum
    }
}

/// The state of the Markov chain: one distribution of the unseen cards.
#[derive(Clone, Debug)]
pub(super) struct BeliefChain {
    history: MoveHistory,
    /// The two opponents.
    others: [Seat; 2],
    hands: [CardSet; 2],
    /// The card obtained by each draw.
    drawn: [Vec<Card>; 2],
    /// For each draw, the cards that left the hand after it and may have come from it.
    played_after: [Vec<CardSet>; 2],
    stock: Vec<Card>,
    /// The skills ascribed to the opponents.
    skills: [Skill; 2],
    likelihood: [i32; 2],
}

impl BeliefChain {
    pub(super) fn new(view: &View, seen_events: &[Event], dice: &mut ChanceRng) -> Option<Self> {
        let viewer = view.viewer?;
        let own = view.hand()?;
        let history = MoveHistory::from_events(view, seen_events)?;
        let public = &view.public;
        let mut unseen: Vec<Card> = unseen_cards(public, own).iter().collect();
        shuffle(&mut unseen, dice);
        let others = [viewer.next(SEATS), viewer.previous(SEATS)];
        let hands = others.map(|other| {
            let count = usize::from(public.hand_counts[other.index()]);
            unseen.drain(..count).collect::<CardSet>()
        });
        let played_after = others.map(|other| cards_played_after(&history.moves[other.index()]));
        let mut drawn = [const { Vec::new() }; 2];
        for place in 0..2 {
            let mut taken = CardSet::EMPTY;
            // The latest draw has the fewest possible cards, so it is assigned first.
            let mut chosen = Vec::new();
            for draw in (0..played_after[place].len()).rev() {
                let may_be = hands[place].union(played_after[place][draw]).difference(taken);
                let card = choose_card(may_be, dice)?;
                taken = taken.with(card);
                chosen.push(card);
            }
            chosen.reverse();
            drawn[place] = chosen;
        }
        let mut chain = Self {
            history,
            others,
            hands,
            drawn,
            played_after,
            stock: unseen,
            skills: [Skill::Quick; 2],
            likelihood: [0; 2],
        };
        chain.likelihood = [0, 1].map(|place| chain.seat_log_likelihood(place));
        Some(chain)
    }

    fn seat_log_likelihood(&self, place: usize) -> i32 {
        let habits = match self.skills[place] {
            Skill::Greedy => &GREEDY,
            Skill::Quick => &QUICK,
        };
        let other = self.others[place];
        self.history.log_likelihood(other, habits, self.hands[place], &self.drawn[place])
    }

    /// Returns the seats whose players are taken to be quick.
    pub(super) fn quick_seats(&self) -> SeatSet {
        let skills = self.others.iter().zip(self.skills);
        skills.filter(|(_, skill)| *skill == Skill::Quick).map(|(seat, _)| *seat).collect()
    }

    /// Runs the burn-in, which removes the dependence on the initial state.
    pub(super) fn burn_in(&mut self, dice: &mut ChanceRng) {
        self.run_steps(BURN_IN_STEPS, dice);
    }

    /// Advances to the next sample and returns the hands by seat, including the viewer's own, and
    /// the stock.
    pub(super) fn draw_sample(
        &mut self,
        viewer: Seat,
        own: CardSet,
        dice: &mut ChanceRng,
    ) -> (BySeat<CardSet>, Pile) {
        self.run_steps(STEPS_PER_SAMPLE, dice);
        let mut hands = [CardSet::EMPTY; SEATS as usize];
        for (seat, hand) in self.others.iter().zip(self.hands) {
            hands[seat.index()] = hand;
        }
        hands[viewer.index()] = own;
        // All orders of the stock are equally likely.
        shuffle(&mut self.stock, dice);
        (hands, self.stock.iter().copied().collect())
    }

    fn run_steps(&mut self, steps: u32, dice: &mut ChanceRng) {
        for _ in 0..steps {
            match dice.below(17) {
                0..4 => self.propose_draw(dice),
                4..8 => self.propose_hand_swap(dice),
                8..12 => self.propose_stock_swap(0, dice),
                12..16 => self.propose_stock_swap(1, dice),
                _ => self.propose_skills(dice),
            }
        }
    }

    /// Proposes another skill for one or both opponents.
    fn propose_skills(&mut self, dice: &mut ChanceRng) {
        let before = (self.skills, self.likelihood, self.log_weight());
        let changed: &[usize] = match dice.below(3) {
            0 => &[0],
            1 => &[1],
            _ => &[0, 1],
        };
        for place in changed.iter().copied() {
            self.skills[place] = match self.skills[place] {
                Skill::Greedy => Skill::Quick,
                Skill::Quick => Skill::Greedy,
            };
            self.likelihood[place] = self.seat_log_likelihood(place);
        }
        if !is_accepted(self.log_weight() - before.2, dice) {
            (self.skills, self.likelihood) = (before.0, before.1);
        }
    }

    /// Returns the unnormalized log-probability of the state.
    fn log_weight(&self) -> i32 {
        let same_skill = if self.skills[0] == self.skills[1] { SAME_SKILL_BONUS } else { 0 };
        same_skill + self.likelihood[0] + self.likelihood[1]
    }

    fn propose_stock_swap(&mut self, place: usize, dice: &mut ChanceRng) {
        if self.stock.is_empty() {
            return self.propose_hand_swap(dice);
        }
        let Some(card) = choose_card(self.hands[place], dice) else { return };
        let at = dice.below(self.stock.len());
        let other = self.stock[at];
        self.replace_card(place, card, other);
        let likelihood = self.seat_log_likelihood(place);
        if is_accepted(likelihood - self.likelihood[place], dice) {
            self.likelihood[place] = likelihood;
            self.stock[at] = card;
        } else {
            self.replace_card(place, other, card);
        }
    }

    fn propose_hand_swap(&mut self, dice: &mut ChanceRng) {
        let (Some(one), Some(other)) =
            (choose_card(self.hands[0], dice), choose_card(self.hands[1], dice))
        else {
            return;
        };
        self.replace_card(0, one, other);
        self.replace_card(1, other, one);
        let likelihood = [0, 1].map(|place| self.seat_log_likelihood(place));
        let more = likelihood[0] + likelihood[1] - self.likelihood[0] - self.likelihood[1];
        if is_accepted(more, dice) {
            self.likelihood = likelihood;
        } else {
            self.replace_card(0, other, one);
            self.replace_card(1, one, other);
        }
    }

    /// Proposes another card for one of the draws.
    fn propose_draw(&mut self, dice: &mut ChanceRng) {
        let place = dice.below(2);
        let draws = self.drawn[place].len();
        if draws == 0 {
            return;
        }
        let draw = dice.below(draws);
        let may_be = self.hands[place].union(self.played_after[place][draw]);
        let (old, Some(new)) = (self.drawn[place][draw], choose_card(may_be, dice)) else { return };
        let other = self.drawn[place].iter().position(|card| *card == new);
        if let Some(other) = other {
            if !self.hands[place].union(self.played_after[place][other]).contains(old) {
                return;
            }
            self.drawn[place][other] = old;
        }
        self.drawn[place][draw] = new;
        let likelihood = self.seat_log_likelihood(place);
        if is_accepted(likelihood - self.likelihood[place], dice) {
            self.likelihood[place] = likelihood;
        } else {
            self.drawn[place][draw] = old;
            if let Some(other) = other {
                self.drawn[place][other] = new;
            }
        }
    }

    fn replace_card(&mut self, place: usize, card: Card, by: Card) {
        self.hands[place] = self.hands[place].without(card).with(by);
        if let Some(drawn) = self.drawn[place].iter_mut().find(|drawn| **drawn == card) {
            *drawn = by;
        }
    }
}

/// Returns, for each draw, the cards that left the hand after it.
fn cards_played_after(moves: &[ObservedMove]) -> Vec<CardSet> {
    let mut sum = CardSet::EMPTY;
    let mut played_after = Vec::new();
    for observed in moves.iter().rev() {
        match *observed {
            ObservedMove::Laid(cards) => sum = sum.union(cards),
            ObservedMove::Dumped { card, .. } => sum = sum.with(card),
            ObservedMove::Drew => played_after.push(sum),
            ObservedMove::Began { .. } => {}
        }
    }
    played_after.reverse();
    played_after
}

fn choose_card(cards: CardSet, dice: &mut ChanceRng) -> Option<Card> {
    cards.iter().nth(dice.below(cards.len().max(1)))
}

fn shuffle(cards: &mut [Card], dice: &mut ChanceRng) {
    for last in (1..cards.len()).rev() {
        cards.swap(last, dice.below(last + 1));
    }
}

/// Applies the Metropolis criterion: a likelier state is always accepted, another one with the
/// ratio of the probabilities.
fn is_accepted(more: i32, dice: &mut ChanceRng) -> bool {
    more >= 0 || (dice.below(1 << 16) as u64) < exp_fixed(more)
}

#[cfg(test)]
mod tests;
