//! The quick AI, which chooses an action from a view and from memory.
//!
//! It improves its hand first of all: in each turn it chooses the floor, the card to turn up, the
//! card to turn down, the roll and the draw that leave the hand most likely to win, with lower
//! thresholds than the AI in [`super::greedy`]. It leaves all other decisions to that AI.

use bahay_engine::games::tongo_options::analysis::{check, has_die_facing};
use bahay_engine::games::tongo_options::{
    Action, CardSet, Event, FLOORS, Floors, NewCosts, Phase, PlayerState, PublicState, SLOTS, Step,
    TurnState, View,
};
use bahay_engine::seat::Seat;
use bahay_engine::variants;

use crate::tongo_options::commitment::CommitmentPolicy;
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
    let seat = view.viewer?;
    let hand = view.hand()?;
    if !view.public.prompt()?.seats.contains(seat) {
        return None;
    }
    let mut plan = || {
        let known = memory::remember_floors(&view.public, shown);
        Plan { commitments, ..Plan::new(&view.public, known, seat, hand) }
    };
    let action = match view.public.phase {
        Phase::Stop { .. } => Some(Action::Stop { floor: plan().choose_floor() }),
        Phase::Turn(turn) => plan().choose_turn_action(turn),
        Phase::Challenge(challenge) if challenge.target == Some(seat) => plan().stand_or_evade(),
        variants!(Phase: Challenge, Deal, Roll, Shuffle, Showdown, Over) => None,
    };
    let is_legal = |action: &Action| check(&view.public, seat, hand, action).is_ok();
    action.filter(is_legal).or_else(|| greedy::choose_action_with(commitments, view))
}

/// The evaluation of a seat's turn.
struct Plan<'a> {
    public: &'a PublicState,
    seat: Seat,
    hand: CardSet,
    player: &'a PlayerState,
    judge: Judge<'a>,
    /// The remembered face-down cards.
    known: Floors,
    others: usize,
    /// The chance of winning in the present state.
    now: u32,
    commitments: CommitmentPolicy,
}

impl<'a> Plan<'a> {
    fn new(public: &'a PublicState, known: Floors, seat: Seat, hand: CardSet) -> Self {
        let others = greedy::others_to_beat(public, seat);
        let judge = Judge::new(public, &known, hand, others);
        let now = judge.win_chance();
        let player = public.player(seat);
        let commitments = CommitmentPolicy::Allowed;
        Self { public, seat, hand, player, judge, known, others, now, commitments }
    }

    fn is_allowed(&self, action: &Action) -> bool {
        self.commitments.allow(self.public, action)
            && check(self.public, self.seat, self.hand, action).is_ok()
    }

    /// Iterates over the slots of a floor that show a card, or over those that do not.
    fn slots(&self, floor: u8, up: bool) -> impl Iterator<Item = u8> + use<> {
        let cards = self.public.floors[usize::from(floor)];
        (0..SLOTS).filter(move |slot| cards[usize::from(*slot)].is_some() == up)
    }

