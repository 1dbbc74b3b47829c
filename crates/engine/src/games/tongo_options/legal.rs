//! The legality of actions, from the public state and the hand of the seat that acts. The game and
//! a player's view share this code, because neither needs to know more.
//!
//! [`check`] decides on one action and gives the reason for a refusal; [`for_each`] lists the
//! actions that [`check`] accepts. A selection of values stands for a free number: changes of one
//! cost, by one and by the maximum, for all changes of costs; discards in the order of the cards
//! for all orders. Random play compares the two.

use crate::game::require;
use crate::games::tongo_options::action::{Action, Discards, Illegal, NewCosts};
use crate::games::tongo_options::card::CardSet;
use crate::games::tongo_options::costs::{
    PERCENTS, change_costs, discounted_price, exchange_price, for_each_change, index_costs,
};
use crate::games::tongo_options::dice::has_die_facing;
use crate::games::tongo_options::phase::{Challenge, CostsChange, Phase, Step, TurnState};
use crate::games::tongo_options::player::PlayerState;
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::rules::{FLOORS, SLOTS};
use crate::seat::Seat;

/// Checks that the seat may play this action now.
///
/// # Errors
/// The first reason for a refusal.
pub fn check(
    public: &PublicState,
    seat: Seat,
    hand: CardSet,
    action: &Action,
) -> Result<(), Illegal> {
    match public.phase {
        Phase::Deal | Phase::Roll(_) | Phase::Shuffle { .. } => Err(Illegal::ChanceFirst),
        Phase::Showdown(_) | Phase::Over => Err(Illegal::GameOver),
        Phase::Stop { seat: turn } => {
            require(turn == seat, Illegal::NotYourTurn)?;
            let Action::Stop { floor } = action else { return Err(Illegal::StopFirst) };
            require(*floor < FLOORS, Illegal::NoSuchFloor)
        }
        Phase::Turn(turn) => {
            require(turn.seat == seat, Illegal::NotYourTurn)?;
            TurnActor::new(public, turn, hand).check(action)
        }
        Phase::Challenge(challenge) => check_answer(public, &challenge, seat, hand, action),
    }
}

/// Returns whether the action commits a seat without a prompt to do so (rule 9.3): it confronts or
/// acquires in its turn, or is the first to wager its reserves.
pub fn is_commitment(public: &PublicState, action: &Action) -> bool {
    match action {
        Action::Acquire => true,
        // Without a target the action answers an acquisition.
        Action::Confront { target } => target.is_some(),
        Action::ConvertReserves => public.reserves.is_none(),
        variants!(Action: Stop, Retreat, Evade, Fold, PayRisk, Lower, Buy, Sell, Exchange, Raise,
            IndexMargin, Roll, End, PayToEvade, Stand, Join) => false,
    }
}

/// Calls `each` with every action open to the seat, each once, with a selection of free numbers.
pub fn for_each(public: &PublicState, seat: Seat, hand: CardSet, mut each: impl FnMut(Action)) {
    match public.phase {
        Phase::Stop { seat: turn } if turn == seat => {
            (0..FLOORS).for_each(|floor| each(Action::Stop { floor }));
        }
        Phase::Turn(turn) if turn.seat == seat => {
            TurnActor::new(public, turn, hand).for_each(&mut each);
        }
        Phase::Challenge(challenge) if challenge.asked == seat => match challenge.target {
            Some(target) if target == seat => {
                each(Action::Stand);
                for_each_discards(hand, true, |discards| each(Action::Evade { discards }));
            }
            Some(_) => [Action::Join, Action::Fold].into_iter().for_each(each),
            None => {
                [Action::Confront { target: None }, Action::Fold].into_iter().for_each(each);
            }
        },
        variants!(Phase: Deal, Stop, Turn, Roll, Shuffle, Challenge, Showdown, Over) => {}
    }
}

