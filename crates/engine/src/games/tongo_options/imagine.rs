//! A game that a seat could be playing, as far as its view tells: the cards that it does not see lie
//! as two shuffled decks have them. What it saw earlier and lies face down now is not remembered.

use alloc::vec::Vec;

use crate::chance::{ChanceAnswer, ChanceRng, Request};
use crate::games::tongo_options::action::Action;
use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::deal::Drawing;
use crate::games::tongo_options::hidden::Hidden;
use crate::games::tongo_options::legal;
use crate::games::tongo_options::rules::HAND_CARDS;
use crate::games::tongo_options::state::TongoOptions;
use crate::games::tongo_options::view::View;
use crate::seat::Seat;

/// `None` where nobody looks, or nobody is to act.
pub(super) fn sample_game(view: &View, dice: &mut ChanceRng) -> Option<TongoOptions> {
    view.game_from_decks(&shuffled_deck(dice), &shuffled_deck(dice))
}

impl View {
    /// The game in which the cards that the viewer does not see lie as these decks have them, and
    /// the others' hands are dealt from the first of them by seat. `None` where nobody looks, or
    /// nobody is to act.
    ///
    /// # Panics
    /// When a deck lacks a card.
    pub fn game_from_decks(&self, player_deck: &[Card], options_deck: &[Card]) -> Option<TongoOptions> {
        let (viewer, hand) = (self.viewer?, self.hand()?);
        self.public.prompt()?;
        let mut cards = player_deck.iter().copied().filter(|card| !hand.contains(*card));
        let hands = Seat::all(self.public.seats()).map(|seat| {
            let mut unseen = || cards.by_ref().take(usize::from(HAND_CARDS)).collect();
            if seat == viewer { hand } else { unseen() }
        });
        let hands = hands.collect();
        let up = self.public.face_up_cards().into_iter().fold(CardSet::EMPTY, CardSet::union);
        let mut down = options_deck.iter().copied().filter(|card| !up.contains(*card));
        let mut next = || down.next().expect("there are as many cards as places");
        let floors =
            self.public.floors.map(|floor| floor.map(|card| card.unwrap_or_else(&mut next)));
        let exchanges = core::array::from_fn(|_| core::array::from_fn(|_| next()));
        let hidden = Hidden { deck: cards.collect(), floors, exchanges };
        let drawing = Drawing::default();
        Some(TongoOptions { public: self.public.clone(), hands, hidden, drawing })
    }
}

/// What a search looks at: what is advised first, and nothing that only moves cards that nobody
/// knows, is another of cards that lie face down alike, or pays by leverage.
pub(super) fn candidate_actions(view: &View, advised: Option<Action>, actions: &mut Vec<Action>) {
    let (Some(seat), Some(hand)) = (view.viewer, view.hand()) else { return };
    actions.extend(advised);
    let mut has_buy = false;
    legal::for_each(&view.public, seat, hand, |action| {
        let is_worth = match action {
            Action::Exchange { .. } => false,
            Action::Buy { leverage, .. } => !leverage && !core::mem::replace(&mut has_buy, true),
            Action::Sell { leverage, .. } => !leverage,
            Action::Stop { .. }
            | Action::IndexMargin { .. }
            | Action::PayRisk
            | Action::Evade { .. }
            | Action::Retreat
            | Action::Fold
            | Action::Raise(_)
            | Action::Lower(_)
            | Action::Roll
            | Action::PayToEvade { .. }
            | Action::ConvertReserves
            | Action::Confront { .. }
            | Action::Acquire
            | Action::Stand
            | Action::Join
            | Action::End => true,
        };
        if is_worth && Some(action) != advised {
            actions.push(action);
        }
    });
}

fn shuffled_deck(dice: &mut ChanceRng) -> Vec<Card> {
    let ChanceAnswer::Order(order) = dice.draw(Request::Order(Card::COUNT)) else {
        unreachable!("an order was asked for")
    };
    order.into_iter().filter_map(Card::from_index).collect()
}
