//! What the quick player plays, from a view and what it remembers. It makes its hand good first of all: at each turn
//! it takes the floor, the card to turn up, the card to turn down, the roll and the draw of other
//! cards that leave the hand likeliest to win, and asks less than the AI in [`super::bot`] of what
//! each of them brings. What it does not decide itself it leaves to that AI.

use crate::games::tongo_options::action::{Action, NewCosts};
use crate::games::tongo_options::bot;
use crate::games::tongo_options::card::CardSet;
use crate::games::tongo_options::commitment::CommitmentPolicy;
use crate::games::tongo_options::dice::has_die_facing;
use crate::games::tongo_options::event::Event;
use crate::games::tongo_options::judge::{OtherFloors, Judge};
use crate::games::tongo_options::legal;
use crate::games::tongo_options::memory;
use crate::games::tongo_options::odds::CERTAIN;
use crate::games::tongo_options::phase::{Phase, Step, TurnState};
use crate::games::tongo_options::player::PlayerState;
use crate::games::tongo_options::public::{Floors, PublicState};
use crate::games::tongo_options::rules::{FLOORS, SLOTS};
use crate::games::tongo_options::view::View;
use crate::seat::Seat;

/// After all else it challenges when it is likelier to win by so much than the others are, in thousandths.
const AHEAD: u32 = 200;

/// The same against who can evade: whoever has a weak hand does, and draws another one.
const AHEAD_OF_EVADER: u32 = 400;

/// So much more it must be ahead to challenge before it has done anything in its turn.
const AT_ONCE: u32 = 200;

/// Where it can evade it stands only when so likely to win: who confronts has a good hand.
const STANDS: u32 = 850;

/// Chips that a win is worth beside what it brings.
const WIN_CHIPS: u32 = 200;

/// It pays the risk where that is no more than this part of the pot.
const RISK_PARTS: u16 = 4;

/// It pays for a card no more than this part of the pot, or [`PRICE_LEAST`].
const PRICE_PARTS: u16 = 4;

/// It pays so much for a card in any case.
const PRICE_LEAST: u16 = 6;

/// What to play; `None` when the viewer is not to act.
pub(super) fn choose_action(view: &View, shown: &mut dyn Iterator<Item = &Event>) -> Option<Action> {
    choose_action_with(CommitmentPolicy::Allowed, view, shown)
}

/// The same by an AI that may commit its seat or may not.
pub(super) fn choose_action_with(
    commitments: CommitmentPolicy,
    view: &View,
    shown: &mut dyn Iterator<Item = &Event>,
) -> Option<Action> {
    let (seat, hand) = (view.viewer?, view.hand()?);
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
        Phase::Challenge(_)
        | Phase::Deal
        | Phase::Roll(_)
        | Phase::Shuffle { .. }
        | Phase::Showdown(_)
        | Phase::Over => None,
    };
    let is_legal = |action: &Action| legal::check(&view.public, seat, hand, action).is_ok();
    action.filter(is_legal).or_else(|| bot::choose_action_with(commitments, view))
}

/// A seat in its turn.
struct Plan<'a> {
    public: &'a PublicState,
    seat: Seat,
    hand: CardSet,
    player: &'a PlayerState,
    judge: Judge<'a>,
    /// What lies face down and is remembered.
    known: Floors,
    others: usize,
    /// How likely it is to win as things are.
    now: u32,
    commitments: CommitmentPolicy,
}

impl<'a> Plan<'a> {
    fn new(public: &'a PublicState, known: Floors, seat: Seat, hand: CardSet) -> Self {
        let others = bot::others_to_beat(public, seat);
        let judge = Judge::new(public, &known, hand, others);
        let now = judge.win_chance();
        let player = public.player(seat);
        let commitments = CommitmentPolicy::Allowed;
        Self { public, seat, hand, player, judge, known, others, now, commitments }
    }

    fn is_allowed(&self, action: &Action) -> bool {
        self.commitments.allow(self.public, action)
            && legal::check(self.public, self.seat, self.hand, action).is_ok()
    }

    /// The slots of a floor that show a card, or those that do not.
    fn slots(&self, floor: u8, up: bool) -> impl Iterator<Item = u8> + use<> {
        let cards = self.public.floors[usize::from(floor)];
        (0..SLOTS).filter(move |slot| cards[usize::from(*slot)].is_some() == up)
    }

    /// Where most can be made of the hand in this turn.
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