/// Returns the action that the clock plays (rule 9.1); `None` if the seat is not prompted.
pub fn default_action(public: &PublicState, seat: Seat) -> Option<Action> {
    match public.phase {
        Phase::Stop { seat: turn } if turn == seat => {
            Some(Action::Stop { floor: public.player(seat).facing })
        }
        Phase::Turn(turn) if turn.seat == seat => {
            let actor = TurnActor::new(public, turn, CardSet::EMPTY);
            let tried = [Action::Retreat, Action::PayRisk, Action::End];
            let legal = tried.into_iter().find(|action| actor.check(action).is_ok());
            Some(legal.unwrap_or(Action::Fold))
        }
        Phase::Challenge(Challenge { target, asked, .. }) if asked == seat => {
            Some(if target == Some(seat) { Action::Stand } else { Action::Fold })
        }
        variants!(Phase: Deal, Stop, Turn, Roll, Shuffle, Challenge, Showdown, Over) => None,
    }
}

/// Checks an answer to a challenge (rules 6.2 and 7.1).
fn check_answer(
    public: &PublicState,
    challenge: &Challenge,
    seat: Seat,
    hand: CardSet,
    action: &Action,
) -> Result<(), Illegal> {
    require(challenge.asked == seat, Illegal::NotAsked)?;
    debug_assert!(!public.player(seat).folded, "a folded seat is not to act");
    match (challenge.target, action) {
        (Some(target), Action::Evade { discards }) if target == seat => {
            check_discards(hand, discards)
        }
        (Some(target), Action::Stand) if target == seat => Ok(()),
        (Some(target), _) if target == seat => Err(Illegal::StandOrEvade),
        (Some(_), Action::Join | Action::Fold) | (None, Action::Fold) => Ok(()),
        (Some(_), _) => Err(Illegal::JoinOrFold),
        (None, Action::Confront { target }) => require(target.is_none(), Illegal::TargetGiven),
        (None, _) => Err(Illegal::ConfrontOrFold),
    }
}

/// A seat in its turn, after the stop.
struct TurnActor<'a> {
    public: &'a PublicState,
    turn: TurnState,
    player: &'a PlayerState,
    hand: CardSet,
    /// The chips that it may spend: those of its wager, if it has converted its reserves.
    chips: u32,
}

impl<'a> TurnActor<'a> {
    fn new(public: &'a PublicState, turn: TurnState, hand: CardSet) -> Self {
        let player = public.player(turn.seat);
        let chips = u32::from(turn.wager.unwrap_or(player.chips));
        Self { public, turn, player, hand, chips }
    }

    fn check(&self, action: &Action) -> Result<(), Illegal> {
        self.check_reserves(action)?;
        match action {
            Action::Stop { .. } => Err(Illegal::AlreadyStopped),
            Action::Stand | Action::Join => Err(Illegal::NothingToAnswer),
            Action::Retreat => {
                self.check_open()?;
                self.check_retreat()
            }
            Action::Evade { discards } => {
                self.check_open()?;
                self.check_evade()?;
                check_discards(self.hand, discards)
            }
            Action::Fold => self.check_open(),
            Action::ConvertReserves => Ok(()),
            Action::Confront { target } => self.check_confront(*target),
            Action::Acquire => self.check_round(),
            Action::PayRisk => {
                require(self.turn.step == Step::Open && self.risk() > 0, Illegal::NoRisk)?;
                self.check_chips(self.risk())
            }
            Action::Lower(new) => self.check_change(CostsChange::Lower, new),
            Action::Buy { slot, leverage } => {
                self.check_trade(self.turn.bought)?;
                require(!self.is_up(self.turn.floor, *slot)?, Illegal::AlreadyUp)?;
                self.check_price(u32::from(self.public.costs.buy), *leverage)
            }
            Action::Sell { slot, leverage } => {
                self.check_trade(self.turn.sold)?;
                require(self.is_up(self.turn.floor, *slot)?, Illegal::NotUp)?;
                self.check_price(u32::from(self.public.costs.sell), *leverage)
            }
            Action::Exchange { slot, floor, other, leverage } => {
                self.check_trade(self.turn.exchanged)?;
                self.check_exchange(*slot, *floor, *other)?;
                require(floor.is_some() || !*leverage, Illegal::LeverageFree)?;
                let price = exchange_price(self.public, self.turn.floor, *floor);
                self.check_price(price, *leverage)
            }
            Action::Raise(new) => self.check_change(CostsChange::Raise, new),
            Action::IndexMargin { percent } => self.check_index(*percent),
            Action::Roll => self.check_roll(),
            Action::End => self.check_begun(),
            Action::PayToEvade { discards } => {
                self.check_begun()?;
                self.check_pay_to_evade()?;
                require(!discards.is_empty(), Illegal::NothingDiscarded)?;
                check_discards(self.hand, discards)?;
                self.check_chips(self.risk())
            }
        }
    }

