//! The events of a game, and their redaction.
//!
//! No event discloses another seat's cards, in the hand, discarded or drawn, a face-down options
//! card, or the order of the player deck.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::game::Viewer;
use crate::games::list::BySeat;
use crate::games::tongo_options::action::Discards;
use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::dice::Dice;
use crate::games::tongo_options::hidden::{Deck, Hidden};
use crate::games::tongo_options::phase::{Costs, CostsChange, GameEnding};
use crate::games::tongo_options::rules::FLOORS;
use crate::games::tongo_options::strength::Matches;
use crate::seat::{SEATS_MAX, Seat};

/// An event of a game. Payments are in chips.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsEvent", tag = "type"))]
pub enum Event {
    /// The game has been dealt (rule 2.1). A viewer sees its own hand; only the record has the
    /// face-down cards.
    Dealt {
        dealer: Seat,
        hands: BySeat<Option<CardSet>>,
        /// The face-up card of each floor.
        up: [Card; FLOORS as usize],
        dice: Dice,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hidden: Option<Box<Hidden>>,
    },
    /// A seat has stopped the board (rule 3.1).
    Stopped { seat: Seat, floor: u8 },
    /// A seat has paid the risk (rule 3.3).
    RiskPaid { seat: Seat, chips: u8 },
    /// A seat has retreated (rule 3.2).
    Retreated { seat: Seat },
    /// A seat has folded (rules 3.2, 5.2, 6.2 and 7.1).
    Folded { seat: Seat },
    /// A seat has changed the costs, which are now these (rule 3.4).
    CostsChanged { seat: Seat, how: CostsChange, costs: Costs, chips: u8 },
    /// A seat has bought a card (rule 3.4).
    Bought { seat: Seat, slot: u8, card: Card, chips: u8, leverage: bool },
    /// A seat has sold a card (rule 3.4).
    Sold { seat: Seat, slot: u8, chips: u8, leverage: bool },
    /// A seat has exchanged a card (rule 3.4), with the free exchange if no floor is named.
    Exchanged {
        seat: Seat,
        slot: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        floor: Option<u8>,
        other: u8,
        chips: u8,
        leverage: bool,
    },
    /// The dice are about to fall (rule 3.4).
    Rolling { seat: Seat },
    /// The dice have fallen (rule 3.4).
    Rolled { seat: Seat, dice: Dice },
    /// A seat has evaded (rules 3.2, 3.5 and 6.2). Others see the number of discarded cards.
    Evaded {
        seat: Seat,
        /// True if the seat evaded by its token instead of chips.
        token: bool,
        chips: u8,
        count: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        discards: Option<Discards>,
    },
    /// A seat has drawn as many cards as it discarded (rule 3.2). Only the record has the player
    /// deck.
    Drew {
        seat: Seat,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cards: Option<CardSet>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deck: Option<Box<Deck>>,
    },
    /// A seat has converted its reserves (rules 5.1 and 5.2).
    ReservesConverted { seat: Seat, wager: u8 },
    /// A seat has confronted another (rule 6.1).
    Confronted { seat: Seat, target: Seat },
    /// A seat acquires its facing floor (rule 7.1).
    Acquired { seat: Seat, floor: u8 },
    /// A seat has answered a challenge without folding or evading (rules 6.2 and 7.1), with the
    /// payment of rule 8.4.
    Answered { seat: Seat, answer: ChallengeAnswer, chips: u8 },
    /// A seat has ended its turn (rule 3.5), with the rest of a wager (rule 5.1).
    Ended { seat: Seat, chips: u8 },
    /// The hands of a showdown are shown, in the order of rule 8.2.
    Shown { hands: Vec<ShownHand> },
    /// The game is over, and the winner takes the pot (rule 8.3).
    Over { ending: GameEnding, winner: Seat, pot: u16 },
}

tagged!(Event);

/// The answer to a challenge that keeps a seat in (rules 6.2 and 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsAnswer"))]
pub enum ChallengeAnswer {
    Stand,
    Join,
    Confront,
}

/// A shown hand and its matching floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsShown"))]
pub struct ShownHand {
    pub seat: Seat,
    pub hand: CardSet,
    pub floor: u8,
    pub matches: Matches,
}

impl Event {
    /// Redacts the event for a viewer.
    pub(super) fn redact_for(&self, viewer: Viewer) -> Self {
        let sees_all = viewer == Viewer::Everything;
        let mut seen = self.clone();
        match &mut seen {
            Self::Dealt { hands, hidden, .. } => {
                for (seat, hand) in Seat::all(SEATS_MAX).zip(hands.iter_mut()) {
                    *hand = hand.filter(|_| viewer.sees(seat));
                }
                *hidden = hidden.take().filter(|_| sees_all);
            }
            Self::Evaded { seat, discards, .. } => {
                *discards = discards.filter(|_| viewer.sees(*seat));
            }
            Self::Drew { seat, cards, deck } => {
                *cards = cards.filter(|_| viewer.sees(*seat));
                *deck = deck.take().filter(|_| sees_all);
            }
            variants!(Self: Stopped, RiskPaid, Retreated, Folded, CostsChanged, Bought, Sold,
                Exchanged, Rolling, Rolled, ReservesConverted, Confronted, Acquired, Answered,
                Ended, Shown, Over) => {}
        }
        seen
    }

    /// Updates the hidden cards; `facing` is the floor that faced the seat of the event.
    pub(super) fn apply_to(&self, hidden: &mut Hidden, facing: Option<u8>) {
        match self {
            Self::Exchanged { slot, floor, other, .. } => {
                let facing =
                    usize::from(facing.expect("a seat that exchanges has stopped at a floor"));
                let slot = usize::from(*slot);
                let other = usize::from(*other);
                let mine = hidden.floors[facing][slot];
                let place = match floor {
                    Some(floor) => &mut hidden.floors[usize::from(*floor)][other],
                    None => &mut hidden.exchanges[facing][other],
                };
                let theirs = core::mem::replace(place, mine);
                hidden.floors[facing][slot] = theirs;
            }
            Self::Dealt { hidden: Some(dealt), .. } => *hidden = **dealt,
            Self::Evaded { discards: Some(discards), .. } => hidden.discard(discards),
            Self::Drew { deck: Some(deck), .. } => hidden.deck = **deck,
            variants!(Self: Dealt, Stopped, RiskPaid, Retreated, Folded, CostsChanged, Bought, Sold,
                Rolling, Rolled, Evaded, Drew, ReservesConverted, Confronted, Acquired, Answered,
                Ended, Shown, Over) => {}
        }
    }

    /// Returns a seat's hand after this event, as far as the event discloses it. The game and every
    /// view change hands only by this function.
    pub(super) fn hand_after(&self, seat: Seat, hand: CardSet) -> CardSet {
        match self {
            Self::Dealt { hands, .. } => hands.get(seat.index()).copied().flatten().unwrap_or(hand),
            Self::Evaded { seat: by, discards: Some(discards), .. } if *by == seat => {
                discards.iter().fold(hand, |hand, card| hand.without(*card))
            }
            Self::Drew { seat: by, cards: Some(cards), .. } if *by == seat => hand.union(*cards),
            variants!(Self: Stopped, RiskPaid, Retreated, Folded, CostsChanged, Bought, Sold,
                Exchanged, Rolling, Rolled, Evaded, Drew, ReservesConverted, Confronted, Acquired,
                Answered, Ended, Shown, Over) => hand,
        }
    }
}
