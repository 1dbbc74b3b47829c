//! What the house's AI plays, from a view alone. Pure heuristics, no search and no memory:
//!
//! - It acquires or confronts when its hand is likely enough to win, before it pays anything if it
//!   can, else after it has bought a card and rolled the dice for it.
//! - Until then it turns up cards of the floor that serves it best, and draws other cards for those
//!   that match nothing when that costs little.
//! - It answers when what it may win is worth the price.

use crate::games::tongo_options::action::{Action, Discards};
use crate::games::tongo_options::card::CardSet;
use crate::games::tongo_options::costs::answer_price;
use crate::games::tongo_options::dice::any_faces;
use crate::games::tongo_options::legal;
use crate::games::tongo_options::odds::{CERTAIN, Odds};
use crate::games::tongo_options::phase::{Challenge, Phase, Step, TurnState};
use crate::games::tongo_options::player::Player;
use crate::games::tongo_options::public::Public;
use crate::games::tongo_options::rules::FLOORS;
use crate::games::tongo_options::strength::Strength;
use crate::games::tongo_options::view::View;
use crate::seat::Seat;

/// So sure of winning it challenges before it has done anything in its turn, in thousandths.
const SURE: u32 = 700;

/// After all else it challenges when it is likelier to win by so much than the others are.
const AHEAD: u32 = 100;

/// It pays for a card, or for drawing, no more than this part of the pot.
const POT_PARTS: u16 = 8;

/// It stands only when so likely to win; else it evades.
const STANDS: u32 = 500;

/// What to play; `None` when the viewer is not to act.
pub(super) fn advise(view: &View) -> Option<Action> {
    let seat = view.viewer?;
    view.public.prompt()?.seats.contains(seat).then_some(())?;
    let thought = Thought::new(&view.public, seat, view.hand()?);
    let action = match view.public.phase {
        Phase::Stop { .. } => Some(Action::Stop { floor: thought.floor_to_face() }),
        Phase::Turn(turn) => Some(thought.turn(turn)),
        Phase::Challenge(challenge) => Some(thought.answer(&challenge)),
        Phase::Deal | Phase::Roll(_) | Phase::Shuffle { .. } | Phase::Showdown(_) | Phase::Over => {
            None
        }
    };
    action
        .filter(|action| thought.may(action))
        .or_else(|| legal::default_action(&view.public, seat))
}

/// What a seat thinks about.
struct Thought<'a> {
    public: &'a Public,
    seat: Seat,
    player: &'a Player,
    odds: Odds,
    /// How many others are in.
    others: usize,
}

impl<'a> Thought<'a> {
    fn new(public: &'a Public, seat: Seat, hand: CardSet) -> Self {
        let others = public.still_in().len() - 1;
        let player = public.player(seat);
        Self { public, seat, player, odds: Odds::new(public, hand), others }
    }

    fn may(&self, action: &Action) -> bool {
        legal::check(self.public, self.seat, self.odds.hand, action).is_ok()
    }

    /// How likely it is to win against all others with this, in thousandths.
    fn wins(&self, strength: Strength) -> u32 {
        self.odds.beats(strength, self.others)
    }

    /// How likely it must be to win before it challenges at the end of its turn.
    fn enough(&self) -> u32 {
        CERTAIN / u32::try_from(self.others + 1).expect("few seats") + AHEAD
    }

    /// The floor with the strongest match; of equal ones, and while nothing matches, that with a die
    /// to roll and cards to turn up.
    fn floor_to_face(&self) -> u8 {
        let worth = |floor: &u8| {
            let cards = &self.public.floors[usize::from(*floor)];
            let down = cards.iter().filter(|card| card.is_none()).count();
            let rolls = any_faces(&self.public.dice, *floor);
            // A pair alone is worth less than the chance to roll for a chain.
            (self.odds.on(*floor), rolls, down)
        };
        (0..FLOORS).max_by_key(worth).unwrap_or(self.player.facing)
    }

    fn turn(&self, turn: TurnState) -> Action {
        if self.public.reserves.is_some() {
            return self.with_reserves(turn);
        }
        if let Some(challenge) = self.challenge(turn, SURE) {
            return challenge;
        }
        if turn.step == Step::Open && self.public.risk() > 0 {
            return self.about_the_risk(turn);
        }
        if let Some(improvement) = self.improve(turn, self.price_max()) {
            return improvement;
        }
        self.challenge(turn, self.enough()).or_else(|| self.redraw()).unwrap_or(Action::End)
    }

    /// The most that it pays for a card.
    fn price_max(&self) -> u16 {
        self.public.pot / POT_PARTS
    }

