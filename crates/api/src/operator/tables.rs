//! Tables as operators view and stop them, and POTs whose table no longer exists.

use bahay_base::reason::Reason;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::operation::operations;
use crate::values::{Coins, IdText, ReasonText, Time};

operations! {
    /// List a room's tables
    ///
    /// For operators of every role.
    LIST_TABLES = Get "/v1/operator/tables", Operators, Operator {
        query TablesQuery,
        200 json BusyTables: "The tables with players",
    }

    /// List halted tables and lost POTs
    ///
    /// A POT is lost if its table no longer exists. For operators of every role.
    LIST_STRANDED = Get "/v1/operator/stranded", Operators, Operator {
        200 json StrandedTables: "Halted tables and lost POTs",
    }

    /// Show a table
    ///
    /// The public view, without hands. For operators of every role.
    SHOW_OPERATED_TABLE = Get "/v1/operator/tables/{id}", Operators, Operator {
        path id: IdText = "The table",
        200 json PublicTable: "The public view",
        refuses TableNotFound TableHalted,
    }

    /// View hidden cards
    ///
    /// Those of the running game. The act is recorded in the audit log before anything is returned.
    /// For the role `admin`, in a session with the second factor.
    VIEW_HANDS = Post "/v1/operator/tables/{id}/hands-look", Operators, Operator {
        path id: IdText = "The table",
        body TableReason,
        200 json RevealedHands: "The full view",
        refuses OperatorRoleMissing SecondFactorMissing TableNotFound NoGame TableHalted,
    }

    /// Void a table
    ///
    /// Ends the table in any state: its open game is voided, all coins of the game and the POT of
    /// earlier games are refunded, and its players become free. A repetition completes an interrupted
    /// call, even if the table is gone. With `expected_game`, nothing is changed if another game is
    /// open. For the role `admin`, in a session with the second factor.
    VOID_TABLE = Post "/v1/operator/tables/{id}/voiding", Operators, Operator {
        path id: IdText = "The table",
        headers RequiredKey,
        body VoidTable,
        200 json VoidedTable: "The table has ended",
        refuses SecondFactorMissing TableNotFound TableLive GameChanged,
    }

    /// Release a halted table
    ///
    /// The table plays on, provided that its journal can be replayed. For the role `admin`, in a
    /// session with the second factor.
    RELEASE_TABLE = Post "/v1/operator/tables/{id}/release", Operators, Operator {
        path id: IdText = "The table",
        headers RequiredKey,
        204 empty (): "The table is released",
        refuses SecondFactorMissing TableNotFound NotHalted TableBroken,
    }

    /// Refund a lost POT
    ///
    /// The coins go back to the players who paid them; the table no longer exists. For the role
    /// `admin`, in a session with the second factor.
    REFUND_LOST_POT = Post "/v1/operator/tables/{id}/pot-refund", Operators, Operator {
        path id: IdText = "The table",
        headers RequiredKey,
        200 json PotShares: "The refunded shares",
        refuses SecondFactorMissing TableLive PotEmpty,
    }
}

/// A query for the tables of a room.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TablesQuery {
    /// A room's id.
    #[param(max_length = 32, pattern = "^[a-z][a-z0-9-]{0,31}$", example = "newbie")]
    pub room: String,
}

/// A table with at least one player.
#[derive(Debug, Serialize, ToSchema)]
pub struct BusyTable {
    pub table: Uuid,
    /// The number of players at the table.
    #[schema(maximum = 8)]
    pub players: u8,
}

/// The tables of a room with at least one player, at most 200, by descending number of players.
#[derive(Debug, Serialize, ToSchema)]
pub struct BusyTables {
    pub items: Vec<BusyTable>,
}

/// The public view of a table.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublicTable {
    /// The schema `TableView` of asyncapi.yaml, as a spectator sees it.
    #[schema(value_type = Object)]
    pub view: Value,
}

/// The full view of a running game.
#[derive(Debug, Serialize, ToSchema)]
pub struct RevealedHands {
    /// The schema `TongitsView` of asyncapi.yaml, with every hand and the stock.
    #[schema(value_type = Object)]
    pub view: Value,
}

/// A halted table.
#[derive(Debug, Serialize, ToSchema)]
pub struct HaltedTable {
    pub table: Uuid,
    #[schema(required = true)]
    pub room: Option<String>,
    /// The table's open game.
    #[schema(required = true)]
    pub game: Option<Uuid>,
    pub reason: String,
    pub halted_at: Time,
}

/// The POT of a table that no longer exists.
#[derive(Debug, Serialize, ToSchema)]
pub struct LostPot {
    pub table: Uuid,
    pub pot: Coins,
    /// The end of the table's last game.
    pub finished_at: Time,
}

/// Halted tables and lost POTs, which wait for an operator.
#[derive(Debug, Serialize, ToSchema)]
pub struct StrandedTables {
    /// Ordered by the time of the halt, oldest first.
    pub halted: Vec<HaltedTable>,
    /// Ordered by the time of the last game, oldest first.
    pub lost_pots: Vec<LostPot>,
}

/// The reason for an order about a table.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TableReason {
    /// The reason, which is stored with the audit entry and with a voided game.
    #[schema(value_type = ReasonText)]
    pub reason: Reason,
}

/// An order to void a table.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VoidTable {
    /// The reason, which is stored with the audit entry and with a voided game.
    #[schema(value_type = ReasonText)]
    pub reason: Reason,
    /// The open game as the caller last read it; null for none. It is compared with the open game
    /// before the table stops; a game that begins in between, within milliseconds, is voided too.
    #[serde(default, deserialize_with = "deserialize_given")]
    #[schema(value_type = Option<Uuid>, required = false)]
    pub expected_game: Option<ExpectedGame>,
}

/// The open game that a caller expects at a table, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ExpectedGame(pub Option<Uuid>);

/// Deserializes a field that is given, whose null is a value.
fn deserialize_given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ExpectedGame>, D::Error> {
    ExpectedGame::deserialize(deserializer).map(Some)
}

/// The result of voiding a table.
#[derive(Debug, Serialize, ToSchema)]
pub struct VoidedTable {
    /// The game whose coins were refunded; null if none was open.
    #[schema(required = true)]
    pub game: Option<Uuid>,
    /// The refunded coins by player.
    pub refunds: Vec<PlayerRefund>,
}

/// The coins that a player got back from a voided table.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlayerRefund {
    pub player: Uuid,
    /// The stake in the voided game.
    pub stake: Coins,
    /// The ante of the voided game.
    pub ante: Coins,
    /// The share of the POT of earlier games.
    pub pot: Coins,
}

/// The result of refunding a POT.
#[derive(Debug, Serialize, ToSchema)]
pub struct PotShares {
    pub shares: Vec<PotShare>,
}

/// A player's share of a refunded POT.
#[derive(Debug, Serialize, ToSchema)]
pub struct PotShare {
    pub player: Uuid,
    pub amount: Coins,
}
