//! Sampling of games that are consistent with a view: the cards that the seat does not see are
//! placed in the order of two shuffled decks. Cards that it saw earlier and that are now face down
//! are not remembered.

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

/// Samples a game; `None` for a spectator, or if no seat is prompted.
pub(super) fn sample_game(view: &View, dice: &mut ChanceRng) -> Option<TongoOptions> {
    view.game_from_decks(&shuffled_deck(dice), &shuffled_deck(dice))
}

impl View {
    /// Returns the game in which the cards that the viewer does not see are placed in the order of
    /// these decks, and the others' hands are dealt from the top by seat. Returns `None` for a
    /// spectator, or if no seat is prompted.
    ///
    /// # Panics
    /// If a deck lacks a card.
    pub fn game_from_decks(
        &self,
        player_deck: &[Card],
        options_deck: &[Card],
    ) -> Option<TongoOptions> {
        let viewer = self.viewer?;
        let hand = self.hand()?;
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

/// Appends the candidate actions of a search: the chosen action first, without actions that only
/// move unknown cards, that repeat another with an equivalent face-down card, or that pay by
/// leverage.
pub(super) fn candidate_actions(view: &View, chosen: Option<Action>, actions: &mut Vec<Action>) {
    let (Some(seat), Some(hand)) = (view.viewer, view.hand()) else { return };
    actions.extend(chosen);
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
        if is_worth && Some(action) != chosen {
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
