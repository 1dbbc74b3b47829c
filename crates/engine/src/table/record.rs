//! The record of a finished game, from which anybody can verify its deal, every action and its
//! settlement without this code.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::chance::{ChanceAnswer, Commitment, Contribution, ServerSeed};
use crate::coins::Coins;
use crate::game::{Game, GameKind, Outcome};
use crate::seat::{Seat, SeatSet};
use crate::table::event::Crown;
use crate::table::id::{GameId, PlayerId, TableId};
use crate::table::settlement::Settlement;
use crate::table::terms::Terms;
use crate::table::time::Timestamp;

/// The version of the record's format.
pub const FORMAT: &str = "bahay/record/v1";

/// The origin of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionOrigin {
    Player,
    Clock,
    Ai,
}

/// An action of a game, as it was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedAction<A> {
    pub at: Timestamp,
    pub seat: Seat,
    pub by: ActionOrigin,
    pub action: A,
}

/// The record of a finished game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "G: GameKind"), deny_unknown_fields)]
pub struct Record<G: Game> {
    pub format: String,
    /// The version of the engine that played the game, such as `bahay/engine/v1`.
    pub engine: String,
    /// The game's name, such as `tongits`.
    pub kind: String,
    pub game: GameId,
    pub table: TableId,
    pub terms: Terms<G::Rules>,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    /// The seats of the house bots (rule 8.6).
    pub bots: SeatSet,
    pub opened_at: Timestamp,
    pub finished_at: Timestamp,
    /// The commitment to the server seed.
    pub commitment: Commitment,
    pub server_seed: ServerSeed,
    /// By seat, the commitment and the revealed text of each client, and the seed of the deal.
    pub clients: Vec<Contribution>,
    /// The seat that began because of an earlier win; `None` if chance decided (rule 2.2).
    pub starter: Option<Seat>,
    /// The answers of chance in order; for a card game they include the deck.
    pub chance: Vec<ChanceAnswer>,
    pub actions: Vec<RecordedAction<G::Action>>,
    pub outcome: Outcome,
    /// The coins that the ledger held for each seat.
    pub stakes: Vec<Coins>,
    pub settlement: Settlement,
    /// The POT including this game's antes.
    pub pot_before: Coins,
    pub pot_after: Coins,
    /// The crown before the game.
    pub crown_before: Option<Crown>,
    pub crown_after: Option<Crown>,
}
