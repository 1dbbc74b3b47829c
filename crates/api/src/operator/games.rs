//! A game in full: as booked, and as recomputed from its record.

use bahay_base::states::GameState;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::ledger::Operation;
use crate::operation::operations;
use crate::player::games::GameStep;
use crate::values::{Coins, IdText, Time};

operations! {
    /// Show a game
    ///
    /// As booked, with the result of verifying its record, and without cards. For operators of
    /// every role.
    SHOW_DOSSIER = Get "/v1/operator/games/{id}", Operators, Operator {
        path id: IdText = "The game",
        200 json Dossier: "The game",
        refuses GameNotFound ArchiveUnreachable,
    }

    /// Replay a game
    ///
    /// Step by step, with all hands. Each view is recorded in the audit log. For the roles
    /// `support` and `admin`.
    REPLAY_GAME = Get "/v1/operator/games/{id}/steps", Operators, Operator {
        path id: IdText = "The game",
        200 json Replay: "Every step",
        refuses OperatorRoleMissing GameNotFound GameNotFinished GameVoided ArchiveUnreachable,
    }
}

/// A game with everything that was booked for it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Dossier {
    pub id: Uuid,
    pub table: Uuid,
    #[schema(example = "newbie")]
    pub room: String,
    #[schema(inline)]
    pub state: GameState,
    /// The way in which the game ended; null until it was settled and projected.
    #[schema(required = true)]
    pub ending: Option<String>,
    /// The coins that each seat paid into the POT.
    pub ante: Coins,
    pub seats: Vec<DossierSeat>,
    /// By the house's clock, as deadlines are.
    pub opened_at: Time,
    #[schema(required = true)]
    pub finished_at: Option<Time>,
    /// The reason why the game was voided; null unless it was.
    #[schema(required = true)]
    pub void_reason: Option<String>,
    /// The settlement that the ledger stored: the schema `Settlement` of asyncapi.yaml. Null unless
    /// the game is settled.
    #[schema(required = true, value_type = Option<Object>)]
    pub settlement: Option<Value>,
    /// The time at which a reversal of the settlement was booked; null without one.
    #[schema(required = true)]
    pub reversed_at: Option<Time>,
    pub verdict: Verdict,
    /// The opening, the settlement or void, and their reversals, with their transfers; oldest
    /// first.
    pub operations: Vec<Operation>,
}

/// A seat of a game.
#[derive(Debug, Serialize, ToSchema)]
pub struct DossierSeat {
    /// From 0.
    #[schema(maximum = 7)]
    pub seat: u8,
    pub player: Uuid,
    /// The player's current name.
    #[schema(example = "Maria")]
    pub name: String,
    /// The most that the seat could lose in addition to the ante.
    pub stake: Coins,
    /// The change of the player's coins, without the ante; null while the game is open, and 0 once
    /// the settlement is reversed.
    #[schema(required = true)]
    pub net: Option<Coins>,
}

/// Every step of a finished game, with all hands.
#[derive(Debug, Serialize, ToSchema)]
pub struct Replay {
    pub game: Uuid,
    pub steps: Vec<GameStep>,
}

/// The result of verifying the game's record.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The deal follows from the seeds, every action from the rules, and the settlement from both.
    Holds {
        actions: u64,
        /// The settlement as recomputed from the record: the schema `Settlement` of asyncapi.yaml.
        #[schema(value_type = Object)]
        recomputed: Value,
        /// True if the ledger stored the same settlement.
        is_booked: bool,
    },
    /// The record fails verification; `fault` describes where.
    Fails { fault: String },
    /// There is no record, because only settled games have one.
    NoRecord,
}
