//! The inputs of a tournament and the lines of its journal.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::matchmaking::ConflictKey;
use crate::table::{PlayerId, Timestamp};
use crate::tournament::id::TableNumber;
use crate::tournament::transfer::TransferKey;

/// An input of a tournament.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Input {
    /// A player registers, before the start or in the late registration (rules 1.2 and 1.5).
    Register {
        player: PlayerId,
        name: String,
        /// True if the player enters by a pass and not by coins (rule 1.6).
        pass: bool,
        /// True for a house bot (rule 1.7).
        bot: bool,
        /// Digests of devices and networks. Two players with one in common are kept apart (rule
        /// 2.5).
        conflict_keys: Vec<ConflictKey>,
    },
    /// A player withdraws before the start and gets the entry back (rule 1.4).
    Withdraw {
        player: PlayerId,
    },
    /// A player of an arena tournament is not paired until `Resume` (rule 4.5).
    Pause {
        player: PlayerId,
    },
    Resume {
        player: PlayerId,
    },
    /// The host has opened a table.
    TableOpened {
        table: TableNumber,
    },
    /// A game of a table has ended, with the points of its players in any order (rule 2.6).
    GameScored {
        table: TableNumber,
        /// The number of the game at the table, from 1.
        game: u32,
        scores: Vec<GameScore>,
    },
    /// A table has ended; the games that it has not reported do not count (rule 2.7).
    TableEnded {
        table: TableNumber,
    },
    /// The house cancels the tournament (chapter 7).
    Cancel {
        reason: CancelReason,
    },
    /// The ledger has booked a transfer.
    Transferred {
        transfer: TransferKey,
    },
    /// The ledger refuses an entry, because the player cannot pay it (rule 1.3).
    EntryRefused {
        player: PlayerId,
        number: u32,
    },
    /// Time has passed.
    Tick,
}

/// The points of one player in one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameScore {
    pub player: PlayerId,
    /// Hundredths of a point; the points of a game sum to zero.
    pub points: Coins,
    /// True if the AI played for the player when the game ended. An arena tournament then pauses
    /// the player (rule 4.5).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_absent: bool,
}

/// The reason for which a tournament was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CancelReason {
    /// Fewer players than required had entered at the start (rule 2.2).
    TooFew,
    /// The house has cancelled the tournament.
    House,
}

/// An accepted input, as the journal stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub at: Timestamp,
    pub input: Input,
}