    /// Returns the most useful floor for this turn.
    fn choose_floor(&mut self) -> u8 {
        let rolled = self.judge.win_chance_after_roll();
        let mut best = (0, 0);
        for floor in 0..FLOORS {
            let gain = if has_die_facing(&self.public.dice, floor) {
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
        let is_wagered = self.public.reserves.is_some();
        if is_wagered && turn.wager.is_none() {
            return Some(self.answer_reserves(turn.floor));
        }
        if let Some(challenge) = self.choose_challenge(turn.floor, AT_ONCE) {
            return Some(challenge);
        }
        if turn.step == Step::Open && self.public.risk() > 0 {
            let is_cheap = self.public.risk() <= self.public.pot / RISK_PARTS;
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
        let rolls = has_die_facing(&self.public.dice, floor);
        let rolled =
            if rolls { self.judge.win_chance_after_roll().saturating_sub(self.now) } else { 0 };
        let wins = self.best_trade_chance(floor) + rolled;
        let wager = self.public.reserves.map_or(0, |reserves| reserves.wager);
        let wager = u32::from(self.player.chips.min(wager));
        // Half of the seats that have not answered are expected to wager too.
        let others = self.seat.others(self.public.seats()).map(|other| self.public.player(other));
        let others = others.filter(|other| !other.folded && other.paid.reserves == 0);
        let more = (1..).zip(others).last().map_or(0, |(count, _)| count * wager / 2);
        let pot = u32::from(self.public.pot) + wager + more + WIN_CHIPS;
        if wins * pot >= wager * CERTAIN { Action::ConvertReserves } else { Action::Fold }
    }

    /// Acquires with the facing floor, or confronts with a better one, if the chance is sufficient
    /// with the additional lead `more`.
    fn choose_challenge(&self, floor: u8, more: u32) -> Option<Action> {
        let even = CERTAIN / u32::try_from(self.others + 1).expect("few seats");
        let enough = |ahead: u32| even + ahead + more;
        if self.judge.win_chance_on(floor) >= enough(AHEAD) && self.is_allowed(&Action::Acquire) {
            return Some(Action::Acquire);
        }
        // A target that cannot evade is preferred.
        let targets = self.seat.others(self.public.seats());
        let may_evade = |target: Seat| self.public.player(target).may_evade_by_token();
        let is_enough = |target: &Seat| {
            let ahead = if may_evade(*target) { AHEAD_OF_EVADER } else { AHEAD };
            self.now >= enough(ahead)
        };
        let confront = |target: Seat| Action::Confront { target: Some(target) };
        let legal = targets.filter(is_enough).filter(|target| self.is_allowed(&confront(*target)));
        legal.min_by_key(|target| may_evade(*target)).map(confront)
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
        let price_max = (self.public.pot / PRICE_PARTS).max(PRICE_LEAST);
        let is_cheap = |price: u16| self.public.reserves.is_some() || price <= price_max;
        let elsewhere = self.judge.other_floors(floor);
        let up = self.judge.floors[usize::from(floor)];
        let mut best = (self.now, None);
        let mut sells = false;
        for slot in self.slots(floor, true) {
            let sell = Action::Sell { slot, leverage: false };
            let card = self.public.floors[usize::from(floor)][usize::from(slot)];
            let Some(card) =
                card.filter(|_| is_cheap(self.public.costs.sell) && self.is_allowed(&sell))
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
            .filter(|(_, wins)| *wins > best.0 && is_cheap(self.public.costs.buy))
            .unwrap_or_default();
        let buy = Action::Buy { slot, leverage: false };
        if wins > best.0 && self.is_allowed(&buy) {
            return Some(buy);
        }
        best.1
    }

    /// Raises the sell cost by one if a turn costs nothing.
    fn choose_raise(&self) -> Option<Action> {
        let costs = &self.public.costs;
        let is_free = self.public.reserves.is_none() && costs.sell <= costs.buy;
        let raise = Action::Raise(NewCosts { sell: Some(costs.buy + 1), ..NewCosts::default() });
        Some(raise).filter(|raise| is_free && self.is_allowed(raise))
    }

    fn choose_roll(&mut self) -> Option<Action> {
        (self.is_allowed(&Action::Roll) && self.judge.win_chance_after_roll() > self.now)
            .then_some(Action::Roll)
    }

    /// Replaces hand cards if that makes the hand more likely to win.
    fn choose_redraw(&mut self) -> Option<Action> {
        // The legality does not depend on the choice of cards.
        let any = Action::PayToEvade { discards: self.hand.iter().take(1).collect() };
        let is_cheap = self.public.risk() <= self.public.pot / RISK_PARTS;
        if !is_cheap || !self.is_allowed(&any) {
            return None;
        }
        let discards = self.judge.best_discards();
        (!discards.is_empty()).then(|| Action::PayToEvade { discards: discards.iter().collect() })
    }
}
