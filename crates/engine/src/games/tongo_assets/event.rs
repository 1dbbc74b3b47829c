//! The events of a game, and their redaction.
//!
//! A hidden card appears as its shape alone: assets are round and acquire cards square, so
//! everybody sees the shapes (rule 1.2). No event discloses another seat's cards, the assets before
//! another seat, or the order of a deck.

#[cfg(feature = "schema")]
use alloc::borrow::Cow;
use alloc::boxed::Box;
use core::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::game::{Viewer, is_default};
use crate::games::tongo_assets::card::{Acquire, Card, CardSet};
use crate::games::tongo_assets::deck::Deck;
use crate::games::tongo_assets::phase::{GameEnding, ShownHand};
use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::slots::{Assets, SlotSet};
use crate::seat::{SEATS_MAX, Seat};

/// A card as a viewer sees it: the card or its shape. It serializes as `4Ra`, `asset` or `acquire`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    Up(Card),
    Asset,
    Acquire,
}

impl Face {
    pub const fn is_asset(self) -> bool {
        match self {
            Self::Up(card) => card.is_asset(),
            Self::Asset => true,
            Self::Acquire => false,
        }
    }

    /// Returns the card if it is visible.
    pub const fn card(self) -> Option<Card> {
        match self {
            Self::Up(card) => Some(card),
            Self::Asset | Self::Acquire => None,
        }
    }

    #[must_use]
    const fn face_down(self) -> Self {
        if self.is_asset() { Self::Asset } else { Self::Acquire }
    }
}

const ASSET: &str = "asset";
const ACQUIRE: &str = "acquire";

impl Serialize for Face {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Up(card) => card.serialize(serializer),
            Self::Asset => serializer.serialize_str(ASSET),
            Self::Acquire => serializer.serialize_str(ACQUIRE),
        }
    }
}

/// Reads the word or the notation of a card, or its index in binary formats.
impl<'de> Deserialize<'de> for Face {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordOrCard;

        impl Visitor<'_> for WordOrCard {
            type Value = Face;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a card, `asset` or `acquire`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Face, E> {
                match text {
                    ASSET => Ok(Face::Asset),
                    ACQUIRE => Ok(Face::Acquire),
                    card => card.parse().map(Face::Up).map_err(E::custom),
                }
            }

            fn visit_u64<E: de::Error>(self, index: u64) -> Result<Face, E> {
                let card = u8::try_from(index).ok().and_then(Card::from_index);
                card.map(Face::Up).ok_or_else(|| E::custom("no card has this index"))
            }
        }

        if deserializer.is_human_readable() {
            deserializer.deserialize_str(WordOrCard)
        } else {
            deserializer.deserialize_any(WordOrCard)
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Face {
    fn schema_name() -> Cow<'static, str> {
        "TongoAssetsFace".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let card = generator.subschema_for::<Card>();
        schemars::json_schema!({
            "anyOf": [card, { "type": "string", "enum": [ASSET, ACQUIRE] }]
        })
    }
}

/// Three cards that leave a hand together (rule 4.1).
pub type EvadedCards = [Face; 3];

/// The destination of a purchased acquire card (rule 1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsPlace"))]
pub enum AcquireDestination {
    /// The hand, for a wild.
    Hand,
    /// The kept cards, to be played later.
    Kept,
    /// The pile, for an audit, which takes effect at once.
    Pile,
}

