//! The view of one viewer: the public state and the viewer's own hand.
//!
//! A view is updated by redacted events ([`View::observe`]) and then equals a new view of the game.
//! The view of the record holds everything.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::games::list::BySeat;
use crate::games::tongo_options::card::CardSet;
use crate::games::tongo_options::event::Event;
use crate::games::tongo_options::hidden::Hidden;
use crate::games::tongo_options::public::PublicState;
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
