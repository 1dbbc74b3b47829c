//! What happens at a table, as its viewers are told. Game events are redacted for each viewer by
//! the game; the table's own are the same for everybody.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::chance::{Commitment, ServerSeed};
use crate::coins::Coins;
use crate::game::{Game, Hits, Viewer};
use crate::seat::Seat;
use crate::table::id::{GameId, PlayerId};
use crate::table::pot_refund::Share;
use crate::table::settlement::Settlement;
use crate::table::terms::{Clocks, Price};
use crate::table::time::Timestamp;

/// Something that happened at a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Event"))]
pub enum Event<E> {
    /// A player has sat down.
    Sat {
        seat: Seat,
        player: PlayerId,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        avatar: Option<String>,
        /// A bot of the house (rule 8.6).
        bot: bool,
    },
    /// A seat is free again.
    Left { seat: Seat, player: PlayerId, reason: Reason },
    /// Before a game opens: a player moves to a free seat with a lower number, so that those who
    /// play sit side by side.
    Moved { seat: Seat, to: Seat },
    /// A player is there, or is away (rule 8.3).
    Presence { seat: Seat, connected: bool },
    /// The AI plays a seat from here on, or no longer (rule 8.3).
    Takeover { seat: Seat, on: bool },
    /// The table waits for players.
    Waiting,
    /// The seats are asked to be ready, and the deal is committed to (rule 9.1).
    Preparing { game: GameId, commitment: Commitment, deadline_ms: Timestamp },
    /// A seat is ready.
    Ready { seat: Seat },
    /// All who sit here are ready: antes and stakes are taken.
    Opening { game: GameId },
    /// Coins are held; the seats whose client committed to a seed are asked for its text, until
    /// then (rule 9.1).
    Revealing {
        game: GameId,
        /// By seat; zeros where a client takes no part.
        commitments: Vec<Commitment>,
        pot: Coins,
        deadline_ms: Timestamp,
    },
    /// A seat has revealed its text, which the record will show.
    Revealed { seat: Seat },
    /// The game is dealt and begins; coins are held. No `starter`: chance decides who begins (rule 2.2).
    Opened { game: GameId, stakes: Vec<Coins>, pot: Coins, starter: Option<Seat> },
    /// Something in the game.
    Game { event: E },
    /// A countdown has begun; when it ends the clock plays.
    Countdown { deadline_ms: Timestamp },
    /// The game is over: its settlement, and the seed to check the deal with.
    Over { game: GameId, settlement: Settlement, server_seed: ServerSeed },
    /// The coins have moved and the record is stored.
    Settled { game: GameId, pot: Coins, crown: Option<Crown> },
    /// At a private table coins went out of the POT, back to those who had paid them (rule 7.4).
    PotRefunded {
        /// What is left in it.
        pot: Coins,
        shares: Vec<Share>,
    },
    /// The room has changed: the next game is played by these terms.
    TermsUpdated {
        price: Price,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hits: Option<Hits>,
        clocks: Clocks,
    },
}

/// A run of wins at this table (rule 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Crown {
    pub player: PlayerId,
    /// The number on the crown: wins in a row.
    pub wins: u8,
}

impl Crown {
    /// After a win by this player (rule 7.2), before the POT is taken.
    pub(super) fn after_win(crown: Option<Self>, winner: PlayerId) -> Self {
        match crown {
            Some(Self { player, wins }) if player == winner => {
                Self { player, wins: wins.saturating_add(1) }
            }
            Some(_) | None => Self { player: winner, wins: 1 },
        }
    }
}

/// Why a player no longer sits at a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "LeftReason"))]
pub enum Reason {
    /// The player left.
    Left,
    /// The player was not ready in time (rule 8.1).
    NotReady,
    /// The player was away for too long while the table waited.
    Absent,
    /// The player cannot pay ante and stake.
    CannotPay,
    /// The host of a private table has removed the player.
    Removed,
    /// The room was closed, or changed to other rules.
    Closed,
}

impl<E> Event<E> {
    /// What the viewer may see of this; `None` when it may not see that it happened.
    pub fn redact<G: Game<Event = E>>(&self, viewer: Viewer) -> Option<Self>
    where
        E: Clone,
    {
        match self {
            Self::Game { event } => G::redact(event, viewer).map(|event| Self::Game { event }),
            Self::Sat { .. }
            | Self::Left { .. }
            | Self::Moved { .. }
            | Self::Presence { .. }
            | Self::Takeover { .. }
            | Self::Waiting
            | Self::Preparing { .. }
            | Self::Ready { .. }
            | Self::Opening { .. }
            | Self::Revealing { .. }
            | Self::Revealed { .. }
            | Self::Opened { .. }
            | Self::Countdown { .. }
            | Self::Over { .. }
            | Self::Settled { .. }
            | Self::PotRefunded { .. }
            | Self::TermsUpdated { .. } => Some(self.clone()),
        }
    }
}
