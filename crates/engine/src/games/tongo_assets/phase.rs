//! Where a game stands, and the words for how it ends.

use serde::{Deserialize, Serialize};

use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::set::CardSet;
use crate::games::tongo_assets::strength::HandRank;
use crate::seat::Seat;

/// What is asked, and of whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsPhase"))]
pub enum Phase {
    /// Chance is to choose the dealer (rule 2.1).
    Dealer,
    /// The assets are to be shuffled (rule 1.7).
    Assets,
    /// The acquire cards are to be shuffled (rule 1.7).
    Acquires,
    /// The table is to be turned for the deal (rule 1.7).
    Deal,
    /// The seat opens a round, or retreats (rule 2.1); after the last round it confronts or retreats
    /// (rule 6.4).
    Open {
        seat: Seat,
    },
    /// The seat pays the risk, raises it or retreats (rule 2.2).
    Risk {
        seat: Seat,
    },
    /// The table is to be stopped (rule 2.3).
    Stop,
    /// The seat sees the section before it (rule 3).
    Assess {
        seat: Seat,
        /// It was shown its section.
        began: bool,
        swapped: bool,
        sold: bool,
        /// The section that it looked at last, by a reveal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        revealed: Option<u8>,
    },
    /// The seat answers the confront (rule 4.1); the confronter itself comes last (rule 4.3).
    Confront {
        seat: Seat,
        confronter: Seat,
    },
    /// The confront has failed: the seat settles its margin or its leverage (rules 4.4, 4.5), before
    /// the opener goes on.
    Debts {
        seat: Seat,
        confronter: Seat,
        opener: Seat,
    },
    /// All are about to show.
    Showdown {
        confronter: Seat,
    },
    /// One seat is left.
    LastIn {
        seat: Seat,
    },
    Over,
}

impl Phase {
    /// The seat whose turn it is.
    pub const fn seat(self) -> Option<Seat> {
        match self {
            Self::Open { seat }
            | Self::Risk { seat }
            | Self::Assess { seat, .. }
            | Self::Confront { seat, .. }
            | Self::Debts { seat, .. } => Some(seat),
            Self::Dealer
            | Self::Assets
            | Self::Acquires
            | Self::Deal
            | Self::Stop
            | Self::Showdown { .. }
            | Self::LastIn { .. }
            | Self::Over => None,
        }
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsEnding"))]
pub enum GameEnding {
    /// All others have retreated (rule 6.1).
    LastIn,
    /// The confronter had the strongest hand (rule 6.2).
    Acquisition,
    /// Another seat had it (rule 6.2).
    Showdown,
}

/// The end of a game. What a seat takes of the pot is in half chips (rule 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsEnd"))]
pub struct GameResult {
    pub ending: GameEnding,
    pub winner: Seat,
    pub awards: Ring<u32>,
}

/// A hand that is shown, and how it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsShown"))]
pub struct ShownHand {
    pub hand: CardSet,
    pub reading: HandRank,
}

/// A bribe that waits for its answer (rule 4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsBribe"))]
pub struct Offer {
    pub from: Seat,
    pub to: Seat,
    pub chips: u32,
    pub cards: CardSet,
}

/// What everybody knows of a seat. Amounts are chips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsPlayer"))]
pub struct PlayerState {
    pub chips: u32,
    /// In this round of risking or this confront (rule 2.2).
    pub paid: u32,
    /// It has had its turn in this round of risking.
    pub acted: bool,
    /// Assets in the hand, and wilds.
    pub assets: u8,
    pub wilds: u8,
    /// Acquire cards kept apart.
    pub kept: u8,
    /// On its pile.
    pub pile_assets: u8,
    pub pile_acquires: u8,
    /// In hundredths, of this confront (rule 4.4); 0 for none.
    pub margin: u8,
    /// What the margin borrowed.
    pub owes: u32,
    /// In hundredths, of this confront (rule 4.5); 0 for none.
    pub leverage: u8,
}

impl PlayerState {
    /// Cards in the hand.
    pub const fn hand(&self) -> u8 {
        self.assets + self.wilds
    }
}
