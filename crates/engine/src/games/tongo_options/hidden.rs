//! What nobody sees: the order of the player deck, and all options cards where they lie. For the
//! game itself and the record.
//!
//! Which options cards lie face up is in `public`; the game and whoever follows it with the
//! record's eyes bring the cards forward by the same [`Hidden::apply`].

use serde::{Deserialize, Serialize};

use crate::games::tongo_options::action::Discards;
use crate::games::tongo_options::card::Card;
use crate::games::tongo_options::event::Event;
use crate::games::tongo_options::list::List;
use crate::games::tongo_options::rules::{FLOORS, SLOTS};

/// The player deck, its top first.
pub type Deck = List<Card, { Card::COUNT as usize }>;

/// The options cards of each floor, or of each free exchange, by slot.
pub(super) type OptionsLayout = [[Card; SLOTS as usize]; FLOORS as usize];

/// What lies face down, and of the floors also what lies up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsHidden"))]
pub struct Hidden {
    pub deck: Deck,
    pub floors: OptionsLayout,
    /// The free exchanges; where the rules know none they mean nothing.
    pub exchanges: OptionsLayout,
}

impl Hidden {
    /// The card of a slot; of a checked number.
    pub(super) fn card(&self, floor: u8, slot: u8) -> Card {
        self.floors[usize::from(floor)][usize::from(slot)]
    }

    /// Brings the cards up to date; `facing` is the floor that faced the seat of the event.
    pub(super) fn apply(&mut self, event: &Event, facing: Option<u8>) {
        match event {
            Event::Exchanged { slot, floor, other, .. } => {
                let facing = usize::from(facing.expect("who exchanges has stopped at a floor"));
                let (slot, other) = (usize::from(*slot), usize::from(*other));
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

    /// Rule 3.2: under the deck, in the order named.
    fn discard(&mut self, discards: &Discards) {
        discards.iter().for_each(|card| self.deck.push(*card));
    }
}
