//! The AI of the house, which chooses an action from a view alone. It uses heuristics and a simple
//! estimate, without search or memory:
//!
//! - It acquires or confronts when its hand is sufficiently likely to win: before paying anything
//!   if possible, otherwise after improving its hand.
//! - Until then it turns up cards of its best floor, turns down cards that serve others better,
//!   rolls the dice if that helps, and replaces hand cards without a match.
//! - It keeps a small risk, so that a turn costs something.
//! - It answers a challenge if the expected gain is worth the price.

use bahay_engine::games::tongo_options::analysis::{answer_price, default_action, has_die_facing};
use bahay_engine::games::tongo_options::{
    Action, Card, Challenge, Discards, FLOORS, Phase, SLOTS, Step, TurnState, View,
};

use crate::tongo_options::acting_seat::{ActingSeat, CommitmentPolicy};
use crate::tongo_options::odds::{CERTAIN, Odds};

/// The chance of winning, in thousandths, with which it challenges before doing anything else in
/// its turn.
const SURE: u32 = 700;

/// The lead over an equal chance, in thousandths, with which it challenges after everything else.
const AHEAD: u32 = 100;

/// The fraction of the pot, as a divisor, that it pays at most for a card or for drawing.
const POT_PARTS: u16 = 8;

/// The minimum gain, in thousandths, for which it turns a card down.
const WORTH_SELLING: u32 = 40;

/// The chance of winning, in thousandths, from which it stands; otherwise it evades.
const STANDS: u32 = 500;

/// Chooses an action; `None` if the viewer is not prompted.
pub(super) fn choose_action(view: &View) -> Option<Action> {
    choose_action_with(CommitmentPolicy::Allowed, view)
}

/// Chooses an action of an AI that may or may not commit its seat.
pub(super) fn choose_action_with(commitments: CommitmentPolicy, view: &View) -> Option<Action> {
    let own = ActingSeat::from_view(view, commitments)?;
    let position = BotPosition { own, odds: Odds::new(own.public, own.hand) };
    let action = match view.public.phase {
        Phase::Stop { .. } => Some(Action::Stop { floor: position.choose_floor() }),
        Phase::Turn(turn) => Some(position.choose_turn_action(turn)),
        Phase::Challenge(challenge) => Some(position.answer_challenge(&challenge)),
        Phase::Deal | Phase::Roll(_) | Phase::Shuffle { .. } | Phase::Showdown(_) | Phase::Over => {
            None
        }
    };
    let legal = action.filter(|action| own.is_allowed(action));
    legal.or_else(|| default_action(own.public, own.seat))
}

/// The knowledge of a seat, with the odds of its hand.
struct BotPosition<'a> {
    own: ActingSeat<'a>,
    odds: Odds,
}