    /// How likely it is to win by the best that it may turn up or down at a floor.
    fn best_trade_chance(&mut self, floor: u8) -> u32 {
        let elsewhere = self.judge.other_floors(floor);
        let cards = self.judge.floors[usize::from(floor)];
        let sold = self.judge.win_chance_after_sale(&elsewhere, cards, self.now);
        let bought = self.best_buy(&elsewhere, floor, true);
        bought.map_or(sold, |(_, wins)| sold.max(wins))
    }

    /// The slot whose card is best turned up, and how likely it is to win then.
    fn best_buy(&mut self, elsewhere: &OtherFloors, floor: u8, sells: bool) -> Option<(u8, u32)> {
        let known = self.known[usize::from(floor)];
        let mut best: Option<(u8, u32)> = None;
        let mut unknown = None;
        for slot in self.slots(floor, false) {
            let wins = match known[usize::from(slot)] {
                Some(card) => self.judge.win_chance_after_known_buy(elsewhere, floor, card, sells),
                // All that are not known are alike.
                None => {
                    *unknown.get_or_insert_with(|| self.judge.win_chance_after_buy(elsewhere, floor, sells))
                }
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

    /// Rule 5.2: wagers when it may win more than that, on the whole, the win itself counted too.
    fn answer_reserves(&mut self, floor: u8) -> Action {
        let rolls = has_die_facing(&self.public.dice, floor);
        let rolled = if rolls { self.judge.win_chance_after_roll().saturating_sub(self.now) } else { 0 };
        let wins = self.best_trade_chance(floor) + rolled;
        let wager = self.public.reserves.map_or(0, |reserves| reserves.wager);
        let wager = u32::from(self.player.chips.min(wager));
        // Half of those who have not answered will wager too.
        let others = self.seat.others(self.public.seats()).map(|other| self.public.player(other));
        let others = others.filter(|other| !other.folded && other.paid.reserves == 0);
        let more = (1..).zip(others).last().map_or(0, |(count, _)| count * wager / 2);
        let pot = u32::from(self.public.pot) + wager + more + WIN_CHIPS;
        if wins * pot >= wager * CERTAIN { Action::ConvertReserves } else { Action::Fold }
    }

    /// Acquires with the facing floor, or confronts with a better one, if that is good enough; `more`
    /// is asked beside.
    fn choose_challenge(&self, floor: u8, more: u32) -> Option<Action> {
        let even = CERTAIN / u32::try_from(self.others + 1).expect("few seats");
        let enough = |ahead: u32| even + ahead + more;
        if self.judge.win_chance_on(floor) >= enough(AHEAD) && self.is_allowed(&Action::Acquire) {
            return Some(Action::Acquire);
        }
        // Who cannot evade is confronted rather than who can.
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

    /// Rule 6.2: what it answers to who confronts it.
    fn stand_or_evade(&mut self) -> Option<Action> {
        if self.now >= STANDS {
            return Some(Action::Stand);
        }
        let discards = self.judge.best_discards();
        Some(Action::Evade { discards: discards.iter().collect() })
    }

    /// Turns up a card, or down, whichever leaves the hand likeliest to win; nothing if neither is
    /// better than nothing.
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
            let Some(card) = card.filter(|_| is_cheap(self.public.costs.sell) && self.is_allowed(&sell))
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

    /// Where a turn costs nothing it shall cost one chip.
    fn choose_raise(&self) -> Option<Action> {
        let costs = &self.public.costs;
        let is_free = self.public.reserves.is_none() && costs.sell <= costs.buy;
        let raise = Action::Raise(NewCosts { sell: Some(costs.buy + 1), ..NewCosts::default() });
        Some(raise).filter(|raise| is_free && self.is_allowed(raise))
    }

    fn choose_roll(&mut self) -> Option<Action> {
        (self.is_allowed(&Action::Roll) && self.judge.win_chance_after_roll() > self.now).then_some(Action::Roll)
    }

    /// Draws other cards where that makes the hand likelier to win.
    fn choose_redraw(&mut self) -> Option<Action> {
        // Whether it may at all does not depend on which.
        let any = Action::PayToEvade { discards: self.hand.iter().take(1).collect() };
        let is_cheap = self.public.risk() <= self.public.pot / RISK_PARTS;
        if !is_cheap || !self.is_allowed(&any) {
            return None;
        }
        let discards = self.judge.best_discards();
        (!discards.is_empty()).then(|| Action::PayToEvade { discards: discards.iter().collect() })
    }
}
