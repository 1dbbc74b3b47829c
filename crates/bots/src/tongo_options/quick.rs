//! The quick AI, which chooses an action from a view and from memory.
//!
//! It improves its hand first of all: in each turn it chooses the floor, the card to turn up, the
//! card to turn down, the roll and the draw that leave the hand most likely to win, with lower
//! thresholds than the AI in [`super::greedy`]. It leaves all other decisions to that AI.

use bahay_engine::games::tongo_options::analysis::has_die_facing;
use bahay_engine::games::tongo_options::{
    Action, Event, FLOORS, Floors, Phase, SLOTS, Step, TurnState, View,
};
use bahay_engine::variants;

use crate::tongo_options::acting_seat::{ActingSeat, CommitmentPolicy};
use crate::tongo_options::judge::{Judge, OtherFloors};
use crate::tongo_options::odds::CERTAIN;
use crate::tongo_options::{greedy, memory};

/// The lead over an equal chance, in thousandths, with which it challenges after everything else.
const AHEAD: u32 = 200;

/// The same lead against a target that can evade, because a target with a weak hand evades and
/// draws another one.
const AHEAD_OF_EVADER: u32 = 400;

/// The additional lead, in thousandths, with which it challenges before doing anything else in its
/// turn.
const AT_ONCE: u32 = 200;

/// The chance of winning, in thousandths, from which it stands although it can evade, because a
/// challenger has a good hand.
const STANDS: u32 = 850;

/// The value of a win in chips, in addition to the pot.
const WIN_CHIPS: u32 = 200;

/// The fraction of the pot, as a divisor, up to which it pays the risk.
const RISK_PARTS: u16 = 4;

/// The fraction of the pot, as a divisor, that it pays at most for a card, or [`PRICE_LEAST`].
const PRICE_PARTS: u16 = 4;

/// The price that it pays for a card in any case.
const PRICE_LEAST: u16 = 6;

/// Chooses an action; `None` if the viewer is not prompted.
pub(super) fn choose_action(
    view: &View,
    shown: &mut dyn Iterator<Item = &Event>,
) -> Option<Action> {
    choose_action_with(CommitmentPolicy::Allowed, view, shown)
}

/// Chooses an action of an AI that may or may not commit its seat.
pub(super) fn choose_action_with(
    commitments: CommitmentPolicy,
    view: &View,
    shown: &mut dyn Iterator<Item = &Event>,
) -> Option<Action> {
    let own = ActingSeat::from_view(view, commitments)?;
    let mut plan = || Plan::new(own, memory::remember_floors(own.public, shown));
    let action = match own.public.phase {
        Phase::Stop { .. } => Some(Action::Stop { floor: plan().choose_floor() }),
        Phase::Turn(turn) => plan().choose_turn_action(turn),
        Phase::Challenge(challenge) if challenge.target == Some(own.seat) => {
            plan().stand_or_evade()
        }
        variants!(Phase: Challenge, Deal, Roll, Shuffle, Showdown, Over) => None,
    };
    let legal = action.filter(|action| own.is_legal(action));
    legal.or_else(|| greedy::choose_action_with(commitments, view))
}

/// The evaluation of a seat's turn.
struct Plan<'a> {
    own: ActingSeat<'a>,
    judge: Judge<'a>,
    /// The remembered face-down cards.
    known: Floors,
    /// The chance of winning in the present state.
    now: u32,
}

impl<'a> Plan<'a> {
    fn new(own: ActingSeat<'a>, known: Floors) -> Self {
        let judge = Judge::new(own.public, &known, own.hand, own.others);
        let now = judge.win_chance();
        Self { own, judge, known, now }
    }

    /// Iterates over the slots of a floor that show a card, or over those that do not.
    fn slots(&self, floor: u8, up: bool) -> impl Iterator<Item = u8> + use<> {
        let cards = self.own.public.floors[usize::from(floor)];
        (0..SLOTS).filter(move |slot| cards[usize::from(*slot)].is_some() == up)
    }

    /// Returns the most useful floor for this turn.
    fn choose_floor(&mut self) -> u8 {
        let rolled = self.judge.win_chance_after_roll();
        let mut best = (0, 0);
        for floor in 0..FLOORS {
            let gain = if has_die_facing(&self.own.public.dice, floor) {
                rolled.saturating_sub(self.now)
            } else {
                0
            };
            let wins = self.best_trade_chance(floor) + gain;
            if wins > best.1 {
                best = (floor, wins);
            }
        }
        best.0
    }

    /// Returns the chance of winning after the best purchase or sale at a floor.
    fn best_trade_chance(&mut self, floor: u8) -> u32 {
        let elsewhere = self.judge.other_floors(floor);
        let cards = self.judge.floors[usize::from(floor)];
        let sold = self.judge.win_chance_after_sale(&elsewhere, cards, self.now);
        let bought = self.best_buy(&elsewhere, floor, true);
        bought.map_or(sold, |(_, wins)| sold.max(wins))
    }

