//! The hidden state: the order of the player deck, and the positions of all options cards. Only the
//! game and the record have it.
//!
//! `public` has the face-up options cards.

use serde::{Deserialize, Serialize};

use crate::games::list::List;
use crate::games::tongo_options::action::Discards;
use crate::games::tongo_options::card::Card;
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

    /// Puts the discarded cards under the deck, in the order named (rule 3.2).
    pub(super) fn discard(&mut self, discards: &Discards) {
        discards.iter().for_each(|card| self.deck.push(*card));
    }
}
