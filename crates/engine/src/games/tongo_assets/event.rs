//! What happened in a game, complete, and what of it each viewer may see.
//!
//! A card that a viewer may not see is told by its shape alone: an asset is round and an acquire
//! card square, so that the shapes are seen by everybody (rule 1.2). No event lets a seat know
//! another's cards, what lies in a section before another seat, or the order of a deck.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::ToString;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::game::Viewer;
use crate::games::tongo_assets::card::{Acquire, Card};
use crate::games::tongo_assets::deck::Deck;
use crate::games::tongo_assets::phase::{GameEnding, ShownHand};
use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::set::CardSet;
use crate::games::tongo_assets::slots::{Assets, SlotSet};
use crate::seat::Seat;

/// A card as a viewer sees it: itself, or its shape. On the wire `4Ra`, `asset` or `acquire`.
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

    /// The card, as far as it is seen.
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

impl<'de> Deserialize<'de> for Face {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        match &*text {
            ASSET => Ok(Self::Asset),
            ACQUIRE => Ok(Self::Acquire),
            card => card
                .parse()
                .map(Self::Up)
                .map_err(|error| D::Error::custom(ToString::to_string(&error))),
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

/// Where a bought acquire card goes (rule 1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsPlace"))]
pub enum AcquireDestination {
    /// A wild, into the hand.
    Hand,
    /// Apart, to be played later.
    Kept,
    /// An audit, onto the pile at once.
    Pile,
}

/// One thing that happened. Amounts are chips.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsEvent"))]
pub enum Event {
    /// Chance chose who opens first (rule 2.1).
    DealerChosen { seat: Seat },
    /// The assets are shuffled (rule 1.7). The order is for the record.
    AssetsShuffled {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deck: Option<Box<Deck>>,
    },
    /// The acquire cards are shuffled (rule 1.7). The order is for the record.
    AcquiresShuffled {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deck: Option<Box<Deck>>,
    },
    /// Rule 1.4. A viewer sees its own hand.
    Dealt { rotation: u8, hands: Box<Ring<Option<CardSet>>> },
    /// Rule 2.1: an opening that is paid. The sections are filled up (rule 1.4).
    Opened { seat: Seat, risk: u32, purchase: u32, sell: u32 },
    /// Rules 2.2, 4.1, 4.3 and 4.4.
    Paid { seat: Seat, chips: u32 },
    /// Rules 2.2 and 4.1: the new risk with its prices, and what the seat paid.
    Raised { seat: Seat, chips: u32, risk: u32, purchase: u32, sell: u32 },
    /// Rule 2.2: out of the game; its cards lie under the decks.
    Retreated { seat: Seat },
    /// Rule 2.3: the table stands still.
    Stopped { rotation: u8 },
    /// Rule 3: the seat's assessment begins. It alone sees the assets of the section before it.
    Assessing {
        seat: Seat,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assets: Option<Assets>,
    },
    /// Rule 3.1.
    Swapped { seat: Seat, slot: u8, taken: Face, discarded: Face },
    /// Rule 3.2.
    Purchased {
        seat: Seat,
        slot: u8,
        taken: Face,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        discarded: Option<Face>,
        /// 0 where a free purchase was spent.
        chips: u32,
    },
    /// Rule 3.3. An audit is seen by everybody.
    Acquired {
        seat: Seat,
        taken: Face,
        to: AcquireDestination,
        /// What a wild replaced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        discarded: Option<Face>,
        /// 0 where a free purchase was spent.
        chips: u32,
    },
    /// A free purchase went onto the pile (rule 1.3); the purchase follows.
    FreeSpent { seat: Seat },
    /// Rule 1.3: what an audit took.
    Audited { seat: Seat, chips: u32 },
    /// Rule 3.4. The seat sees its new hand.
    Sold {
        seat: Seat,
        slots: SlotSet,
        chips: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hand: Option<CardSet>,
    },
    /// Rule 1.3: the seat alone sees that section's assets.
    Revealed {
        seat: Seat,
        section: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assets: Option<Assets>,
    },
    /// Rule 1.3: taken from the pot.
    DividendTaken { seat: Seat, chips: u32 },
    /// The end of an assessment.
    Done { seat: Seat },
    /// Rules 3.5 and 4.1.
    Confronted { seat: Seat, chips: u32 },
    /// Rule 4.1: the confront has failed.
    Evaded { seat: Seat, chips: u32, discarded: EvadedCards },
    /// Rule 4.4.
    Indexed { seat: Seat, margin: u8, chips: u32, risk: u32, purchase: u32, sell: u32 },
    /// Rule 4.5.
    Leveraged { seat: Seat, percent: u8, chips: u32 },
    /// Rule 4.6: openly.
    BribeOffered {
        seat: Seat,
        to: Seat,
        #[serde(default, skip_serializing_if = "is_zero")]
        chips: u32,
        #[serde(default, skip_serializing_if = "has_none")]
        cards: CardSet,
    },
    /// Rule 4.6: the seat that was offered a bribe has answered.
    BribeAnswered { seat: Seat, accepted: bool },
    /// Rule 4.3: all that are still in show their hands.
    Shown { hands: Box<Ring<Option<ShownHand>>> },
    /// Rule 6: half chips of the pot by seat.
    Over { ending: GameEnding, winner: Seat, awards: Ring<u32> },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

const fn has_none(cards: &CardSet) -> bool {
    cards.is_empty()
}

impl Event {
    /// The seat that plays a kept acquire card with it, and of which kind that is. The first card of
    /// its kind is played, so that it need not be named.
    pub(super) const fn played_kept_card(&self) -> Option<(Seat, Acquire)> {
        match self {
            Self::FreeSpent { seat } => Some((*seat, Acquire::Free)),
            Self::Revealed { seat, .. } => Some((*seat, Acquire::Reveal)),
            Self::DividendTaken { seat, .. } => Some((*seat, Acquire::Dividend)),
            Self::DealerChosen { .. }
            | Self::AssetsShuffled { .. }
            | Self::AcquiresShuffled { .. }
            | Self::Dealt { .. }
            | Self::Opened { .. }
            | Self::Paid { .. }
            | Self::Raised { .. }
            | Self::Retreated { .. }
            | Self::Stopped { .. }
            | Self::Assessing { .. }
            | Self::Swapped { .. }
            | Self::Purchased { .. }
            | Self::Acquired { .. }
            | Self::Audited { .. }
            | Self::Sold { .. }
            | Self::Done { .. }
            | Self::Confronted { .. }
            | Self::Evaded { .. }
            | Self::Indexed { .. }
            | Self::Leveraged { .. }
            | Self::BribeOffered { .. }
            | Self::BribeAnswered { .. }
            | Self::Shown { .. }
            | Self::Over { .. } => None,
        }
    }

