//! Tournaments that operators announce and cancel.

use bahay_base::reason::Reason;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::operation::operations;
use crate::player::tournaments::Tournament;
use crate::values::{Coins, IdText, ReasonText};

operations! {
    /// Announce a tournament
    ///
    /// A preset determines the format, the bounds on entrants and the payouts. The detail of
    /// `tournament_unsound` states the field. For the role `admin`.
    ANNOUNCE_TOURNAMENT = Post "/v1/operator/tournaments", Operators, Operator {
        headers RequiredKey,
        body AnnounceTournament,
        201 json Tournament: "The tournament",
        refuses TournamentUnsound,
    }

    /// Preview the cancellation of a tournament
    ///
    /// The amounts that the players would receive if the tournament was cancelled now. For operators
    /// of every role.
    PREVIEW_CANCELLATION = Get "/v1/operator/tournaments/{id}/cancellation", Operators, Operator {
        path id: IdText = "The tournament",
        200 json Cancellation: "The amounts by player",
        refuses TournamentNotFound TournamentOver,
    }

    /// Cancel a tournament
    ///
    /// Ends its tables and pays the amounts of the preview, by the rules on cancellations. For the
    /// role `admin`.
    CANCEL_TOURNAMENT = Post "/v1/operator/tournaments/{id}/cancellation", Operators, Operator {
        path id: IdText = "The tournament",
        headers RequiredKey,
        body CancelTournament,
        200 json Cancellation: "The amounts by player",
        refuses TournamentNotFound TournamentOver,
    }
}

/// A request to announce a tournament.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnounceTournament {
    /// The name of a preset, such as `sit_and_go_3`, `championship` or `arena_hour`.
    #[schema(max_length = 32, example = "sit_and_go_3")]
    pub preset: String,
    #[schema(max_length = 80, example = "Three in a ring")]
    pub name: String,
    /// The game's kind.
    #[serde(default)]
    #[schema(max_length = 32, example = "tongits")]
    pub kind: Option<String>,
    /// One of the game's rule sets; its first by default.
    #[serde(default)]
    #[schema(max_length = 32, example = "kingdom")]
    pub rule_set: Option<String>,
    /// The part of the price that goes into the pool, in hundredths of a coin.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100_000_000, example = 5_000)]
    pub buy_in: i64,
    /// The part of the price that the house keeps, in hundredths of a coin.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100_000_000, example = 500)]
    pub fee: i64,
    /// The minimum of the pool, in hundredths of a coin.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100_000_000_000_i64, example = 20_000)]
    pub guarantee: i64,
    /// The time until the start, in seconds; absent for a sit-and-go.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub starts_in_s: Option<u32>,
    /// The code by which players register; absent for a public tournament.
    #[serde(default)]
    #[schema(min_length = 4, max_length = 16, pattern = "^[A-Z0-9]{4,16}$", example = "K7MWQ2XA")]
    pub code: Option<String>,
}

/// A request to cancel a tournament.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelTournament {
    /// The reason, which is stored in the audit log.
    #[schema(value_type = ReasonText)]
    pub reason: Reason,
}

/// The payments of a cancellation.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Cancellation {
    pub refunds: Vec<TournamentRefund>,
}

/// The amount that a player receives.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentRefund {
    pub player: Uuid,
    pub amount: Coins,
}
