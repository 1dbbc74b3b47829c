//! What chance decides: the deal, and where dice fall (rules 2.1, 3.4). Chance is asked one thing
//! at a time, in the order of rule 2.1; what it has said so far waits in a [`Drawing`], which is
//! shown to nobody, until all of it is told at once.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::chance::{ChanceAnswer, Request};
use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::dice::{Dice, Die};
use crate::games::tongo_options::event::Event;
use crate::games::tongo_options::hidden::{Hidden, OptionsLayout};
use crate::games::tongo_options::list::BySeat;
use crate::games::tongo_options::phase::Phase;
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::rules::{FLOORS, HAND_CARDS, PLACES, SLOTS};
use crate::seat::Seat;

/// What chance has decided of a deal or a roll that is not complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Drawing {
    dealer: Option<Seat>,
    /// The options cards are laid; the player deck comes before them.
    is_laid: bool,
    /// A die's value, before its place.
    value: Option<u8>,
    dice: Dice,
}

/// A deal that is complete.
pub(super) struct CompleteDeal {
    dealer: Seat,
    pub hands: BySeat<CardSet>,
    pub hidden: Hidden,
    dice: Dice,
}

impl Drawing {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What a deal asks for next.
    pub(super) fn next_deal_request(&self, public: &PublicState) -> Request {
        if public.dealer.or(self.dealer).is_none() {
            Request::Number(public.seats().into())
        } else if !self.is_laid {
            // Both decks have as many cards; which is meant follows from what was drawn.
            Request::Order(Card::COUNT)
        } else {
            self.next_die_request(public)
        }
    }

    /// What a roll asks for next, or a deal when the cards are shuffled.
    pub(super) fn next_die_request(&self, public: &PublicState) -> Request {
        match (self.value, public.rules.dice().get(self.dice.len())) {
            (None, Some((_, sides))) => Request::Number((*sides).into()),
            (Some(_), _) | (None, None) => Request::Number(PLACES.into()),
        }
    }

    /// Notes what chance decided; cards go where they will lie.
    pub(super) fn record_answer(&mut self, public: &PublicState, hidden: &mut Hidden, answer: &ChanceAnswer) {
        match answer {
            ChanceAnswer::Order(order) => {
                let mut cards = order.iter().filter_map(|index| Card::from_index(*index));
                if hidden.deck.is_empty() {
                    hidden.deck = cards.collect();
                } else {
                    lay_cards(&mut hidden.floors, &mut cards);
                    lay_cards(&mut hidden.exchanges, &mut cards);
                    self.is_laid = true;
                }
            }
            ChanceAnswer::Number(number) => {
                let number = u8::try_from(*number).expect("all these numbers are small");
                if public.phase == Phase::Deal && !self.is_laid {
                    self.dealer = Seat::new(number);
                } else if let Some(value) = self.value.take() {
                    self.dice.push(Die { value, place: number });
                } else {
                    let (lowest, _) = public.rules.dice()[self.dice.len()];
                    self.value = Some(lowest + number);
                }
            }
        }
    }

    /// All dice, once the last has fallen.
    pub(super) fn all_dice(&self, public: &PublicState) -> Option<Dice> {
        (self.dice.len() == public.rules.dice().len()).then_some(self.dice)
    }
}

/// Rule 2.1: the hands from the top of the player deck, once the last die has fallen.
pub(super) fn complete_deal(public: &PublicState, drawing: &Drawing, hidden: &Hidden) -> Option<CompleteDeal> {
    let dice = drawing.all_dice(public)?;
    let dealer = public.dealer.or(drawing.dealer)?;
    let (seats, mut hidden) = (public.seats(), *hidden);
    let mut hands: BySeat<CardSet> = Seat::all(seats).map(|_| CardSet::EMPTY).collect();
    let mut seat = dealer;
    let count = usize::from(seats * HAND_CARDS);
    for card in hidden.deck.iter().take(count) {
        seat = seat.next(seats);
        hands[seat.index()] = hands[seat.index()].with(*card);
    }
    hidden.deck.drop_first(count);
    Some(CompleteDeal { dealer, hands, hidden, dice })
}

impl CompleteDeal {
    pub(super) fn to_event(&self) -> Event {
        let top = usize::from(SLOTS) - 1;
        Event::Dealt {
            dealer: self.dealer,
            hands: self.hands.iter().map(|hand| Some(*hand)).collect(),
            up: self.hidden.floors.map(|floor| floor[top]),
            dice: self.dice,
            hidden: Some(Box::new(self.hidden)),
        }
    }
}

/// Floor by floor, and each from slot 0.
fn lay_cards(laid: &mut OptionsLayout, cards: &mut impl Iterator<Item = Card>) {
    debug_assert_eq!(laid.len(), usize::from(FLOORS), "every floor has its slots");
    for slot in laid.iter_mut().flatten() {
        *slot = cards.next().expect("the options deck has a card for every slot");
    }
}