    /// What the viewer may see of it.
    #[must_use]
    pub(super) fn redact_for(&self, viewer: Viewer) -> Self {
        let own = match viewer {
            Viewer::Everything => return self.clone(),
            Viewer::Seat(seat) => Some(seat),
            Viewer::Public => None,
        };
        let mut seen = self.clone();
        match &mut seen {
            Self::AssetsShuffled { deck } | Self::AcquiresShuffled { deck } => *deck = None,
            Self::Dealt { hands, .. } => {
                let seats =
                    hands.by_seat().map(|(seat, _)| seat).collect::<arrayvec::ArrayVec<_, 8>>();
                for seat in seats.into_iter().filter(|seat| Some(*seat) != own) {
                    hands[seat] = None;
                }
            }
            Self::Assessing { seat, assets } | Self::Revealed { seat, assets, .. } => {
                *assets = assets.filter(|_| Some(*seat) == own);
            }
            Self::Swapped { seat, taken, discarded, .. } if Some(*seat) != own => {
                *taken = taken.face_down();
                *discarded = discarded.face_down();
            }
            Self::Purchased { seat, taken, discarded, .. } if Some(*seat) != own => {
                *taken = taken.face_down();
                *discarded = discarded.map(Face::face_down);
            }
            Self::Acquired { seat, taken, to, discarded, .. } if Some(*seat) != own => {
                if *to != AcquireDestination::Pile {
                    *taken = taken.face_down();
                }
                *discarded = discarded.map(Face::face_down);
            }
            Self::Sold { seat, hand, .. } => *hand = hand.filter(|_| Some(*seat) == own),
            Self::Evaded { seat, discarded, .. } if Some(*seat) != own => {
                *discarded = discarded.map(Face::face_down);
            }
            Self::DealerChosen { .. }
            | Self::Opened { .. }
            | Self::Paid { .. }
            | Self::Raised { .. }
            | Self::Retreated { .. }
            | Self::Stopped { .. }
            | Self::Swapped { .. }
            | Self::Purchased { .. }
            | Self::Acquired { .. }
            | Self::FreeSpent { .. }
            | Self::Audited { .. }
            | Self::DividendTaken { .. }
            | Self::Done { .. }
            | Self::Confronted { .. }
            | Self::Evaded { .. }
            | Self::Indexed { .. }
            | Self::Leveraged { .. }
            | Self::BribeOffered { .. }
            | Self::BribeAnswered { .. }
            | Self::Shown { .. }
            | Self::Over { .. } => {}
        }
        seen
    }
}