impl BotPosition<'_> {
    /// Returns the chance of beating all opponents with the best floor, in thousandths.
    fn win_chance(&self) -> u32 {
        self.odds.chance_to_beat(self.odds.best_floor().1, self.own.others)
    }

    /// Returns the chance of winning from which it challenges at the end of its turn, in
    /// thousandths.
    fn challenge_threshold(&self) -> u32 {
        self.own.even_chance() + AHEAD
    }

    /// Returns the most useful floor: the best one for a challenge or for turning up more cards,
    /// one on which a card that serves others can be turned down, or one with a die to roll.
    fn choose_floor(&self) -> u8 {
        if self.own.public.reserves.is_some() {
            let helps = |floor: &u8| self.best_chance_at_floor(*floor);
            return (0..FLOORS).max_by_key(helps).unwrap_or_default();
        }
        let (best, _) = self.odds.best_floor();
        let rolls = |floor: u8| has_die_facing(&self.own.public.dice, floor);
        let rolled = if self.is_showdown_near() && (0..FLOORS).any(rolls) {
            self.chance_after_roll()
        } else {
            0
        };
        let with_roll = |floor: u8, wins: u32| if rolls(floor) { wins.max(rolled) } else { wins };
        let mut found = (best, with_roll(best, self.win_chance().max(self.chance_after_buy(best))));
        for floor in 0..FLOORS {
            let sold = self.best_sale(floor).map_or(0, |(_, wins)| wins);
            let wins = with_roll(floor, sold);
            if wins >= found.1 + WORTH_SELLING {
                found = (floor, wins);
            }
        }
        found.0
    }

    /// Returns the chance of winning after a roll of the dice.
    fn chance_after_roll(&self) -> u32 {
        self.odds.chance_after_roll(self.own.public, self.own.others)
    }

    /// Returns the chance of winning after a card of a floor is turned up; 0 if no card is face
    /// down.
    fn chance_after_buy(&self, floor: u8) -> u32 {
        let has_down = self.own.public.floors[usize::from(floor)].contains(&None);
        if has_down { self.odds.chance_after_buy(floor, self.own.others, 0) } else { 0 }
    }

    /// Returns whether a showdown is possible in this round.
    fn is_showdown_near(&self) -> bool {
        self.own.public.round >= self.own.public.rules.challenge_round
            || self.own.public.reserves.is_some()
    }

    /// Returns the face-up card of a floor after whose turning down the hand is most likely to win.
    fn best_sale(&self, floor: u8) -> Option<(u8, u32)> {
        let all = self.odds.floors[usize::from(floor)];
        let cards = &self.own.public.floors[usize::from(floor)];
        let without =
            |card: Card| self.odds.chance_with_floor(floor, all.without(card), self.own.others);
        let sales =
            (0..SLOTS).zip(cards).filter_map(|(slot, card)| Some((slot, without((*card)?))));
        sales.max_by_key(|(_, wins)| *wins)
    }

    fn choose_turn_action(&self, turn: TurnState) -> Action {
        if self.own.public.reserves.is_some() {
            return self.answer_reserves(turn);
        }
        if let Some(challenge) = self.choose_challenge(turn, SURE) {
            return challenge;
        }
        if turn.step == Step::Open && self.own.public.risk() > 0 {
            return self.choose_risk_action(turn);
        }
        let price_max = self.price_max();
        let done = self.choose_trade(turn, price_max).or_else(|| self.choose_raise());
        let done = done.or_else(|| self.choose_roll());
        let done = done.or_else(|| self.choose_challenge(turn, self.challenge_threshold()));
        done.or_else(|| self.choose_redraw()).unwrap_or(Action::End)
    }

    /// Returns the maximum price that it pays for a card.
    fn price_max(&self) -> u16 {
        self.own.public.pot / POT_PARTS
    }

    /// Acquires with the facing floor, or confronts with a better one, if the chance is at least
    /// `enough`.
    fn choose_challenge(&self, turn: TurnState, enough: u32) -> Option<Action> {
        let facing = self.odds.chance_to_beat(self.odds.strength_on(turn.floor), self.own.others);
        if facing >= enough && self.own.is_allowed(&Action::Acquire) {
            return Some(Action::Acquire);
        }
        if self.win_chance() < enough {
            return None;
        }
        self.own.choose_confrontation(|_| true)
    }

    /// Chooses an action before anything was done in a turn with a risk to pay.
    fn choose_risk_action(&self, turn: TurnState) -> Action {
        if self.own.public.risk() <= self.price_max() && self.own.is_allowed(&Action::PayRisk) {
            return Action::PayRisk;
        }
        let evade = Action::Evade { discards: self.useless_cards() };
        if self.own.is_allowed(&evade) {
            return evade;
        }
        if self.own.is_allowed(&Action::Retreat) {
            return Action::Retreat;
        }
        if let Some(challenge) = self.choose_challenge(turn, self.challenge_threshold()) {
            return challenge;
        }
        if self.own.public.risk() <= self.own.public.pot / 2
            && self.own.is_allowed(&Action::PayRisk)
        {
            return Action::PayRisk;
        }
        // A small chance is better than none.
        self.choose_challenge(turn, 1).unwrap_or(Action::Fold)
    }

    /// Turns down a card that serves others, or turns up one that may serve the own hand.
    fn choose_trade(&self, turn: TurnState, price_max: u16) -> Option<Action> {
        let costs = &self.own.public.costs;
        let sale = self
            .best_sale(turn.floor)
            .filter(|(_, wins)| *wins >= self.win_chance() + WORTH_SELLING);
        let sale = sale.map(|(slot, _)| slot).filter(|_| costs.sell <= price_max);
        let sell = sale.map(|slot| Action::Sell { slot, leverage: false });
        if let Some(sell) = sell.filter(|sell| self.own.is_allowed(sell)) {
            return Some(sell);
        }
        let leverage = costs.buy > 1 && !self.own.player.leveraged;
        let paid_by_buy_in = if leverage { self.own.public.rules.buy_in } else { 0 };
        let price = costs.buy.saturating_sub(paid_by_buy_in.into());
        let cards = (0..SLOTS).zip(&self.own.public.floors[usize::from(turn.floor)]);
        let mut down = cards.filter(|(_, card)| card.is_none()).map(|(slot, _)| slot);
        let slot = down.next().filter(|_| price <= price_max)?;
        if self.chance_after_buy(turn.floor) < self.win_chance() {
            return None;
        }
        Some(Action::Buy { slot, leverage }).filter(|buy| self.own.is_allowed(buy))
    }

    /// Raises the sell cost by one if a turn costs nothing.
    fn choose_raise(&self) -> Option<Action> {
        let is_free = self.own.public.costs.sell == self.own.public.costs.buy;
        self.own.raise_sell_cost().filter(|_| is_free)
    }

    /// Rolls if that is likely to help and a showdown is near.
    fn choose_roll(&self) -> Option<Action> {
        if !self.is_showdown_near() || !self.own.is_allowed(&Action::Roll) {
            return None;
        }
        (self.chance_after_roll() > self.win_chance()).then_some(Action::Roll)
    }

    /// Replaces the hand cards without a match, if that is cheap.
    fn choose_redraw(&self) -> Option<Action> {
        if self.own.public.risk() > self.price_max() || !self.own.may_redraw() {
            return None;
        }
        let discards = self.useless_cards();
        (!discards.is_empty()).then_some(Action::PayToEvade { discards })
    }

    /// Returns the hand cards that are better replaced.
    fn useless_cards(&self) -> Discards {
        self.odds.best_discards(self.own.others).0.iter().collect()
    }

    /// Answers converted reserves: wagers if the expected gain exceeds the wager (rules 5.1 and
    /// 5.2).
    fn answer_reserves(&self, turn: TurnState) -> Action {
        if turn.wager.is_some() {
            return self.spend_wager(turn.floor);
        }
        let (wager, pot) = self.own.wager_and_pot();
        if self.best_chance_at_floor(turn.floor) * pot >= wager * CERTAIN {
            Action::ConvertReserves
        } else {
            Action::Fold
        }
    }

    /// Spends a wager, which is lost in any case, on everything that may help. A card is turned up
    /// first, because it may be turned down again.
    fn spend_wager(&self, floor: u8) -> Action {
        let now = self.win_chance();
        let mut cards = (0..SLOTS).zip(&self.own.public.floors[usize::from(floor)]);
        let down = cards.find(|(_, card)| card.is_none());
        let buy = down.map(|(slot, _)| Action::Buy { slot, leverage: false });
        let sale = self.best_sale(floor).filter(|(_, wins)| *wins > now);
        let sell = sale.map(|(slot, _)| Action::Sell { slot, leverage: false });
        let roll = Some(Action::Roll)
            .filter(|roll| self.own.is_allowed(roll) && self.chance_after_roll() > now);
        let legal = |action: &Action| self.own.is_allowed(action);
        buy.filter(legal).or_else(|| sell.filter(legal)).or(roll).unwrap_or(Action::End)
    }

    /// Returns the chance of winning after the most helpful actions at a floor.
    fn best_chance_at_floor(&self, floor: u8) -> u32 {
        let now = self.win_chance();
        let has_down = self.own.public.floors[usize::from(floor)].contains(&None);
        let bought =
            if has_down { self.odds.chance_after_buy(floor, self.own.others, now) } else { now };
        let sold = self.best_sale(floor).map_or(0, |(_, wins)| wins);
        let rolls = has_die_facing(&self.own.public.dice, floor);
        let rolled = if rolls { self.chance_after_roll().saturating_sub(now) } else { 0 };
        bought.max(sold) + rolled
    }

    fn answer_challenge(&self, challenge: &Challenge) -> Action {
        let (_, best) = self.odds.best_floor();
        let joined = challenge.joined.len();
        let wins = match challenge.target {
            Some(target) if target == self.own.seat => {
                let evade = Action::Evade { discards: self.useless_cards() };
                let wins = self.odds.chance_to_beat(best, 1);
                return if wins >= STANDS || !self.own.is_allowed(&evade) {
                    Action::Stand
                } else {
                    evade
                };
            }
            Some(_) => self.odds.chance_to_beat(best, 2 + joined),
            None => {
                let facing = self.own.public.player(challenge.by).facing;
                self.odds.chance_to_beat_on(best, facing) * self.odds.chance_to_beat(best, joined)
                    / CERTAIN
            }
        };
        let price = u32::from(answer_price(self.own.public, self.own.seat));
        let pot = u32::from(self.own.public.pot) + price;
        let worth = wins * pot >= price * CERTAIN;
        match (worth, challenge.target) {
            (false, _) => Action::Fold,
            (true, Some(_)) => Action::Join,
            (true, None) => Action::Confront { target: None },
        }
    }
}
