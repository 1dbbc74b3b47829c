//! The hidden state: the order of the player deck, and the positions of all options cards. Only the
//! game and the record have it.
//!
//! `public` has the face-up options cards. The game and the view of the record update the hidden
//! state by the same [`Hidden::apply`].

use serde::{Deserialize, Serialize};

use crate::games::tongo_options::action::Discards;
use crate::games::tongo_options::card::Card;
use crate::games::tongo_options::event::Event;
use crate::games::tongo_options::list::List;
use crate::games::tongo_options::rules::{FLOORS, SLOTS};

/// The player deck from its top.
pub type Deck = List<Card, { Card::COUNT as usize }>;

/// The options cards of each floor, or of each free exchange, by slot.
pub(super) type OptionsLayout = [[Card; SLOTS as usize]; FLOORS as usize];

/// The face-down cards, and of the floors also the face-up ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsHidden"))]
pub struct Hidden {
    pub deck: Deck,
    pub floors: OptionsLayout,
    /// The cards of the free exchanges; meaningless under rules without them.
    pub exchanges: OptionsLayout,
}

impl Hidden {
    /// Returns the card of a slot. Floor and slot must have been checked.
    pub(super) fn card(&self, floor: u8, slot: u8) -> Card {
        self.floors[usize::from(floor)][usize::from(slot)]
    }

    /// Updates the cards by an event; `facing` is the floor that faced the seat of the event.
    pub(super) fn apply(&mut self, event: &Event, facing: Option<u8>) {
        match event {
            Event::Exchanged { slot, floor, other, .. } => {
                let facing =
                    usize::from(facing.expect("a seat that exchanges has stopped at a floor"));
                let slot = usize::from(*slot);
                let other = usize::from(*other);
                let mine = self.floors[facing][slot];
                let place = match floor {
                    Some(floor) => &mut self.floors[usize::from(*floor)][other],
                    None => &mut self.exchanges[facing][other],
                };
                let theirs = core::mem::replace(place, mine);
                self.floors[facing][slot] = theirs;
            }
            Event::Evaded { discards: Some(discards), .. } => self.discard(discards),
            Event::Drew { deck: Some(deck), .. } => self.deck = **deck,
            Event::Dealt { .. }
            | Event::Stopped { .. }
            | Event::RiskPaid { .. }
            | Event::Retreated { .. }
            | Event::Folded { .. }
            | Event::CostsChanged { .. }
            | Event::Bought { .. }
            | Event::Sold { .. }
            | Event::Rolling { .. }
            | Event::Rolled { .. }
            | Event::Evaded { .. }
            | Event::Drew { .. }
            | Event::ReservesConverted { .. }
            | Event::Confronted { .. }
            | Event::Acquired { .. }
            | Event::Answered { .. }
            | Event::Ended { .. }
            | Event::Shown { .. }
            | Event::Over { .. } => {}
        }
    }

    /// Puts the discarded cards under the deck, in the order named (rule 3.2).
    fn discard(&mut self, discards: &Discards) {
        discards.iter().for_each(|card| self.deck.push(*card));
    }
}
