//! Games that are consistent with the view of a seat, for an AI that imagines the hidden cards.

use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::deal::Drawing;
use crate::games::tongo_options::hidden::Hidden;
use crate::games::tongo_options::rules::HAND_CARDS;
use crate::games::tongo_options::state::TongoOptions;
use crate::games::tongo_options::view::View;
use crate::seat::Seat;

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