    fn for_each(&self, each: &mut impl FnMut(Action)) {
        if self.must_answer_reserves() {
            [Action::ConvertReserves, Action::Fold].into_iter().for_each(each);
            return;
        }
        let has_converted = self.turn.wager.is_some();
        if self.turn.step == Step::Open {
            each(Action::Fold);
            if self.check_retreat().is_ok() {
                each(Action::Retreat);
            }
            if self.check_evade().is_ok() {
                for_each_discards(self.hand, true, |discards| each(Action::Evade { discards }));
            }
            if self.risk() > 0 && self.risk() <= self.chips {
                each(Action::PayRisk);
            }
        }
        if !has_converted {
            each(Action::ConvertReserves);
            self.for_each_challenge(each);
        }
        if self.check_begun().is_ok() {
            each(Action::End);
            self.for_each_change(each);
            if self.turn.step <= Step::Traded {
                self.for_each_trade(each);
            }
            if self.check_roll().is_ok() {
                each(Action::Roll);
            }
            let affords = self.risk() <= self.chips;
            if !has_converted && affords && self.check_pay_to_evade().is_ok() {
                for_each_discards(self.hand, false, |discards| {
                    each(Action::PayToEvade { discards });
                });
            }
        }
    }

    fn for_each_challenge(&self, each: &mut impl FnMut(Action)) {
        if self.check_round().is_err() {
            return;
        }
        each(Action::Acquire);
        for target in self.turn.seat.others(self.public.seats()) {
            let target = Some(target);
            if self.check_confront(target).is_ok() {
                each(Action::Confront { target });
            }
        }
    }

    fn for_each_change(&self, each: &mut impl FnMut(Action)) {
        let mut list = |how, action: fn(NewCosts) -> Action| {
            for_each_change(self.public, how, |_, new| {
                if self.check_change(how, &new).is_ok() {
                    each(action(new));
                }
            });
        };
        if self.turn.step <= Step::Begun {
            list(CostsChange::Lower, Action::Lower);
        }
        if self.turn.step <= Step::Traded {
            list(CostsChange::Raise, Action::Raise);
            let percents = PERCENTS.into_iter().filter(|_| self.public.rules.index_margin);
            for percent in percents.filter(|percent| self.check_index(*percent).is_ok()) {
                each(Action::IndexMargin { percent });
            }
        }
    }

    fn for_each_trade(&self, each: &mut impl FnMut(Action)) {
        let TurnState { bought, sold, exchanged, .. } = self.turn;
        let facing = &self.public.floors[usize::from(self.turn.floor)];
        let costs = &self.public.costs;
        let [buy, sell] = [costs.buy, costs.sell].map(|cost| self.affordable(cost.into()));
        for (slot, card) in (0..).zip(facing) {
            let (affordable, is_done) = if card.is_some() { (sell, sold) } else { (buy, bought) };
            for leverage in affordable.into_iter().flatten().filter(|_| !is_done) {
                each(if card.is_some() {
                    Action::Sell { slot, leverage }
                } else {
                    Action::Buy { slot, leverage }
                });
            }
        }
        let down = (0..).zip(facing).filter(|(_, card)| card.is_none()).map(|(slot, _)| slot);
        for slot in down.filter(|_| !exchanged) {
            self.for_each_exchange(slot, each);
        }
    }

