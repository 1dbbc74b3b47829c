//! The events of a table, as its viewers receive them. The game redacts its own events for each
//! viewer. Of the table's events only a seat's part in the opening is for that seat alone.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::DeserializeOwned;
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

/// An event at a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Event", tag = "type")
)]
pub enum Event<E> {
    /// A player has taken a seat.
    Sat {
        seat: Seat,
        player: PlayerId,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        avatar: Option<String>,
        /// True if a house bot sits there (rule 8.6).
        bot: bool,
    },
    /// A seat has become free.
    Left { seat: Seat, player: PlayerId, reason: Reason },
    /// A player has moved to a free seat with a lower number before a game opens, so that the seats
    /// of a game have no gaps.
    Moved { seat: Seat, to: Seat },
    /// A player has connected, or is away (rule 8.3).
    Presence { seat: Seat, connected: bool },
    /// The AI has taken over a seat, or has given it back (rule 8.3).
    Takeover { seat: Seat, on: bool },
    /// The table waits for players.
    Waiting,
    /// The seats are asked to be ready, and the deal commitment is published (rule 9.1).
    Preparing { game: GameId, commitment: Commitment, deadline_ms: Timestamp },
    /// A seat is ready, as only the seat itself is shown. `opening` shows everybody that all seats
    /// are ready.
    Ready { seat: Seat },
    /// All seated players are ready, and the ledger takes antes and stakes.
    Opening { game: GameId },
    /// Coins are held. The seats whose client has committed to a seed have until the deadline to
    /// reveal its text (rule 9.1).
    Revealing {
        game: GameId,
        /// The commitments by seat; zeros for a client that does not take part.
        commitments: Vec<Commitment>,
        pot: Coins,
        deadline_ms: Timestamp,
    },
    /// A seat has revealed its text, which the record will contain. Only the seat itself is shown
    /// this.
    Revealed { seat: Seat },
    /// The game has been dealt and begins; coins are held. Without a `starter` chance decides who
    /// begins (rule 2.2).
    Opened { game: GameId, stakes: Vec<Coins>, pot: Coins, starter: Option<Seat> },
    /// An event of the game.
    Game { event: E },
    /// A countdown has begun; at its end the clock plays.
    Countdown { deadline_ms: Timestamp },
    /// The game is over, with its settlement and the seed to verify the deal.
    Over {
        game: GameId,
        settlement: Settlement,
        /// `None` at a table of a duplicate tournament: the seed is shown when the round is over at
        /// all tables.
        server_seed: Option<ServerSeed>,
    },
    /// The coins have been transferred and the record is stored.
    Settled { game: GameId, pot: Coins, crown: Option<Crown> },
    /// Coins of a private table's POT have been refunded to those who had paid them (rule 7.4).
    PotRefunded {
        /// The balance of the POT after the refund.
        pot: Coins,
        shares: Vec<Share>,
    },
    /// The room has changed; the next game is played under these terms.
    TermsUpdated {
        price: Price,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hits: Option<Hits>,
        clocks: Clocks,
    },
}

tagged!(Event<E>, E: Serialize, DeserializeOwned);

/// A run of wins at a table (rule 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Crown {
    pub player: PlayerId,
    /// The number of wins in a row, as shown on the crown.
    pub wins: u8,
}

impl Crown {
    /// Returns the crown after a win by this player, before the POT is taken (rule 7.2).
    pub(super) fn after_win(crown: Option<Self>, winner: PlayerId) -> Self {
        match crown {
            Some(Self { player, wins }) if player == winner => {
                Self { player, wins: wins.saturating_add(1) }
            }
            Some(_) | None => Self { player: winner, wins: 1 },
        }
    }
}

/// The reason why a player no longer sits at a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "LeftReason"))]
pub enum Reason {
    /// The player has left.
    Left,
    /// The player was not ready in time (rule 8.1).
    NotReady,
    /// The player was away for too long while the table waited.
    Absent,
    /// The player cannot pay ante and stake.
    CannotPay,
    /// The host of a private table has removed the player.
    Removed,
    /// The room was closed, or has another rule set.
    Closed,
    /// The last game of a tournament's table is over.
    Finished,
}

impl<E> Event<E> {
    /// Redacts the event for a viewer; `None` if the viewer may not know that it happened.
    pub fn redact<G: Game<Event = E>>(&self, viewer: Viewer) -> Option<Self>
    where
        E: Clone,
    {
        match self {
            Self::Game { event } => G::redact(event, viewer).map(|event| Self::Game { event }),
            Self::Ready { seat } | Self::Revealed { seat } => {
                viewer.sees(*seat).then(|| self.clone())
            }
            variants!(Self: Sat, Left, Moved, Presence, Takeover, Waiting, Preparing, Opening,
                Revealing, Opened, Countdown, Over, Settled, PotRefunded,
                TermsUpdated) => Some(self.clone()),
        }
    }
}