/// An event of a game. Amounts are in chips.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "TongoAssetsEvent", tag = "type")
)]
pub enum Event {
    /// Chance has chosen the first opener (rule 2.1).
    DealerChosen { seat: Seat },
    /// The assets have been shuffled (rule 1.7). Only the record has the order.
    AssetsShuffled {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deck: Option<Box<Deck>>,
    },
    /// The acquire cards have been shuffled (rule 1.7). Only the record has the order.
    AcquiresShuffled {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deck: Option<Box<Deck>>,
    },
    /// The hands have been dealt (rule 1.4). A viewer sees its own hand.
    Dealt { rotation: u8, hands: Box<Ring<Option<CardSet>>> },
    /// A seat has opened and paid (rule 2.1). The sections are refilled (rule 1.4).
    Opened { seat: Seat, risk: u32, purchase: u32, sell: u32 },
    /// A seat has paid the risk or a debt (rules 2.2, 4.1, 4.3 and 4.4).
    Paid { seat: Seat, chips: u32 },
    /// A seat has raised the risk and paid (rules 2.2 and 4.1).
    Raised { seat: Seat, chips: u32, risk: u32, purchase: u32, sell: u32 },
    /// A seat has left the game; its cards go under the decks (rule 2.2).
    Retreated { seat: Seat },
    /// The table has stopped turning (rule 2.3).
    Stopped { rotation: u8 },
    /// The seat's assessment has begun (rule 3). Only the seat sees the assets of the section
    /// before it.
    Assessing {
        seat: Seat,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assets: Option<Assets>,
    },
    /// A seat has swapped an asset (rule 3.1).
    Swapped { seat: Seat, slot: u8, taken: Face, discarded: Face },
    /// A seat has purchased an asset (rule 3.2).
    Purchased {
        seat: Seat,
        slot: u8,
        taken: Face,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        discarded: Option<Face>,
        /// The price; 0 for a free purchase.
        chips: u32,
    },
    /// A seat has purchased an acquire card (rule 3.3). Everybody sees an audit.
    Acquired {
        seat: Seat,
        taken: Face,
        to: AcquireDestination,
        /// The card that a wild replaced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        discarded: Option<Face>,
        /// The price; 0 for a free purchase.
        chips: u32,
    },
    /// A free purchase has been put on the pile (rule 1.3); the purchase follows.
    FreeSpent { seat: Seat },
    /// A seat has paid for an audit (rule 1.3).
    Audited { seat: Seat, chips: u32 },
    /// A seat has sold its hand (rule 3.4) and sees the new one.
    Sold {
        seat: Seat,
        slots: SlotSet,
        chips: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hand: Option<CardSet>,
    },
    /// A seat has played a reveal (rule 1.3). Only the seat sees that section's assets.
    Revealed {
        seat: Seat,
        section: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assets: Option<Assets>,
    },
    /// A seat has taken a dividend from the pot (rule 1.3).
    DividendTaken { seat: Seat, chips: u32 },
    /// A seat has ended its assessment.
    Done { seat: Seat },
    /// A seat has confronted (rules 3.5 and 4.1).
    Confronted { seat: Seat, chips: u32 },
    /// A seat has evaded, so the confront has failed (rule 4.1).
    Evaded { seat: Seat, chips: u32, discarded: EvadedCards },
    /// A seat has indexed its margin (rule 4.4).
    Indexed { seat: Seat, margin: u8, chips: u32, risk: u32, purchase: u32, sell: u32 },
    /// A seat has leveraged its buy-in (rule 4.5).
    Leveraged { seat: Seat, percent: u8, chips: u32 },
    /// A seat has offered a bribe, openly (rule 4.6).
    BribeOffered {
        seat: Seat,
        to: Seat,
        #[serde(default, skip_serializing_if = "is_default")]
        chips: u32,
        #[serde(default, skip_serializing_if = "is_default")]
        cards: CardSet,
    },
    /// The seat that was offered a bribe has answered (rule 4.6).
    BribeAnswered { seat: Seat, accepted: bool },
    /// All seats still in show their hands (rule 4.3).
    Shown { hands: Box<Ring<Option<ShownHand>>> },
    /// The game is over, with the awards by seat in half chips of the pot (rule 6).
    Over { ending: GameEnding, winner: Seat, awards: Ring<u32> },
}

tagged!(Event);

impl Event {
    /// Returns the seat that plays a kept acquire card with this event, and the card's kind. The
    /// first card of the kind is played, so it need not be named.
    pub(super) const fn played_kept_card(&self) -> Option<(Seat, Acquire)> {
        match self {
            Self::FreeSpent { seat } => Some((*seat, Acquire::Free)),
            Self::Revealed { seat, .. } => Some((*seat, Acquire::Reveal)),
            Self::DividendTaken { seat, .. } => Some((*seat, Acquire::Dividend)),
            variants!(Self: DealerChosen, AssetsShuffled, AcquiresShuffled, Dealt, Opened, Paid,
                Raised, Retreated, Stopped, Assessing, Swapped, Purchased, Acquired, Audited, Sold,
                Done, Confronted, Evaded, Indexed, Leveraged, BribeOffered, BribeAnswered, Shown,
                Over) => None,
        }
    }