    /// Acquires with the facing floor, or confronts with a better one, if that is good enough.
    fn challenge(&self, turn: TurnState, enough: u32) -> Option<Action> {
        let facing = self.odds.on(turn.floor);
        if self.wins(facing) >= enough && self.may(&Action::Acquire) {
            return Some(Action::Acquire);
        }
        if self.wins(self.odds.best().1) < enough {
            return None;
        }
        // Who cannot evade is confronted rather than who can.
        let targets = self.seat.others(self.public.seats());
        let confront = |target: Seat| Action::Confront { target: Some(target) };
        let legal = targets.filter(|target| self.may(&confront(*target)));
        legal.min_by_key(|target| self.public.player(*target).may_evade_by_token()).map(confront)
    }

    /// Nothing is done yet, and there is a risk to pay.
    fn about_the_risk(&self, turn: TurnState) -> Action {
        let cheap = self.public.risk() <= self.price_max();
        let evade = Action::Evade { discards: self.useless() };
        if cheap && self.may(&Action::PayRisk) {
            Action::PayRisk
        } else if self.may(&Action::Retreat) {
            Action::Retreat
        } else if self.may(&evade) {
            evade
        } else if let Some(challenge) = self.challenge(turn, self.enough()) {
            challenge
        } else if self.public.risk() <= self.public.pot / 2 && self.may(&Action::PayRisk) {
            Action::PayRisk
        } else {
            // Rather a small chance than none.
            self.challenge(turn, 1).unwrap_or(Action::Fold)
        }
    }

    /// Turns up a card, and rolls where a challenge may follow.
    fn improve(&self, turn: TurnState, price_max: u16) -> Option<Action> {
        let costs = &self.public.costs;
        let leverage = costs.buy > 1 && !self.player.leveraged;
        let price = if leverage {
            costs.buy.saturating_sub(self.public.rules.buy_in.into())
        } else {
            costs.buy
        };
        let cards = (0_u8..).zip(&self.public.floors[usize::from(turn.floor)]);
        let mut down = cards.filter(|(_, card)| card.is_none()).map(|(slot, _)| slot);
        let buy = down.next().map(|slot| Action::Buy { slot, leverage });
        let may_challenge = self.public.round >= self.public.rules.challenge_round;
        let roll =
            Some(Action::Roll).filter(|_| may_challenge && self.wins(self.odds.best().1) < SURE);
        let buy = buy.filter(|_| price <= price_max);
        buy.filter(|buy| self.may(buy)).or(roll.filter(|roll| self.may(roll)))
    }

    /// Draws other cards for those that match nothing, where that costs little.
    fn redraw(&self) -> Option<Action> {
        let discards = self.useless();
        let pay = Action::PayToEvade { discards };
        let cheap = self.public.risk() <= self.price_max();
        (cheap && !discards.is_empty() && self.may(&pay)).then_some(pay)
    }

    /// The hand cards that match nothing on the best floor.
    fn useless(&self) -> Discards {
        let (floor, _) = self.odds.best();
        let up = self.odds.floors[usize::from(floor)];
        let matches = |number: u8| up.iter().any(|card| card.number() == number);
        self.odds.hand.iter().filter(|card| !matches(card.number())).collect()
    }

    /// Rules 5.1, 5.2: what is wagered is spent in any case.
    fn with_reserves(&self, turn: TurnState) -> Action {
        let Some(reserves) = self.public.reserves.filter(|_| turn.wager.is_none()) else {
            return self.improve(turn, u16::MAX).unwrap_or(Action::End);
        };
        let wager = u32::from(self.player.chips.min(reserves.wager));
        // Against the converter, and who has not answered may join.
        let wins = self.odds.beats(self.odds.best().1, self.others.div_ceil(2).max(1));
        let pot = u32::from(self.public.pot) + wager;
        if wins * pot >= wager * CERTAIN { Action::ConvertReserves } else { Action::Fold }
    }

    fn answer(&self, challenge: &Challenge) -> Action {
        let (_, best) = self.odds.best();
        let joined = challenge.joined.len();
        let wins = match challenge.target {
            Some(target) if target == self.seat => {
                let evade = Action::Evade { discards: self.useless() };
                let wins = self.odds.beats(best, 1);
                return if wins >= STANDS || !self.may(&evade) { Action::Stand } else { evade };
            }
            Some(_) => self.odds.beats(best, 2 + joined),
            None => {
                let facing = self.public.player(challenge.by).facing;
                self.odds.beats_on(best, facing) * self.odds.beats(best, joined) / CERTAIN
            }
        };
        let price = u32::from(answer_price(self.public, self.seat));
        let pot = u32::from(self.public.pot) + price;
        let worth = wins * pot >= price * CERTAIN;
        match (worth, challenge.target) {
            (false, _) => Action::Fold,
            (true, Some(_)) => Action::Join,
            (true, None) => Action::Confront { target: None },
        }
    }
}