    /// Lists the exchanges of a face-down card of the facing floor.
    fn for_each_exchange(&self, slot: u8, each: &mut impl FnMut(Action)) {
        for other in (0..SLOTS).filter(|_| self.public.rules.free_exchange) {
            each(Action::Exchange { slot, floor: None, other, leverage: false });
        }
        for (number, cards) in (0..).zip(&self.public.floors) {
            if number == self.turn.floor {
                continue;
            }
            let floor = Some(number);
            let affordable = self.affordable(exchange_price(self.public, self.turn.floor, floor));
            if affordable == [None, None] {
                continue;
            }
            for (other, _) in (0..).zip(cards).filter(|(_, card)| card.is_none()) {
                for leverage in affordable.into_iter().flatten() {
                    each(Action::Exchange { slot, floor, other, leverage });
                }
            }
        }
    }

    /// Returns, without and with leverage, whether the price may be paid in that way.
    fn affordable(&self, price: u32) -> [Option<bool>; 2] {
        [false, true]
            .map(|leverage| Some(leverage).filter(|_| self.check_price(price, leverage).is_ok()))
    }

    /// Returns whether the seat has to answer converted reserves of others (rule 5.2).
    fn must_answer_reserves(&self) -> bool {
        self.public.reserves.is_some() && self.turn.wager.is_none()
    }

    fn risk(&self) -> u32 {
        u32::from(self.public.risk())
    }

    /// Checks the action against converted reserves (rules 5.1 and 5.2); without them every action
    /// passes.
    fn check_reserves(&self, action: &Action) -> Result<(), Illegal> {
        match action {
            Action::Stop { .. } | Action::Stand | Action::Join => Ok(()),
            Action::ConvertReserves | Action::Fold => {
                require(self.turn.wager.is_none(), Illegal::OnlyEndLeft)
            }
            variants!(Action: Retreat, Evade, Confront, Acquire, PayRisk, PayToEvade) => {
                require(!self.must_answer_reserves(), Illegal::ReservesFirst)?;
                require(self.turn.wager.is_none(), Illegal::OnlyEndLeft)
            }
            variants!(Action: Lower, Buy, Sell, Exchange, Raise, IndexMargin, Roll,
                End) => require(!self.must_answer_reserves(), Illegal::ReservesFirst),
        }
    }

    /// Checks that nothing was paid or done yet in the turn (rule 3.3).
    fn check_open(&self) -> Result<(), Illegal> {
        require(self.turn.step == Step::Open, Illegal::TurnBegun)
    }

    /// Checks that the risk is paid, or that there is none (rule 3.3).
    fn check_begun(&self) -> Result<(), Illegal> {
        require(self.turn.step > Step::Open || self.risk() == 0, Illegal::RiskUnpaid)
    }

    fn check_retreat(&self) -> Result<(), Illegal> {
        let is_barred = self.player.previous.retreated || self.player.has_evaded();
        require(!is_barred, Illegal::RetreatBarred)
    }

    fn check_evade(&self) -> Result<(), Illegal> {
        require(self.player.evade_token, Illegal::NoEvadeToken)?;
        require(self.player.may_evade_by_token(), Illegal::EvasionBarred)
    }

    fn check_pay_to_evade(&self) -> Result<(), Illegal> {
        require(self.player.evade_token, Illegal::NoEvadeToken)?;
        let is_barred = self.player.previous.retreated || self.player.has_evaded();
        require(!is_barred, Illegal::EvasionBarred)
    }

    /// Checks that challenges are allowed in this round (rule 8.4).
    fn check_round(&self) -> Result<(), Illegal> {
        require(self.public.round >= self.public.rules.challenge_round, Illegal::TooEarly)
    }

    /// Checks a confrontation (rule 6.1).
    fn check_confront(&self, target: Option<Seat>) -> Result<(), Illegal> {
        self.check_round()?;
        let target = target.ok_or(Illegal::TargetMissing)?;
        let is_in = self.public.seats_still_in().contains(target) && target != self.turn.seat;
        require(is_in, Illegal::NoSuchTarget)?;
        let previous = &self.player.previous;
        let is_barred = previous.retreated || previous.evaded || previous.confronted;
        require(!is_barred, Illegal::ConfrontationBarred)?;
        require(!self.public.player(target).previous.evaded, Illegal::TargetEvaded)
    }