    /// Returns the seat that takes assets from the section before it, and their slots.
    pub(super) const fn taken_slots(&self) -> Option<(Seat, SlotSet)> {
        match self {
            Self::Swapped { seat, slot, .. } | Self::Purchased { seat, slot, .. } => {
                Some((*seat, SlotSet::EMPTY.with(*slot)))
            }
            Self::Sold { seat, slots, .. } => Some((*seat, *slots)),
            variants!(Self: DealerChosen, AssetsShuffled, AcquiresShuffled, Dealt, Opened, Paid,
                Raised, Retreated, Stopped, Assessing, Acquired, FreeSpent, Audited, Revealed,
                DividendTaken, Done, Confronted, Evaded, Indexed, Leveraged, BribeOffered,
                BribeAnswered, Shown, Over) => None,
        }
    }

    /// Returns the seat that parts with cards of its hand for its pile, and their faces.
    pub(super) const fn discarded_cards(&self) -> Option<(Seat, &[Face])> {
        match self {
            Self::Swapped { seat, discarded, .. }
            | Self::Purchased { seat, discarded: Some(discarded), .. }
            | Self::Acquired { seat, discarded: Some(discarded), .. } => {
                Some((*seat, core::slice::from_ref(discarded)))
            }
            Self::Evaded { seat, discarded, .. } => Some((*seat, discarded)),
            variants!(Self: DealerChosen, AssetsShuffled, AcquiresShuffled, Dealt, Opened, Paid,
                Raised, Retreated, Stopped, Assessing, Purchased, Acquired, FreeSpent, Audited,
                Sold, Revealed, DividendTaken, Done, Confronted, Indexed, Leveraged, BribeOffered,
                BribeAnswered, Shown, Over) => None,
        }
    }

    /// Redacts the event for a viewer.
    #[must_use]
    pub(super) fn redact_for(&self, viewer: Viewer) -> Self {
        let mut seen = self.clone();
        match &mut seen {
            Self::AssetsShuffled { deck } | Self::AcquiresShuffled { deck } => {
                *deck = deck.take().filter(|_| viewer == Viewer::Everything);
            }
            Self::Dealt { hands, .. } => {
                for (seat, hand) in Seat::all(SEATS_MAX).zip(hands.as_mut_slice()) {
                    *hand = hand.filter(|_| viewer.sees(seat));
                }
            }
            Self::Assessing { seat, assets } | Self::Revealed { seat, assets, .. } => {
                *assets = assets.filter(|_| viewer.sees(*seat));
            }
            Self::Swapped { seat, taken, discarded, .. } if !viewer.sees(*seat) => {
                *taken = taken.face_down();
                *discarded = discarded.face_down();
            }
            Self::Purchased { seat, taken, discarded, .. } if !viewer.sees(*seat) => {
                *taken = taken.face_down();
                *discarded = discarded.map(Face::face_down);
            }
            Self::Acquired { seat, taken, to, discarded, .. } if !viewer.sees(*seat) => {
                if *to != AcquireDestination::Pile {
                    *taken = taken.face_down();
                }
                *discarded = discarded.map(Face::face_down);
            }
            Self::Sold { seat, hand, .. } => *hand = hand.filter(|_| viewer.sees(*seat)),
            Self::Evaded { seat, discarded, .. } if !viewer.sees(*seat) => {
                *discarded = discarded.map(Face::face_down);
            }
            variants!(Self: DealerChosen, Opened, Paid, Raised, Retreated, Stopped, Swapped,
                Purchased, Acquired, FreeSpent, Audited, DividendTaken, Done, Confronted, Evaded,
                Indexed, Leveraged, BribeOffered, BribeAnswered, Shown, Over) => {}
        }
        seen
    }
}
