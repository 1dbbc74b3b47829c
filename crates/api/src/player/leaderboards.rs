//! Leaderboards by day, week, season and all time.

use bahay_base::clock::BoundedDate;
use bahay_base::ids::GameName;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::Limit;
use crate::operation::operations;
use crate::values::GameNameText;

operations! {
    /// Show a leaderboard
    ///
    /// Settled games are counted some seconds after their settlement. Games with a house bot are
    /// not counted. The board by rating lists the players who were rated within the span, with
    /// their present ratings. A `date` for which there is no leaderboard is refused with
    /// `query_invalid`.
    SHOW_LEADERBOARD = Get "/v1/leaderboards/{board}/{span}", Players, Player {
        path board: Board = "The score by which players are ranked",
        path span: Span = "The time over which scores are summed",
        query BoardQuery,
        200 json Leaderboard: "The selected part of the leaderboard",
    }
}

/// The score by which players are ranked: the coins that won games brought, in hundredths of a
/// coin; the number of POTs won; or the skill rating.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Board {
    Coins,
    Hits,
    Rating,
}

bahay_base::text_enum! {
    /// The time over which scores are summed.
    #[derive(ToSchema)]
    pub enum Span {
        Day = "day",
        Week = "week",
        Season = "season",
        Ever = "ever",
    }
}

/// The part of a leaderboard to show.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    #[default]
    Top,
    Around,
}

/// Selects a part of a leaderboard.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BoardQuery {
    /// The game's kind. Defaults to the first kind of the house.
    #[param(value_type = Option<GameNameText>, inline, example = "tongits")]
    pub kind: Option<GameName>,
    /// The ranks from the top (the default), or those around the requesting player.
    #[param(inline)]
    pub section: Option<Section>,
    /// A day of the span, in the time zone of the leaderboards. Defaults to today. Days from the
    /// span of the first counted game to today are valid. Ratings are not kept by day: for `rating`
    /// the day must lie in the present span.
    #[param(value_type = Option<String>, format = Date, example = "2026-03-01")]
    pub date: Option<BoundedDate>,
    /// The number of ranks to skip from the top, for pagination. Not allowed for the ranks around a
    /// player.
    #[serde(default)]
    #[param(required = false, default = 0, minimum = 0, maximum = 10_000)]
    pub offset: u32,
    /// The maximum number of ranks.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    pub limit: Limit,
}

/// Part of a leaderboard.
#[derive(Debug, Serialize, ToSchema)]
pub struct Leaderboard {
    /// The game's kind.
    #[schema(example = "tongits")]
    pub kind: &'static str,
    pub board: Board,
    pub span: Span,
    /// The first day of the span; 1970-01-01 for all time.
    #[schema(format = Date, example = "2026-03-01")]
    pub starts_on: String,
    /// The time zone in which days and weeks are counted.
    #[schema(example = "Asia/Manila")]
    pub time_zone: String,
    /// The number of ranked players.
    pub total: u64,
    /// The rank of the requesting player; null if the player is not ranked.
    #[schema(required = true)]
    pub own: Option<LeaderboardRank>,
    pub items: Vec<LeaderboardRank>,
}

/// A rank on a leaderboard. Equal scores share a rank and are listed in the order in which they
/// were reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LeaderboardRank {
    /// The rank, counted from 1, as in competitions: rank 4 follows two of rank 2.
    #[schema(minimum = 1)]
    pub rank: u64,
    pub player: Uuid,
    #[schema(example = "Maria")]
    pub name: String,
    /// Hundredths of a coin, a number of POTs, or thousandths of a lower bound of the player's
    /// rating. The lower bound is 0 for a player without rated games, and seldom below that.
    pub score: i64,
}
