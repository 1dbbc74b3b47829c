//! What happened in a game, complete, and what of it each viewer may see.
//!
//! An event never lets a seat know another's cards, in hand or face down, the stock's order, who is
//! asked in a fight because of a concealed meld, or how another answered, before the hands are
//! shown.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::cards::{Card, CardSet};
use crate::game::Viewer;
use crate::games::tongits::arrange::Arrangement;
use crate::games::tongits::pile::Pile;
use crate::games::tongits::rules::{Rules, SEATS};
use crate::seat::{Seat, SeatSet};

/// Something for each seat.
pub type BySeat<T> = [T; SEATS as usize];

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongitsEvent"))]
pub enum Event {
    /// Chance chose who plays first (rule 2.2).
    StarterChosen { seat: Seat },
    /// Rule 2.3. A viewer sees its own hand, and the stock is for the record.
    Dealt {
        starter: Seat,
        hands: BySeat<Option<CardSet>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stock: Option<Pile>,
    },
    /// Rule 3.1. Others do not see the card.
    Drawn {
        seat: Seat,
        card: Option<Card>,
        /// Nothing else was legal, so that the table drew.
        auto: bool,
    },
    /// Rule 3.2: the discard and the hand cards are a new exposed meld.
    Chowed { seat: Seat, discard: Card, cards: CardSet },
    /// Rule 3.4.
    Dropped { seat: Seat, cards: CardSet },
    /// Rule 3.4, where secret melds may be laid face down. Others see how many cards they are.
    LaidFaceDown { seat: Seat, cards: CardSet, count: u8 },
    /// Rule 3.5.
    Sapawed { seat: Seat, card: Card, meld: u8 },
    /// Rule 10.2: what was just added was drawn in this turn and completes the owner's four.
    Sagasa { seat: Seat, meld: u8 },
    /// Rule 3.6.
    Dumped { seat: Seat, card: Card },
    /// Rule 3.7.
    TongitsDeclared { seat: Seat },
    /// Rule 4.2: the open seats that are asked, and those asked for a concealed meld, each of
    /// which only that seat sees.
    Fought { seat: Seat, asked: SeatSet, asked_secretly: SeatSet },
    /// Rule 4.2. Others do not see that it happened.
    Answered { seat: Seat, answer: FightAnswer },
    /// The end of the game: every hand, by seat.
    Shown { hands: Box<BySeat<ShownHand>> },
    /// After all hands are shown.
    Over {
        ending: EndingKind,
        /// `None` when all were burned and the rules give nobody the win (rule 5.3).
        winner: Option<Seat>,
        /// Who took part in a showdown: the fighter and its challengers (rule 4.3).
        showdown: SeatSet,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        special: Option<SpecialEnding>,
    },
}

/// The answer to a fight (rule 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongitsAnswer"))]
pub enum FightAnswer {
    Challenge,
    Fold,
}

/// A hand as it is shown at the end of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownHand {
    pub hand: CardSet,
    pub arrangement: Arrangement,
    /// Rule 1.8.
    pub burned: bool,
    /// What the hand counts: its deadwood, or all of it when burned (rule 1.11).
    pub points: u32,
    /// What the seat had laid face down, in the order laid (rule 3.4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub face_down: Vec<CardSet>,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EndingKind {
    /// Rules 3.7, 3.8.
    Tongits,
    /// Rule 4.3.
    Fight,
    /// Rule 5.1.
    Stock,
}

/// An ending that has a name of its own among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SpecialEnding {
    /// A Tongits that takes the POT (rule 10.3).
    Spread,
    /// A fight that nobody is asked to answer (rule 11.2).
    ZeroCountFight,
}

impl Event {
    /// What the viewer may see of this event; `None` when it may not see that it happened.
    pub(super) fn redact_for(&self, viewer: Viewer) -> Option<Self> {
        let sees = |seat: Seat| match viewer {
            Viewer::Everything => true,
            Viewer::Seat(own) => own == seat,
            Viewer::Public => false,
        };
        Some(match self {
            Self::Dealt { starter, hands, stock } => {
                let mut hands = *hands;
                for (seat, hand) in Seat::all(SEATS).zip(&mut hands) {
                    *hand = hand.filter(|_| sees(seat));
                }
                let stock = stock.filter(|_| viewer == Viewer::Everything);
                Self::Dealt { starter: *starter, hands, stock }
            }
            Self::Drawn { seat, card, auto } => {
                Self::Drawn { seat: *seat, card: card.filter(|_| sees(*seat)), auto: *auto }
            }
            Self::LaidFaceDown { seat, cards, count } => {
                let cards = if sees(*seat) { *cards } else { CardSet::EMPTY };
                Self::LaidFaceDown { seat: *seat, cards, count: *count }
            }
            Self::Fought { seat, asked, asked_secretly } => {
                let asked_secretly = asked_secretly.iter().filter(|seat| sees(*seat)).collect();
                Self::Fought { seat: *seat, asked: *asked, asked_secretly }
            }
            Self::Answered { seat, answer } => {
                if !sees(*seat) {
                    return None;
                }
                Self::Answered { seat: *seat, answer: *answer }
            }
            Self::StarterChosen { .. }
            | Self::Chowed { .. }
            | Self::Dropped { .. }
            | Self::Sapawed { .. }
            | Self::Sagasa { .. }
            | Self::Dumped { .. }
            | Self::TongitsDeclared { .. }
            | Self::Shown { .. }
            | Self::Over { .. } => self.clone(),
        })
    }

    /// What is left of a seat's hand after this event. The one place where hands change, for the
    /// game and for whoever follows it.
    pub(super) fn hand_after(&self, seat: Seat, hand: CardSet) -> CardSet {
        match self {
            Self::Dealt { hands, .. } => hands.get(seat.index()).copied().flatten().unwrap_or(hand),
            Self::Drawn { seat: by, card: Some(card), .. } if *by == seat => hand.with(*card),
            Self::Chowed { seat: by, cards, .. }
            | Self::Dropped { seat: by, cards }
            | Self::LaidFaceDown { seat: by, cards, .. }
                if *by == seat =>
            {
                hand.difference(*cards)
            }
            Self::Sapawed { seat: by, card, .. } | Self::Dumped { seat: by, card }
                if *by == seat =>
            {
                hand.without(*card)
            }
            Self::StarterChosen { .. }
            | Self::Drawn { .. }
            | Self::Chowed { .. }
            | Self::Dropped { .. }
            | Self::LaidFaceDown { .. }
            | Self::Sapawed { .. }
            | Self::Sagasa { .. }
            | Self::Dumped { .. }
            | Self::TongitsDeclared { .. }
            | Self::Fought { .. }
            | Self::Answered { .. }
            | Self::Shown { .. }
            | Self::Over { .. } => hand,
        }
    }

    /// The card drawn in this turn, as far as the rules ask for it (rule 10.2) and the event tells.
    pub(super) fn drawn_card_after(&self, rules: &Rules, drawn: Option<Card>) -> Option<Card> {
        match self {
            Self::Drawn { card, .. } => card.filter(|_| rules.sagasa),
            Self::Dumped { .. } | Self::Shown { .. } => None,
            Self::StarterChosen { .. }
            | Self::Dealt { .. }
            | Self::Chowed { .. }
            | Self::Dropped { .. }
            | Self::LaidFaceDown { .. }
            | Self::Sapawed { .. }
            | Self::Sagasa { .. }
            | Self::TongitsDeclared { .. }
            | Self::Fought { .. }
            | Self::Answered { .. }
            | Self::Over { .. } => drawn,
        }
    }
}
