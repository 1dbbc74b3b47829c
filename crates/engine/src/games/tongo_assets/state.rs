//! A game of Tongo (assets) as a value: the public state and the position of every card.
//!
//! Every change is an [`Event`], which is applied to the game by the same code as to a view. The
//! value consists of plain arrays, so copying it preserves the state before an action.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::games::tongo_assets::action::Action;
use crate::games::tongo_assets::card::{Acquire, Card, CardSet};
use crate::games::tongo_assets::event::{AcquireDestination, Event, Face};
use crate::games::tongo_assets::hidden::Hidden;
use crate::games::tongo_assets::legal::{Actor, indexed_risk, leveraged_payment};
use crate::games::tongo_assets::payout;
use crate::games::tongo_assets::phase::{GameEnding, Phase, ShownHand};
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::rules::{HALVES, PriceBounds};
use crate::games::tongo_assets::slots::SlotSet;
use crate::games::tongo_assets::strength::HandRank;
use crate::seat::Seat;

/// A game of Tongo (assets), from before the deal to its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TongoAssets {
    pub(super) public: PublicState,
    pub(super) hidden: Hidden,
}

impl TongoAssets {
    /// Returns the game in which the cards are in these positions. The caller makes them consistent
    /// with the public state, as an AI does that imagines the hidden cards.
    pub const fn imagine(public: PublicState, hidden: Hidden) -> Self {
        Self { public, hidden }
    }

    /// Returns the public state.
    pub const fn public(&self) -> &PublicState {
        &self.public
    }

