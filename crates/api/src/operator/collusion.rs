//! Pairs of players by signs of collusion: the ranking, a pair with its games, and the review of a
//! pair by an operator.

use bahay_base::clock::BoundedTimestamp;
use bahay_base::reason::Reason;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::players::{PlayerMatch, SharedSignal};
use crate::PageQuery;
use crate::operation::operations;
use crate::values::{Coins, IdText, ReasonText, Time};

operations! {
    /// List pairs of players by signs of collusion
    ///
    /// The pairs with at least five games together in a period and at least one point, highest score
    /// first, then by ids. Games appear some seconds after their end. A score is the sum of the points
    /// of the pair's signs; signs are no proof. Only the 20,000 pairs with the most games together are
    /// scored. For operators of every role.
    LIST_PAIRS = Get "/v1/operator/collusion", Operators, Operator {
        query PageQuery<PairFilter>,
        200 page ScoredPair: "A page of pairs",
    }

    /// Show a pair of players
    ///
    /// The pair's signs and its newest 100 games in a period. The order of the two ids does not
    /// matter. For operators of every role.
    SHOW_PAIR = Get "/v1/operator/collusion/{first}/{second}", Operators, Operator {
        path first: IdText = "A player of the pair",
        path second: IdText = "The other player",
        query PairPeriod,
        200 json PairReport: "The pair",
        refuses PairNotFound,
    }

    /// Review a pair of players
    ///
    /// The pair is no longer listed as open, nor an alert, until new games raise its score of the last
    /// seven days above that at the review. A further review replaces it. Recorded in the audit log.
    /// For the roles `support` and `admin`.
    REVIEW_PAIR = Post "/v1/operator/collusion/{first}/{second}/review", Operators, Operator {
        path first: IdText = "A player of the pair",
        path second: IdText = "The other player",
        headers RequiredKey,
        body ReviewPair,
        200 json PairReview: "The review",
        refuses PairNotFound,
    }
}

bahay_base::text_enum! {
    /// `open`: not reviewed, or with a score above that at the review. `reviewed`: any other.
    #[derive(ToSchema)]
    pub enum PairState {
        Open = "open",
        Reviewed = "reviewed",
    }
}

bahay_base::text_enum! {
    /// A sign of collusion. `together`: games together as a share of the games of the one who played
    /// fewer. `net_transfer`: the coins that one paid the other in their games, less those that it
    /// received, compared with chance. `source`: a shared device or address.
    #[derive(ToSchema)]
    pub enum PairSignKind {
        Together = "together",
        NetTransfer = "net_transfer",
        Source = "source",
    }
}

/// A period of whole days of the house's time zone, at most 92.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PairPeriod {
    /// A time on the first day: RFC 3339. Defaults to the sixth day before the last one.
    #[param(value_type = Option<Time>, inline)]
    pub from: Option<BoundedTimestamp>,
    /// The end, which is excluded: RFC 3339, later than `from`. Its day is part of the period unless
    /// the end is the beginning of that day. Defaults to now, at most 92 days from `from`.
    #[param(value_type = Option<Time>, inline)]
    pub to: Option<BoundedTimestamp>,
}

/// A filter on pairs.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PairFilter {
    /// A time on the first day: RFC 3339. Defaults to the sixth day before the last one.
    #[param(value_type = Option<Time>, inline)]
    pub from: Option<BoundedTimestamp>,
    /// The end, which is excluded: RFC 3339, later than `from`. Its day is part of the period unless
    /// the end is the beginning of that day. Defaults to now, at most 92 days from `from`.
    #[param(value_type = Option<Time>, inline)]
    pub to: Option<BoundedTimestamp>,
    /// Only pairs in this state.
    #[param(inline)]
    pub state: Option<PairState>,
}

/// A pair of players with its signs of collusion in a period. Indications, not proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScoredPair {
    /// The player with the smaller id.
    pub first: PlayerMatch,
    pub second: PlayerMatch,
    /// The sum of the signs' points.
    #[schema(example = 50)]
    pub score: i64,
    /// The signs with at least one point.
    pub signs: Vec<PairSign>,
    /// The games in which both sat, and the games of the one of them who played fewer.
    pub games: i64,
    pub of: i64,
    /// The payments of the first to the second before the fee, without those of reversed
    /// settlements, and the games in which the first paid more than it received.
    pub paid: Coins,
    pub games_paid: i64,
    /// The payments of the second to the first.
    pub received: Coins,
    pub games_received: i64,
    /// The net transfer, which is the difference of `paid` and `received`, in thousandths of its
    /// standard deviation, if each game could as well have gone the other way.
    #[schema(example = 4_200)]
    pub net_transfer_thousandths: i64,
    #[schema(required = true)]
    pub shared: Option<SharedSignal>,
    #[schema(inline)]
    pub state: PairState,
    /// Null if nobody has reviewed the pair.
    #[schema(required = true)]
    pub review: Option<PairReview>,
}

/// A sign of collusion of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PairSign {
    #[schema(inline)]
    pub kind: PairSignKind,
    pub points: i64,
    /// The sign in words, with its figure.
    #[schema(example = "11 of 11 games together")]
    pub words: String,
}

/// The newest review of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PairReview {
    pub reviewed_at: Time,
    /// The operator's name.
    #[schema(example = "ate.luz")]
    pub reviewed_by: String,
    #[schema(example = "Sisters who play on one tablet.")]
    pub reason: String,
    /// The score of the pair at the review.
    pub score: i64,
}

/// A pair with its games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PairReport {
    pub pair: ScoredPair,
    /// The newest 100 games together in the period, newest first.
    pub games: Vec<PairGame>,
}

/// A game of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PairGame {
    pub game: Uuid,
    #[schema(example = "newbie")]
    pub room: String,
    pub finished_at: Time,
    /// The payments of the first to the second before the fee, as settled.
    pub paid: Coins,
    /// The payments of the second to the first.
    pub received: Coins,
    /// True if the settlement was reversed; its payments do not count.
    pub is_reversed: bool,
}

/// A review of a pair.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewPair {
    /// The reason why the pair needs no further attention.
    #[schema(value_type = ReasonText)]
    pub reason: Reason,
}
