//! The phases of a game, and the types of its end.

use serde::{Deserialize, Serialize};

use crate::games::tongo_assets::card::CardSet;
use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::strength::HandRank;
use crate::seat::Seat;

/// The phase of a game, with the seat that is prompted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "TongoAssetsPhase", tag = "type")
)]
pub enum Phase {
    /// Chance chooses the dealer (rule 2.1).
    Dealer,
    /// The assets are shuffled (rule 1.7).
    Assets,
    /// The acquire cards are shuffled (rule 1.7).
    Acquires,
    /// The table is turned for the deal (rule 1.7).
    Deal,
    /// The seat opens a round or retreats (rule 2.1); after the last round it confronts or retreats
    /// (rule 6.4).
    Open {
        seat: Seat,
    },
    /// The seat pays the risk, raises it or retreats (rule 2.2).
    Risk {
        seat: Seat,
    },
    /// The table is stopped (rule 2.3).
    Stop,
    /// The seat assesses the section before it (rule 3).
    Assess {
        seat: Seat,
        /// True if the seat has been shown its section.
        began: bool,
        swapped: bool,
        sold: bool,
        /// The section that the seat looked at last by a reveal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        revealed: Option<u8>,
    },
    /// The seat answers the confront (rule 4.1); the confronter comes last (rule 4.3).
    Confront {
        seat: Seat,
        confronter: Seat,
    },
    /// The confront has failed: the seat settles its margin or its leverage (rules 4.4 and 4.5)
    /// before the opener continues.
    Debts {
        seat: Seat,
        confronter: Seat,
        opener: Seat,
    },
    /// All seats show their hands next.
    Showdown {
        confronter: Seat,
    },
    /// One seat is left.
    LastIn {
        seat: Seat,
    },
    Over,
}

tagged!(Phase);

impl Phase {
    /// Returns the seat whose turn it is.
    pub const fn seat(self) -> Option<Seat> {
        match self {
            Self::Open { seat }
            | Self::Risk { seat }
            | Self::Assess { seat, .. }
            | Self::Confront { seat, .. }
            | Self::Debts { seat, .. } => Some(seat),
            variants!(Self: Dealer, Assets, Acquires, Deal, Stop, Showdown, LastIn, Over) => None,
        }
    }
}

/// The ending of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsEnding"))]
pub enum GameEnding {
    /// All other seats have retreated (rule 6.1).
    LastIn,
    /// The confronter has the strongest hand (rule 6.2).
    Acquisition,
    /// Another seat has the strongest hand (rule 6.2).
    Showdown,
}

/// The result of a game. Awards are in half chips (rule 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsEnd"))]
pub struct GameResult {
    pub ending: GameEnding,
    pub winner: Seat,
    pub awards: Ring<u32>,
}

/// A shown hand with its rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsShown"))]
pub struct ShownHand {
    pub hand: CardSet,
    pub reading: HandRank,
}

/// A pending bribe (rule 4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsBribe"))]
pub struct Offer {
    pub from: Seat,
    pub to: Seat,
    pub chips: u32,
    pub cards: CardSet,
}

/// The public state of a seat. Amounts are in chips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsPlayer"))]
pub struct PlayerState {
    pub chips: u32,
    /// The payment in this round of risking or this confront (rule 2.2).
    pub paid: u32,
    /// True if the seat has had its turn in this round of risking.
    pub acted: bool,
    /// The number of assets in the hand.
    pub assets: u8,
    pub wilds: u8,
    /// The number of kept acquire cards.
    pub kept: u8,
    /// The number of assets on the pile.
    pub pile_assets: u8,
    pub pile_acquires: u8,
    /// The margin of this confront in hundredths (rule 4.4); 0 for none.
    pub margin: u8,
    /// The amount borrowed by the margin.
    pub owes: u32,
    /// The leverage of this confront in hundredths (rule 4.5); 0 for none.
    pub leverage: u8,
}

impl PlayerState {
    /// Returns the number of cards in the hand.
    pub const fn hand(&self) -> u8 {
        self.assets + self.wilds
    }
}
