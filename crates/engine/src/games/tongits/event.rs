//! The events of a game, complete or redacted for a viewer.
//!
//! A redacted event never reveals another seat's cards, in hand or face down, the order of the
//! stock, the seats asked in a fight because of a concealed meld, or another seat's answer before
//! the hands are shown.

use alloc::boxed::Box;
use alloc::vec::Vec;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::cards::{Card, CardSet};
use crate::game::Viewer;
use crate::games::tongits::arrange::Arrangement;
use crate::games::tongits::pile::Pile;
use crate::games::tongits::rules::{Rules, SEATS};
use crate::seat::{Seat, SeatSet};

/// One value per seat.
pub type BySeat<T> = [T; SEATS as usize];

/// An event of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "TongitsEvent", tag = "type")
)]
pub enum Event {
    /// Chance has chosen the starter (rule 2.2).
    StarterChosen { seat: Seat },
    /// The cards are dealt (rule 2.3). A viewer sees its own hand; the stock is only in the record.
    Dealt {
        starter: Seat,
        hands: BySeat<Option<CardSet>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stock: Option<Pile>,
    },
    /// A card is drawn (rule 3.1). Other seats do not see the card.
    Drawn {
        seat: Seat,
        card: Option<Card>,
        /// `true` if the table drew because nothing else was legal.
        auto: bool,
    },
    /// The discard and the hand cards form a new exposed meld (rule 3.2).
    Chowed { seat: Seat, discard: Card, cards: CardSet },
    /// A meld is laid open (rule 3.4).
    Dropped { seat: Seat, cards: CardSet },
    /// A secret meld is laid face down (rule 3.4), where the rules allow it. Other seats see only
    /// its number of cards.
    LaidFaceDown { seat: Seat, cards: CardSet, count: u8 },
    /// A card is added to a meld (rule 3.5).
    Sapawed { seat: Seat, card: Card, meld: u8 },
    /// The card just added was drawn in this turn and completes the owner's four of a kind (rule
    /// 10.2).
    Sagasa { seat: Seat, meld: u8 },
    /// A card is dumped (rule 3.6).
    Dumped { seat: Seat, card: Card },
    /// Tongits is declared (rule 3.7).
    TongitsDeclared { seat: Seat },
    /// A fight is called (rule 4.2). `asked` are the open seats; `asked_secretly` are seats asked
    /// because of a concealed meld, each visible only to itself.
    Fought { seat: Seat, asked: SeatSet, asked_secretly: SeatSet },
    /// A fight is answered (rule 4.2). Other seats do not see this event.
    Answered { seat: Seat, answer: FightAnswer },
    /// The game has ended: every hand, by seat.
    Shown { hands: Box<BySeat<ShownHand>> },
    /// The result of the game, after all hands are shown.
    Over {
        ending: EndingKind,
        /// `None` if all seats were burned and the rules give nobody the win (rule 5.3).
        winner: Option<Seat>,
        /// The participants of a showdown: the fighter and its challengers (rule 4.3).
        showdown: SeatSet,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        special: Option<SpecialEnding>,
    },
}

tagged!(Event);

/// The answer to a fight (rule 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongitsAnswer"))]
pub enum FightAnswer {
    Challenge,
    Fold,
}

/// The answers to a fight in the order given; the fighter does not answer.
pub type FightAnswers = ArrayVec<(Seat, FightAnswer), { SEATS as usize - 1 }>;

/// A hand as it is shown at the end of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Shown"))]
pub struct ShownHand {
    pub hand: CardSet,
    pub arrangement: Arrangement,
    /// `true` if the hand is burned (rule 1.8).
    pub burned: bool,
    /// The points of the hand: its deadwood, or all its cards if burned (rule 1.11).
    pub points: u32,
    /// The melds that the seat had laid face down, in the order laid (rule 3.4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub face_down: Vec<CardSet>,
}

/// The way in which a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ending"))]
pub enum EndingKind {
    /// The winner's hand is empty or fully melded (rules 3.7, 3.8).
    Tongits,
    /// A fight was decided (rule 4.3).
    Fight,
    /// The stock is exhausted (rule 5.1).
    Stock,
}

/// A special case of an ending that has a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SpecialEnding {
    /// A Tongits that takes the POT (rule 10.3).
    Spread,
    /// A fight at zero deadwood, which no seat is asked to answer (rule 11.2).
    ZeroCountFight,
}

impl Event {
    /// Returns the event as the viewer may see it; `None` if the viewer may not learn that it
    /// happened.
    pub(super) fn redact_for(&self, viewer: Viewer) -> Option<Self> {
        let mut seen = self.clone();
        match &mut seen {
            Self::Dealt { hands, stock, .. } => {
                for (seat, hand) in Seat::all(SEATS).zip(hands) {
                    *hand = hand.filter(|_| viewer.sees(seat));
                }
                *stock = stock.filter(|_| viewer == Viewer::Everything);
            }
            Self::Drawn { seat, card, .. } => *card = card.filter(|_| viewer.sees(*seat)),
            Self::LaidFaceDown { seat, cards, .. } if !viewer.sees(*seat) => {
                *cards = CardSet::EMPTY
            }
            Self::Fought { asked_secretly, .. } => {
                *asked_secretly = asked_secretly.iter().filter(|seat| viewer.sees(*seat)).collect();
            }
            Self::Answered { seat, .. } if !viewer.sees(*seat) => return None,
            variants!(Self: StarterChosen, Chowed, Dropped, LaidFaceDown, Sapawed, Sagasa, Dumped,
                TongitsDeclared, Answered, Shown, Over) => {}
        }
        Some(seen)
    }

    /// Returns a seat's hand after this event. This is the only place where hands change, for the
    /// game and for every view.
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
            variants!(Self: StarterChosen, Drawn, Chowed, Dropped, LaidFaceDown, Sapawed, Sagasa,
                Dumped, TongitsDeclared, Fought, Answered, Shown, Over) => hand,
        }
    }

    /// Returns the card drawn in this turn after this event, if the rules need it (rule 10.2) and
    /// the event reveals it.
    pub(super) fn drawn_card_after(&self, rules: &Rules, drawn: Option<Card>) -> Option<Card> {
        match self {
            Self::Drawn { card, .. } => card.filter(|_| rules.sagasa),
            Self::Dumped { .. } | Self::Shown { .. } => None,
            variants!(Self: StarterChosen, Dealt, Chowed, Dropped, LaidFaceDown, Sapawed, Sagasa,
                TongitsDeclared, Fought, Answered, Over) => drawn,
        }
    }
}
