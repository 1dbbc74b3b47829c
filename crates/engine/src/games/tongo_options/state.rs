//! A game of Tongo (options) as a value: the public state, the hands, the hidden state, and the
//! answers of chance for an incomplete deal or roll.
//!
//! Every change is an [`Event`], which is applied to the game by the same code as to a view. The
//! value consists of plain arrays, so copying it preserves the state before an action.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::games::list::BySeat;
use crate::games::tongo_options::action::{Action, Discards, Illegal};
use crate::games::tongo_options::card::CardSet;
use crate::games::tongo_options::costs::{
    answer_price, change_costs, discounted_price, exchange_price, index_costs,
};
use crate::games::tongo_options::deal::Drawing;
use crate::games::tongo_options::event::{ChallengeAnswer, Event};
use crate::games::tongo_options::hidden::Hidden;
use crate::games::tongo_options::phase::{Costs, CostsChange, Phase};
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::showdown;
use crate::seat::Seat;

/// A game of Tongo (options), from before the deal to its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TongoOptions {
    pub(super) public: PublicState,
    pub(super) hands: BySeat<CardSet>,
    pub(super) hidden: Hidden,
    /// The answers of chance for an incomplete deal or roll.
    #[serde(default, skip_serializing_if = "Drawing::is_empty")]
    pub(super) drawing: Drawing,
}

impl TongoOptions {
    /// Returns the public state.
    pub const fn public(&self) -> &PublicState {
        &self.public
    }

    /// Returns every hand by seat.
    pub const fn hands(&self) -> &BySeat<CardSet> {
        &self.hands
    }

    /// Returns the hidden state.
    pub const fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// Applies an event and appends it to `events`.
    pub(super) fn apply_event(&mut self, event: Event, events: &mut Vec<Event>) {
        event.apply_to(&mut self.hidden, self.public.facing_floor());
        self.public.apply(&event);
        for (seat, hand) in Seat::all(self.public.seats()).zip(self.hands.iter_mut()) {
            *hand = event.hand_after(seat, *hand);
        }
        events.push(event);
    }

    /// Plays a legal action and everything that follows without a decision.
    pub(super) fn play_action(&mut self, seat: Seat, action: &Action, events: &mut Vec<Event>) {
        let event = self.event_for_action(seat, action);
        self.apply_event(event, events);
        self.finish_if_due(events);
    }

    /// Returns the event of a legal action.
    fn event_for_action(&self, seat: Seat, action: &Action) -> Event {
        let costs = &self.public.costs;
        let costs_changed = |how, change: Result<(Costs, u32), Illegal>| {
            let (costs, paid) = change.expect("the change was checked");
            Event::CostsChanged { seat, how, costs, chips: to_chips(paid) }
        };
        match *action {
            Action::Stop { floor } => Event::Stopped { seat, floor },
            Action::Retreat => Event::Retreated { seat },
            Action::Evade { discards } => evade_event(seat, true, 0, discards),
            Action::ConvertReserves => {
                let most = self.public.reserves.map_or(u8::MAX, |reserves| reserves.wager);
                let wager = self.public.player(seat).chips.min(most);
                Event::ReservesConverted { seat, wager }
            }
            Action::Confront { target: Some(target) } => Event::Confronted { seat, target },
            Action::Confront { target: None } => self.answer_event(seat, ChallengeAnswer::Confront),
            Action::Acquire => Event::Acquired { seat, floor: self.public.player(seat).facing },
            Action::Fold => Event::Folded { seat },
            Action::PayRisk => Event::RiskPaid { seat, chips: self.risk_chips() },
            Action::Lower(new) => {
                let how = CostsChange::Lower;
                costs_changed(how, change_costs(&self.public, how, &new))
            }
            Action::Raise(new) => {
                let how = CostsChange::Raise;
                costs_changed(how, change_costs(&self.public, how, &new))
            }
            Action::IndexMargin { percent } => {
                costs_changed(CostsChange::Index, index_costs(&self.public, percent))
            }
            Action::Buy { slot, leverage } => {
                let card = self.hidden.card(self.public.player(seat).facing, slot);
                let chips = self.discounted_chips(costs.buy.into(), leverage);
                Event::Bought { seat, slot, card, chips, leverage }
            }
            Action::Sell { slot, leverage } => {
                let chips = self.discounted_chips(costs.sell.into(), leverage);
                Event::Sold { seat, slot, chips, leverage }
            }
            Action::Exchange { slot, floor, other, leverage } => {
                let facing = self.public.player(seat).facing;
                let chips =
                    self.discounted_chips(exchange_price(&self.public, facing, floor), leverage);
                Event::Exchanged { seat, slot, floor, other, chips, leverage }
            }
            Action::Roll => Event::Rolling { seat },
            Action::End => {
                let wager = self.public.turn().and_then(|turn| turn.wager);
                Event::Ended { seat, chips: wager.unwrap_or(0) }
            }
            Action::PayToEvade { discards } => {
                evade_event(seat, false, self.risk_chips(), discards)
            }
            Action::Stand => self.answer_event(seat, ChallengeAnswer::Stand),
            Action::Join => self.answer_event(seat, ChallengeAnswer::Join),
        }
    }

    fn answer_event(&self, seat: Seat, answer: ChallengeAnswer) -> Event {
        Event::Answered { seat, answer, chips: answer_price(&self.public, seat) }
    }

    /// Returns the risk in chips. If it has to be paid, it was checked to be affordable.
    fn risk_chips(&self) -> u8 {
        to_chips(self.public.risk().into())
    }

    fn discounted_chips(&self, whole: u32, leverage: bool) -> u8 {
        to_chips(discounted_price(&self.public, whole, leverage))
    }

    /// Ends the game if a showdown is due.
    fn finish_if_due(&mut self, events: &mut Vec<Event>) {
        if let Phase::Showdown(due) = self.public.phase {
            let hands = showdown::shown_hands(&self.public, &self.hands, &due);
            let winner = showdown::winner(&self.public, &hands, &due);
            if due.seats.len() > 1 {
                self.apply_event(Event::Shown { hands }, events);
            }
            let ending = due.ending;
            let pot = self.public.pot;
            self.apply_event(Event::Over { ending, winner, pot }, events);
        }
    }

    /// Draws cards: shuffles the deck in this order, and takes as many cards from its top as were
    /// discarded (rule 3.2).
    pub(super) fn draw_cards(
        &mut self,
        seat: Seat,
        count: u8,
        order: &[u8],
        events: &mut Vec<Event>,
    ) {
        let old = self.hidden.deck;
        let card = |place: &u8| old[usize::from(*place)];
        let cards: CardSet = order.iter().take(usize::from(count)).map(card).collect();
        let deck = order.iter().skip(usize::from(count)).map(card).collect();
        self.apply_event(
            Event::Drew { seat, cards: Some(cards), deck: Some(Box::new(deck)) },
            events,
        );
        self.finish_if_due(events);
    }
}

fn evade_event(seat: Seat, token: bool, chips: u8, discards: Discards) -> Event {
    let count = u8::try_from(discards.len()).expect("a hand has four cards");
    Event::Evaded { seat, token, chips, count, discards: Some(discards) }
}

fn to_chips(count: u32) -> u8 {
    u8::try_from(count).expect("no seat pays more chips than it has")
}
