//! What happened in a game, complete, and what of it each viewer may see.
//!
//! An event never lets a seat know another's cards, in the hand, discarded or drawn, nor an options
//! card that lies face down, nor the order of the player deck.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::game::Viewer;
use crate::games::tongo_options::action::Discards;
use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::dice::Dice;
use crate::games::tongo_options::hidden::{Deck, Hidden};
use crate::games::tongo_options::list::BySeat;
use crate::games::tongo_options::public::Costs;
use crate::games::tongo_options::rules::FLOORS;
use crate::games::tongo_options::strength::Matches;
use crate::seat::Seat;

/// One thing that happened. What was paid is in chips.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsEvent"))]
pub enum Event {
    /// Rule 2.1. A viewer sees its own hand; what lies face down is for the record.
    Dealt {
        dealer: Seat,
        hands: BySeat<Option<CardSet>>,
        /// Of each floor the card that lies face up.
        up: [Card; FLOORS as usize],
        dice: Dice,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hidden: Option<Box<Hidden>>,
    },
    /// Rule 3.1.
    Stopped { seat: Seat, floor: u8 },
    /// Rule 3.3.
    RiskPaid { seat: Seat, chips: u8 },
    /// Rule 3.2.
    Retreated { seat: Seat },
    /// Rules 3.2, 5.2, 6.2, 7.1.
    Folded { seat: Seat },
    /// Rule 3.4: the costs as they are now.
    CostsChanged { seat: Seat, how: CostsChange, costs: Costs, chips: u8 },
    /// Rule 3.4.
    Bought { seat: Seat, slot: u8, card: Card, chips: u8, leverage: bool },
    /// Rule 3.4.
    Sold { seat: Seat, slot: u8, chips: u8, leverage: bool },
    /// Rule 3.4; with a card of the free exchange where no floor is named.
    Exchanged {
        seat: Seat,
        slot: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        floor: Option<u8>,
        other: u8,
        chips: u8,
        leverage: bool,
    },
    /// Rule 3.4: the dice are to fall.
    Rolling { seat: Seat },
    /// Rule 3.4.
    Rolled { seat: Seat, dice: Dice },
    /// Rules 3.2, 3.5, 6.2. Others see how many cards were discarded.
    Evaded {
        seat: Seat,
        /// By its token, and not for chips.
        token: bool,
        chips: u8,
        count: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        discards: Option<Discards>,
    },
    /// Rule 3.2: as many as were discarded. The player deck is for the record.
    Drew {
        seat: Seat,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cards: Option<CardSet>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deck: Option<Box<Deck>>,
    },
    /// Rules 5.1, 5.2.
    ReservesConverted { seat: Seat, wager: u8 },
    /// Rule 6.1.
    Confronted { seat: Seat, target: Seat },
    /// Rule 7.1.
    Acquired { seat: Seat, floor: u8 },
    /// Rules 6.2, 7.1, otherwise than by folding or evading; with what rule 8.4 makes it pay.
    Answered { seat: Seat, answer: ChallengeAnswer, chips: u8 },
    /// Rule 3.5; with what was left of a wager (rule 5.1).
    Ended { seat: Seat, chips: u8 },
    /// A showdown: the hands of those who take part, in the order of rule 8.2.
    Shown { hands: Vec<ShownHand> },
    /// The winner gets the pot (rule 8.3).
    Over { ending: GameEnding, winner: Seat, pot: u16 },
}

/// How costs were changed (rule 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsCostsChange"))]
pub enum CostsChange {
    Lower,
    Raise,
    Index,
}

/// The answer to a challenge that keeps a seat in (rules 6.2, 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsAnswer"))]
pub enum ChallengeAnswer {
    Stand,
    Join,
    Confront,
}

/// A hand as it is shown, with the floor that it is matched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsShown"))]
pub struct ShownHand {
    pub seat: Seat,
    pub hand: CardSet,
    pub floor: u8,
    pub matches: Matches,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsEnding"))]
pub enum GameEnding {
    /// All others have folded (rule 4.1).
    LastIn,
    /// Rule 6.3.
    Confront,
    /// Rules 7.1, 7.2.
    Acquire,
    /// Rule 5.3.
    Reserves,
    /// Rule 4.2.
    Rounds,
}

impl Event {
    /// What the viewer may see of this event.
    pub(super) fn redact_for(&self, viewer: Viewer) -> Self {
        let sees = |seat: Seat| match viewer {
            Viewer::Everything => true,
            Viewer::Seat(own) => own == seat,
            Viewer::Public => false,
        };
        let sees_all = viewer == Viewer::Everything;
        match self {
            Self::Dealt { dealer, hands, up, dice, hidden } => {
                let mut hands = *hands;
                for (number, hand) in (0..).zip(hands.iter_mut()) {
                    *hand = hand.filter(|_| Seat::new(number).is_some_and(sees));
                }
                let hidden = hidden.clone().filter(|_| sees_all);
                Self::Dealt { dealer: *dealer, hands, up: *up, dice: *dice, hidden }
            }
            Self::Evaded { seat, token, chips, count, discards } => Self::Evaded {
                seat: *seat,
                token: *token,
                chips: *chips,
                count: *count,
                discards: discards.filter(|_| sees(*seat)),
            },
            Self::Drew { seat, cards, deck } => Self::Drew {
                seat: *seat,
                cards: cards.filter(|_| sees(*seat)),
                deck: deck.clone().filter(|_| sees_all),
            },
            Self::Stopped { .. }
            | Self::RiskPaid { .. }
            | Self::Retreated { .. }
            | Self::Folded { .. }
            | Self::CostsChanged { .. }
            | Self::Bought { .. }
            | Self::Sold { .. }
            | Self::Exchanged { .. }
            | Self::Rolling { .. }
            | Self::Rolled { .. }
            | Self::ReservesConverted { .. }
            | Self::Confronted { .. }
            | Self::Acquired { .. }
            | Self::Answered { .. }
            | Self::Ended { .. }
            | Self::Shown { .. }
            | Self::Over { .. } => self.clone(),
        }
    }

    /// What is left of a seat's hand after this event, as far as the event tells. The one place
    /// where hands change, for the game and for whoever follows it.
    pub(super) fn hand_after(&self, seat: Seat, hand: CardSet) -> CardSet {
        match self {
            Self::Evaded { seat: by, discards: Some(discards), .. } if *by == seat => {
                discards.iter().fold(hand, |hand, card| hand.without(*card))
            }
            Self::Drew { seat: by, cards: Some(cards), .. } if *by == seat => hand.union(*cards),
            Self::Dealt { .. }
            | Self::Stopped { .. }
            | Self::RiskPaid { .. }
            | Self::Retreated { .. }
            | Self::Folded { .. }
            | Self::CostsChanged { .. }
            | Self::Bought { .. }
            | Self::Sold { .. }
            | Self::Exchanged { .. }
            | Self::Rolling { .. }
            | Self::Rolled { .. }
            | Self::Evaded { .. }
            | Self::Drew { .. }
            | Self::ReservesConverted { .. }
            | Self::Confronted { .. }
            | Self::Acquired { .. }
            | Self::Answered { .. }
            | Self::Ended { .. }
            | Self::Shown { .. }
            | Self::Over { .. } => hand,
        }
    }
}