    /// Checks that the costs are lowered before trading, or raised after it.
    fn check_change(&self, how: CostsChange, new: &NewCosts) -> Result<(), Illegal> {
        let (last, done) = match how {
            CostsChange::Lower => (Step::Begun, Step::Lowered),
            CostsChange::Raise | CostsChange::Index => (Step::Traded, Step::Raised),
        };
        self.check_begun()?;
        self.check_step(last, self.turn.step == done)?;
        let (_, chips) = change_costs(self.public, how, new)?;
        self.check_chips(chips)
    }

    fn check_index(&self, percent: i8) -> Result<(), Illegal> {
        require(self.public.rules.index_margin, Illegal::IndexOff)?;
        self.check_begun()?;
        require(!self.turn.indexed, Illegal::OnceATurn)?;
        self.check_step(Step::Traded, false)?;
        let (_, chips) = index_costs(self.public, percent)?;
        self.check_chips(chips)
    }

    fn check_trade(&self, is_done: bool) -> Result<(), Illegal> {
        self.check_begun()?;
        self.check_step(Step::Traded, is_done)
    }

    fn check_roll(&self) -> Result<(), Illegal> {
        self.check_begun()?;
        require(self.turn.step < Step::Rolled, Illegal::OnceATurn)?;
        require(has_die_facing(&self.public.dice, self.turn.floor), Illegal::NoDieHere)
    }

    /// Checks that the steps of a turn are played in order and once each (rule 3.4).
    fn check_step(&self, last: Step, is_done: bool) -> Result<(), Illegal> {
        require(!is_done, Illegal::OnceATurn)?;
        require(self.turn.step <= last, Illegal::OutOfOrder)
    }

    fn is_up(&self, floor: u8, slot: u8) -> Result<bool, Illegal> {
        let cards = self.public.floors.get(usize::from(floor)).ok_or(Illegal::NoSuchFloor)?;
        let card = cards.get(usize::from(slot)).ok_or(Illegal::NoSuchSlot)?;
        Ok(card.is_some())
    }

    fn check_exchange(&self, slot: u8, floor: Option<u8>, other: u8) -> Result<(), Illegal> {
        let is_up = self.is_up(self.turn.floor, slot)?;
        let is_other_up = match floor {
            Some(floor) => self.is_up(floor, other)?,
            None => {
                require(other < SLOTS, Illegal::NoSuchSlot)?;
                require(self.public.rules.free_exchange, Illegal::NoFreeExchange)?;
                false
            }
        };
        require(floor != Some(self.turn.floor), Illegal::SameFloor)?;
        require(!is_up && !is_other_up, Illegal::ExchangeUp)
    }

    fn check_price(&self, whole: u32, leverage: bool) -> Result<(), Illegal> {
        require(!leverage || !self.player.leveraged, Illegal::LeverageUsed)?;
        self.check_chips(discounted_price(self.public, whole, leverage))
    }

    fn check_chips(&self, chips: u32) -> Result<(), Illegal> {
        require(chips <= self.chips, Illegal::TooFewChips)
    }
}

/// Checks that the discarded cards are cards of the hand, each once (rule 3.2).
fn check_discards(hand: CardSet, discards: &Discards) -> Result<(), Illegal> {
    let mut left = hand;
    for card in discards.iter() {
        require(left.contains(*card), Illegal::DiscardNotInHand)?;
        left = left.without(*card);
    }
    Ok(())
}

/// Calls `each` with every set of cards of the hand, in the order of the cards; the empty set only
/// if `may_be_none`.
fn for_each_discards(hand: CardSet, may_be_none: bool, mut each: impl FnMut(Discards)) {
    let cards: Discards = hand.iter().collect();
    let sets = 1_u8 << cards.len();
    for set in u8::from(!may_be_none)..sets {
        let chosen = (0..).zip(cards.iter()).filter(|(place, _)| set >> place & 1 == 1);
        each(chosen.map(|(_, card)| *card).collect());
    }
}
