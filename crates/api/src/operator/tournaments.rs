//! Tournaments that operators announce, watch and cancel.

use bahay_base::clock::BoundedTimestamp;
use bahay_base::ids::GameName;
use bahay_base::reason::Reason;
use bahay_base::states::TournamentState;
use bahay_engine::hex::Hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::operator::players::SharedSignal;
use crate::player::tournaments::{Tournament, TournamentResults, TournamentStanding};
use crate::values::{Coins, GameNameText, IdText, ReasonText, Time};

/// The maximum number of steps of the payouts in a request.
pub const PAYOUT_STEPS_MAX: usize = 16;

/// The maximum number of places of a step in a request.
pub const PAYOUT_SHARES_MAX: usize = 500;

operations! {
    /// Announce a tournament
    ///
    /// A preset determines the format and the bounds on entrants, and the payouts unless the request
    /// has some. The detail of `tournament_unsound` states the field. Guarantees of one operator that
    /// add up to more than a setting of the server on a day of the house are refused with
    /// `tournament_approval_required`: request the tournament instead. For the role `admin`.
    ANNOUNCE_TOURNAMENT = Post "/v1/operator/tournaments", Operators, Operator {
        headers RequiredKey,
        body AnnounceTournament,
        201 json Tournament: "The tournament",
        refuses TournamentUnsound TournamentApprovalRequired,
    }

    /// List the tournaments for operators
    ///
    /// Newest first, with private ones. For operators of every role.
    LIST_OPERATED_TOURNAMENTS = Get "/v1/operator/tournaments", Operators, Operator {
        query PageQuery<OperatedTournamentFilter>,
        200 page OperatedTournament: "A page of tournaments",
    }

    /// Show a tournament to operators
    ///
    /// For operators of every role.
    SHOW_OPERATED_TOURNAMENT = Get "/v1/operator/tournaments/{id}", Operators, Operator {
        path id: IdText = "The tournament",
        200 json OperatedTournamentDetail: "The tournament, with its terms, coins and tables",
        refuses TournamentNotFound,
    }

    /// List the standings of a tournament for operators
    ///
    /// The best first. Equal scores share a rank. For operators of every role.
    LIST_OPERATED_STANDINGS = Get "/v1/operator/tournaments/{id}/standings", Operators, Operator {
        path id: IdText = "The tournament",
        query PageQuery,
        200 page TournamentStanding: "A page of players",
        refuses TournamentNotFound,
    }

    /// List the results of a tournament for operators
    ///
    /// The list that `docs/verify_tournament.py` checks, in order. For operators of every role.
    LIST_OPERATED_RESULTS = Get "/v1/operator/tournaments/{id}/results", Operators, Operator {
        path id: IdText = "The tournament",
        query PageQuery,
        200 page TournamentResults: "A page of results",
        refuses TournamentNotFound,
    }

    /// List the pairs of a tournament
    ///
    /// At most 100 pairs of players who met at least twice, those with the strongest signs of
    /// collusion first. For operators of every role.
    LIST_TOURNAMENT_PAIRS = Get "/v1/operator/tournaments/{id}/pairs", Operators, Operator {
        path id: IdText = "The tournament",
        200 json TournamentPairs: "The pairs",
        refuses TournamentNotFound,
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
    /// Ends its tables and pays the players by the rules on cancellations. With the `digest` of the
    /// preview, exactly its amounts are paid: if they have changed since, nothing is cancelled. For
    /// the role `admin`.
    CANCEL_TOURNAMENT = Post "/v1/operator/tournaments/{id}/cancellation", Operators, Operator {
        path id: IdText = "The tournament",
        headers RequiredKey,
        body CancelTournament,
        200 json Cancellation: "The amounts by player",
        refuses TournamentNotFound TournamentOver CancellationChanged,
    }
}

/// A request to announce a tournament.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
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
    /// True if a player may enter by a pass instead of coins.
    #[serde(default)]
    pub accepts_passes: bool,
    /// The minimum of the pool, in hundredths of a coin.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100_000_000_000_i64, example = 20_000)]
    pub guarantee: i64,
    /// The shares of the places in steps by the number of entrants; those of the preset by default.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 16)]
    pub payouts: Option<Vec<PayoutStep>>,
    /// The time until the start, in seconds; absent for a sit-and-go.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub starts_in_s: Option<u32>,
    /// The time of the start, instead of `starts_in_s`.
    #[serde(default)]
    #[schema(value_type = Option<Time>)]
    pub starts_at: Option<BoundedTimestamp>,
    /// The time after the start in which players may still register, in seconds.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 86_400, example = 600)]
    pub late_registration_s: u32,
    /// The time between two rounds, in seconds; 10 by default.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 86_400, example = 10)]
    pub break_s: Option<u32>,
    /// True if house bots complete the entrants, without prizes.
    #[serde(default)]
    pub bots: bool,
    /// The time for which the first player of a sit-and-go waits before bots complete it, in seconds.
    /// By default that of the preset: 30 for 3 players, 60 for 9, 120 for 27. Absent without bots,
    /// and for all other tournaments, whose minimum bots complete at the start.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 86_400, example = 60)]
    pub bots_after_s: Option<u32>,
    /// The code by which players register; absent for a public tournament.
    #[serde(default)]
    #[schema(min_length = 4, max_length = 16, pattern = "^[A-Z0-9]{4,16}$", example = "K7MWQ2XA")]
    pub code: Option<String>,
}

