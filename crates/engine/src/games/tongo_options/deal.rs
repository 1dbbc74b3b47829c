//! The requests to chance: the deal, and the dice (rules 2.1 and 3.4). One answer is requested at a
//! time, in the order of rule 2.1. A [`Drawing`], which no viewer sees, holds the answers until
//! they are complete.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::chance::{ChanceAnswer, Request};
use crate::games::list::BySeat;
use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::dice::{Dice, Die};
use crate::games::tongo_options::event::Event;
use crate::games::tongo_options::hidden::{Hidden, OptionsLayout};
use crate::games::tongo_options::phase::Phase;
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::rules::{FLOORS, HAND_CARDS, PLACES, SLOTS};
use crate::seat::Seat;

/// The answers of chance for an incomplete deal or roll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Drawing {
    dealer: Option<Seat>,
    /// True if the options cards are laid; the player deck comes before them.
    is_laid: bool,
    /// The value of a die whose place is still to be drawn.
    value: Option<u8>,
    dice: Dice,
}

impl Drawing {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the next request of a deal.
    pub(super) fn next_deal_request(&self, public: &PublicState) -> Request {
        if public.dealer.or(self.dealer).is_none() {
            Request::Number(public.seats().into())
        } else if !self.is_laid {
            // Both decks have the same number of cards; the deck that is meant follows from the
            // previous answers.
            Request::Order(Card::COUNT)
        } else {
            self.next_die_request(public)
        }
    }

    /// Returns the next request of a roll, or of a deal whose cards are shuffled.
    pub(super) fn next_die_request(&self, public: &PublicState) -> Request {
        match (self.value, public.rules.dice().get(self.dice.len())) {
            (None, Some((_, sides))) => Request::Number((*sides).into()),
            (Some(_), _) | (None, None) => Request::Number(PLACES.into()),
        }
    }

    /// Records an answer of chance; cards go to their positions.
    pub(super) fn record_answer(
        &mut self,
        public: &PublicState,
        hidden: &mut Hidden,
        answer: &ChanceAnswer,
    ) {
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

    /// Returns all dice once the last has fallen.
    pub(super) fn all_dice(&self, public: &PublicState) -> Option<Dice> {
        (self.dice.len() == public.rules.dice().len()).then_some(self.dice)
    }

    /// Returns the event of the deal once the last die has fallen, with the hands from the top of
    /// the player deck (rule 2.1).
    pub(super) fn complete_deal(&self, public: &PublicState, hidden: &Hidden) -> Option<Event> {
        let dice = self.all_dice(public)?;
        let dealer = public.dealer.or(self.dealer)?;
        let seats = public.seats();
        let mut hidden = Box::new(*hidden);
        let mut hands: BySeat<CardSet> = Seat::all(seats).map(|_| CardSet::EMPTY).collect();
        let mut seat = dealer;
        let count = usize::from(seats * HAND_CARDS);
        for card in hidden.deck.iter().take(count) {
            seat = seat.next(seats);
            hands[seat.index()] = hands[seat.index()].with(*card);
        }
        hidden.deck.drop_first(count);
        let hands = hands.iter().copied().map(Some).collect();
        let up = hidden.floors.map(|floor| floor[usize::from(SLOTS) - 1]);
        Some(Event::Dealt { dealer, hands, up, dice, hidden: Some(hidden) })
    }
}

/// Lays the cards floor by floor, each from slot 0.
fn lay_cards(laid: &mut OptionsLayout, cards: &mut impl Iterator<Item = Card>) {
    debug_assert_eq!(laid.len(), usize::from(FLOORS), "every floor has its slots");
    for slot in laid.iter_mut().flatten() {
        *slot = cards.next().expect("the options deck has a card for every slot");
    }
}