    /// Returns the positions of all cards.
    pub const fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    pub(super) fn actor(&self, seat: Seat) -> Actor<'_> {
        let hand = self.hidden.hands[seat];
        let kept = self.hidden.kept[seat];
        Actor { public: &self.public, seat, hand, kept }
    }

    /// Applies an event and appends it to `events`.
    pub(super) fn apply_event(&mut self, event: Event, events: &mut Vec<Event>) {
        self.hidden.apply(&self.public, &event);
        self.public.apply(&event);
        events.push(event);
    }

    /// Plays a legal action and everything that follows without a decision.
    pub(super) fn play_action(&mut self, seat: Seat, action: &Action, events: &mut Vec<Event>) {
        let event = match *action {
            Action::Open { risk, purchase, sell } => Event::Opened { seat, risk, purchase, sell },
            Action::Pay => {
                let chips = self.actor(seat).amount_due().expect("a legal payment is due");
                Event::Paid { seat, chips }
            }
            Action::Raise { risk, purchase, sell } => {
                let chips = risk - self.public.players[seat].paid;
                Event::Raised { seat, chips, risk, purchase, sell }
            }
            Action::RaiseConfront { risk } => {
                let (purchase, sell) = self.prices_for_risk(risk);
                Event::Raised { seat, chips: risk, risk, purchase, sell }
            }
            Action::Retreat => Event::Retreated { seat },
            Action::Swap { discard, slot } => {
                let taken = self.asset_in_slot(seat, slot);
                Event::Swapped { seat, slot, taken, discarded: Face::Up(discard) }
            }
            Action::Purchase { slot, discard, free } => {
                let chips = self.purchase_cost(seat, free, events);
                let taken = self.asset_in_slot(seat, slot);
                Event::Purchased { seat, slot, taken, discarded: discard.map(Face::Up), chips }
            }
            Action::Acquire { replace, free } => self.acquire(seat, replace, free, events),
            Action::Sell { slots } => {
                let hand = Some(self.assets_in_slots(seat, slots));
                Event::Sold { seat, slots, chips: self.public.sell, hand }
            }
            Action::Reveal { section } => {
                let assets = Some(self.hidden.sections[section].assets);
                Event::Revealed { seat, section, assets }
            }
            Action::Dividend => {
                Event::DividendTaken { seat, chips: self.public.purchase.min(self.public.pot) }
            }
            Action::Done => Event::Done { seat },
            Action::Confront => Event::Confronted { seat, chips: self.public.risk },
            Action::Evade { discards } => {
                let mut cards = discards.iter().map(Face::Up);
                let discarded =
                    core::array::from_fn(|_| cards.next().expect("an evasion names three cards"));
                Event::Evaded { seat, chips: self.public.evasion_cost(), discarded }
            }
            Action::Index { margin } => {
                let risk = indexed_risk(self.public.risk, margin);
                let (purchase, sell) = self.prices_for_risk(risk);
                let chips = self.public.unindexed.unwrap_or(self.public.risk);
                Event::Indexed { seat, margin, chips, risk, purchase, sell }
            }
            Action::Leverage { percent } => {
                let chips = leveraged_payment(self.public.risk, percent);
                Event::Leveraged { seat, percent, chips }
            }
            Action::Bribe { to, chips, cards } => Event::BribeOffered { seat, to, chips, cards },
            Action::Accept => Event::BribeAnswered { seat, accepted: true },
            Action::Refuse => Event::BribeAnswered { seat, accepted: false },
        };
        self.apply_event(event, events);
        self.advance(events);
    }

    /// Performs the steps without a decision: shows the next section, retreats leveraged seats
    /// after a failed confront, shows the hands, and ends the game.
    pub(super) fn advance(&mut self, events: &mut Vec<Event>) {
        loop {
            match self.public.phase {
                Phase::Assess { seat, began: false, .. } => {
                    let assets = Some(self.hidden.section_assets(&self.public, seat));
                    self.apply_event(Event::Assessing { seat, assets }, events);
                }
                Phase::Debts { seat, .. } if self.public.players[seat].leverage > 0 => {
                    self.apply_event(Event::Retreated { seat }, events);
                }
                Phase::Showdown { confronter } => self.show_hands(confronter, events),
                Phase::LastIn { seat } => {
                    let awards = payout::whole_pot(&self.public, seat);
                    let ending = GameEnding::LastIn;
                    self.apply_event(Event::Over { ending, winner: seat, awards }, events);
                }
                variants!(Phase: Dealer, Assets, Acquires, Deal, Open, Risk, Stop, Assess, Confront,
                    Debts, Over) => return,
            }
        }
    }

    /// Shows the hands and ends the game (rules 4.3, 5 and 6.2).
    fn show_hands(&mut self, confronter: Seat, events: &mut Vec<Event>) {
        let seats = self.public.seats();
        let mut hands = Ring::new(seats);
        for seat in self.public.playing.iter() {
            let hand = self.hidden.hands[seat];
            hands[seat] = Some(ShownHand { hand, reading: HandRank::from_hand(hand) });
        }
        let winner = payout::strongest_seat(confronter, seats, &hands);
        let awards = payout::showdown_awards(&self.public, confronter, winner);
        let ending =
            if winner == confronter { GameEnding::Acquisition } else { GameEnding::Showdown };
        self.apply_event(Event::Shown { hands: Box::new(hands) }, events);
        self.apply_event(Event::Over { ending, winner, awards }, events);
    }

    /// Purchases an acquire card (rule 3.3): a wild goes into the hand, an audit takes effect at
    /// once, and the others are kept. Returns the last event.
    fn acquire(
        &mut self,
        seat: Seat,
        replace: Option<Card>,
        free: bool,
        events: &mut Vec<Event>,
    ) -> Event {
        let chips = self.purchase_cost(seat, free, events);
        let section = &self.hidden.sections[self.public.section_of(seat)];
        let card = section.acquires.iter().flatten().next().copied();
        let card = card.expect("a legal purchase finds an acquire card");
        let (to, discarded) = match card.kind() {
            Some(Acquire::Wild) => (AcquireDestination::Hand, replace.map(Face::Up)),
            Some(Acquire::Audit) => (AcquireDestination::Pile, None),
            Some(Acquire::Free | Acquire::Reveal | Acquire::Dividend) | None => {
                (AcquireDestination::Kept, None)
            }
        };
        let acquired = Event::Acquired { seat, taken: Face::Up(card), to, discarded, chips };
        if to != AcquireDestination::Pile {
            return acquired;
        }
        self.apply_event(acquired, events);
        let chips = self.public.risk;
        let can_pay = self.public.players[seat].chips >= chips;
        if can_pay { Event::Audited { seat, chips } } else { Event::Retreated { seat } }
    }

    /// Returns the cost of a purchase, after spending a free purchase if one is used (rule 1.3).
    fn purchase_cost(&mut self, seat: Seat, free: bool, events: &mut Vec<Event>) -> u32 {
        if free {
            self.apply_event(Event::FreeSpent { seat }, events);
            return 0;
        }
        self.public.purchase
    }

    fn asset_in_slot(&self, seat: Seat, slot: u8) -> Face {
        let assets = self.hidden.section_assets(&self.public, seat);
        let asset = assets.get(usize::from(slot)).copied().flatten();
        Face::Up(asset.expect("a legal slot holds an asset"))
    }

    fn assets_in_slots(&self, seat: Seat, slots: SlotSet) -> CardSet {
        let assets = self.hidden.section_assets(&self.public, seat);
        slots.iter().filter_map(|slot| assets[usize::from(slot)]).collect()
    }

    /// Returns the prices in proportion to a new risk (rule 4.1).
    fn prices_for_risk(&self, risk: u32) -> (u32, u32) {
        let bounds = PriceBounds::for_risk(risk);
        let PublicState { risk: before, purchase, sell, .. } = self.public;
        (
            bounds.scale_price(purchase, before, risk, bounds.purchase_min),
            bounds.scale_price(sell, before, risk, 1),
        )
    }

    /// Returns the chips of a seat and its share of the pot, in half chips.
    pub fn half_chips(&self, seat: Seat) -> u32 {
        let award = self.public.end.map_or(0, |end| end.awards[seat]);
        self.public.players[seat].chips * HALVES + award
    }
}