/// The shares of the places from a number of entrants on.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PayoutStep {
    /// The least number of entrants, without bots, to which the step applies; 0 in the first step.
    #[schema(minimum = 0, maximum = 20_000, example = 0)]
    pub entrants_from: u32,
    /// The weights of the places, from the first; never ascending, each 1 to 1,000,000.
    #[schema(min_items = 1, max_items = 500, example = json!([50, 30, 20]))]
    pub shares: Vec<u32>,
}

/// Selects tournaments.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OperatedTournamentFilter {
    /// Restricts the list to tournaments in this state.
    #[param(inline)]
    pub state: Option<TournamentState>,
    /// Restricts the list to tournaments of this format.
    #[param(inline)]
    pub format: Option<TournamentFormat>,
    /// Restricts the list to a game.
    #[param(value_type = Option<GameNameText>, inline, example = "tongits")]
    pub kind: Option<GameName>,
}

bahay_base::text_enum! {
    /// The way in which a tournament is played.
    #[derive(ToSchema)]
    pub enum TournamentFormat {
        SitAndGo = "sit_and_go",
        KnockOut = "knock_out",
        Arena = "arena",
        Duplicate = "duplicate",
    }
}

/// A tournament for operators.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OperatedTournament {
    #[serde(flatten)]
    pub tournament: Tournament,
    pub is_private: bool,
    pub announced_at: Time,
    /// The sum of the prizes; null until registration is closed.
    #[schema(required = true)]
    pub pool: Option<Coins>,
    /// The coins that the house has earned with it: fees less guarantees and passes, negative if it
    /// has paid more.
    pub house_result: Coins,
    /// True if a transfer or a table has been due for minutes.
    pub is_stuck: bool,
}

/// A tournament for operators, with its terms, coins and tables.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OperatedTournamentDetail {
    #[serde(flatten)]
    pub tournament: OperatedTournament,
    /// The terms, as the list of results has them.
    #[schema(value_type = Object)]
    pub terms: Value,
    /// The code by which players register; null unless it is private.
    #[schema(required = true)]
    pub code: Option<String>,
    /// The last round that has begun, from 1; 0 before the first.
    pub round: u32,
    /// The prizes from the first place; empty until registration is closed.
    pub prizes: Vec<Coins>,
    /// The SHA-256 of the seed of all draws.
    pub commitment: String,
    /// The seed of all draws; null until the tournament is over.
    #[schema(required = true)]
    pub seed: Option<String>,
    /// The transfers of the tournament's account by code. Their amounts add up to the balance.
    pub transfers: Vec<TournamentTransfers>,
    /// The balance of the tournament's account; 0 once everything is paid.
    pub balance: Coins,
    /// The tables in play.
    pub tables: Vec<OperatedTournamentTable>,
}

/// The transfers of a tournament's account that have the same code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TournamentTransfers {
    /// The code of the transfers, such as `tournament_entry`.
    #[schema(example = "tournament_entry")]
    pub code: String,
    /// The number of transfers.
    pub transfers: i64,
    /// The sum, negative if the account has paid it.
    pub amount: Coins,
}

/// A table of a tournament in play.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OperatedTournamentTable {
    pub table: Uuid,
    /// The round, from 1.
    pub round: u32,
    /// The number of the table in the round, from 1.
    pub number: u32,
    /// The players by seat.
    pub players: Vec<Uuid>,
}

/// The pairs of players of a tournament with the strongest signs of collusion.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentPairs {
    pub items: Vec<TournamentPair>,
}

/// A pair of players of a tournament.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct TournamentPair {
    /// The one of the pair who has paid more.
    pub payer: Uuid,
    pub winner: Uuid,
    /// The games together.
    pub games: u32,
    /// The points that the payer paid the winner, less those that it received, in hundredths.
    pub net_transfer: i64,
    /// The net transfers of the games, each by its root, in thousandths of their standard deviation
    /// by chance.
    pub deviations: i64,
    /// How strange one of the pair plays beside the other, in thousandths of a standard deviation by
    /// chance: its actions against the advice of the house's AI beyond those in its other games, and
    /// the counts that they give the other. Of the two, that of the one with more. Games count from
    /// a minute after their end.
    pub conduct: i64,
    /// The attribute that both share; null if there is none.
    #[schema(required = true)]
    pub shared: Option<SharedSignal>,
}

/// A request to cancel a tournament.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelTournament {
    /// The reason, which is stored in the audit log.
    #[schema(value_type = ReasonText)]
    pub reason: Reason,
    /// The digest of the preview. Without it the amounts at the moment of the cancellation are paid.
    #[serde(default)]
    #[schema(
        value_type = Option<String>,
        min_length = 64,
        max_length = 64,
        pattern = "^[0-9A-Fa-f]{64}$",
        example = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
    )]
    pub digest: Option<Hex<32>>,
}

/// The payments of a cancellation.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Cancellation {
    pub refunds: Vec<TournamentRefund>,
    /// The SHA-256 of the players and their amounts, in hexadecimal digits.
    #[schema(value_type = String, pattern = "^[0-9a-f]{64}$")]
    pub digest: Hex<32>,
}

/// The amount that a player receives.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentRefund {
    pub player: Uuid,
    pub amount: Coins,
}
