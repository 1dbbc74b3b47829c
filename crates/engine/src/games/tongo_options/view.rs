//! The view of one viewer: the public state and the viewer's own hand.
//!
//! A view is updated by redacted events ([`View::observe`]) and then equals a new view of the game.
//! The view of the record holds everything. An AI imagines games that are consistent with its view
//! ([`View::game_from_decks`]).

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::games::list::BySeat;
use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::deal::Drawing;
use crate::games::tongo_options::event::Event;
use crate::games::tongo_options::hidden::Hidden;
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::rules::HAND_CARDS;
use crate::games::tongo_options::state::TongoOptions;
use crate::seat::Seat;

/// The part of a game that one viewer knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoOptionsView"))]
pub struct View {
    /// The viewer's seat; `None` for the public and the record.
    pub viewer: Option<Seat>,
    pub public: PublicState,
    /// The hands that the viewer may see, by seat. `public` has the hands of a showdown.
    pub hands: BySeat<Option<CardSet>>,
    /// The hidden state, for the record only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Box<Hidden>>,
}

impl View {
    /// Returns the viewer's own hand.
    pub fn hand(&self) -> Option<CardSet> {
        self.hands.get(self.viewer?.index()).copied().flatten()
    }

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

    pub(super) fn observe(&mut self, event: &Event) {
        if let Event::Dealt { hands, hidden, .. } = event {
            self.hands = *hands;
            self.hidden.clone_from(hidden);
        }
        if let Some(hidden) = &mut self.hidden {
            event.apply_to(hidden, self.public.facing_floor());
        }
        self.public.apply(event);
        for (seat, hand) in Seat::all(self.public.seats()).zip(self.hands.iter_mut()) {
            *hand = hand.map(|hand| event.hand_after(seat, hand));
        }
    }
}