    /// Returns the slot whose card is best turned up, with the chance of winning after it.
    fn best_buy(&mut self, elsewhere: &OtherFloors, floor: u8, sells: bool) -> Option<(u8, u32)> {
        let known = self.known[usize::from(floor)];
        let mut best: Option<(u8, u32)> = None;
        let mut unknown = None;
        for slot in self.slots(floor, false) {
            let wins = match known[usize::from(slot)] {
                Some(card) => self.judge.win_chance_after_known_buy(elsewhere, floor, card, sells),
                // All unknown cards are equivalent.
                None => *unknown.get_or_insert_with(|| {
                    self.judge.win_chance_after_buy(elsewhere, floor, sells)
                }),
            };
            if best.is_none_or(|(_, most)| wins > most) {
                best = Some((slot, wins));
            }
        }
        best
    }

    fn choose_turn_action(&mut self, turn: TurnState) -> Option<Action> {
        let is_wagered = self.own.public.reserves.is_some();
        if is_wagered && turn.wager.is_none() {
            return Some(self.answer_reserves(turn.floor));
        }
        if let Some(challenge) = self.choose_challenge(turn.floor, AT_ONCE) {
            return Some(challenge);
        }
        if turn.step == Step::Open && self.own.public.risk() > 0 {
            let is_cheap = self.own.public.risk() <= self.own.public.pot / RISK_PARTS;
            return is_cheap.then_some(Action::PayRisk);
        }
        let done = self.choose_trade(turn.floor);
        let done = done.or_else(|| self.choose_raise());
        let done = done.or_else(|| self.choose_roll());
        let done = done.or_else(|| self.choose_challenge(turn.floor, 0));
        done.or_else(|| self.choose_redraw()).or(Some(Action::End))
    }

    /// Answers converted reserves: wagers if the expected gain, including the value of the win
    /// itself, exceeds the wager (rule 5.2).
    fn answer_reserves(&mut self, floor: u8) -> Action {
        let rolls = has_die_facing(&self.own.public.dice, floor);
        let rolled =
            if rolls { self.judge.win_chance_after_roll().saturating_sub(self.now) } else { 0 };
        let wins = self.best_trade_chance(floor) + rolled;
        let (wager, pot) = self.own.wager_and_pot();
        let pot = pot + WIN_CHIPS;
        if wins * pot >= wager * CERTAIN { Action::ConvertReserves } else { Action::Fold }
    }

    /// Acquires with the facing floor, or confronts with a better one, if the chance is sufficient
    /// with the additional lead `more`.
    fn choose_challenge(&self, floor: u8, more: u32) -> Option<Action> {
        let enough = |ahead: u32| self.own.even_chance() + ahead + more;
        let acquires = self.judge.win_chance_on(floor) >= enough(AHEAD);
        if acquires && self.own.is_allowed(&Action::Acquire) {
            return Some(Action::Acquire);
        }
        self.own.choose_confrontation(|may_evade| {
            self.now >= enough(if may_evade { AHEAD_OF_EVADER } else { AHEAD })
        })
    }

    /// Answers a confrontation (rule 6.2).
    fn stand_or_evade(&mut self) -> Option<Action> {
        if self.now >= STANDS {
            return Some(Action::Stand);
        }
        let discards = self.judge.best_discards();
        Some(Action::Evade { discards: discards.iter().collect() })
    }

    /// Turns a card up or down, whichever leaves the hand most likely to win; `None` if neither
    /// improves it.
    fn choose_trade(&mut self, floor: u8) -> Option<Action> {
        let price_max = (self.own.public.pot / PRICE_PARTS).max(PRICE_LEAST);
        let is_cheap = |price: u16| self.own.public.reserves.is_some() || price <= price_max;
        let elsewhere = self.judge.other_floors(floor);
        let up = self.judge.floors[usize::from(floor)];
        let mut best = (self.now, None);
        let mut sells = false;
        for slot in self.slots(floor, true) {
            let sell = Action::Sell { slot, leverage: false };
            let card = self.own.public.floors[usize::from(floor)][usize::from(slot)];
            let Some(card) =
                card.filter(|_| is_cheap(self.own.public.costs.sell) && self.own.is_allowed(&sell))
            else {
                continue;
            };
            sells = true;
            let wins = self.judge.win_chance_with_floor(&elsewhere, up.without(card));
            if wins > best.0 {
                best = (wins, Some(sell));
            }
        }
        let (slot, wins) = self
            .best_buy(&elsewhere, floor, sells || up.is_empty())
            .filter(|(_, wins)| *wins > best.0 && is_cheap(self.own.public.costs.buy))
            .unwrap_or_default();
        let buy = Action::Buy { slot, leverage: false };
        if wins > best.0 && self.own.is_allowed(&buy) {
            return Some(buy);
        }
        best.1
    }

    /// Raises the sell cost by one if a turn costs nothing.
    fn choose_raise(&self) -> Option<Action> {
        let public = self.own.public;
        let is_free = public.reserves.is_none() && public.costs.sell <= public.costs.buy;
        self.own.raise_sell_cost().filter(|_| is_free)
    }

    fn choose_roll(&mut self) -> Option<Action> {
        (self.own.is_allowed(&Action::Roll) && self.judge.win_chance_after_roll() > self.now)
            .then_some(Action::Roll)
    }

    /// Replaces hand cards if that makes the hand more likely to win.
    fn choose_redraw(&mut self) -> Option<Action> {
        let is_cheap = self.own.public.risk() <= self.own.public.pot / RISK_PARTS;
        if !is_cheap || !self.own.may_redraw() {
            return None;
        }
        let discards = self.judge.best_discards();
        (!discards.is_empty()).then(|| Action::PayToEvade { discards: discards.iter().collect() })
    }
}
