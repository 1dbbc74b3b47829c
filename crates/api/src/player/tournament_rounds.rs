//! The rounds of a duplicate tournament, in which all tables play the same deals.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::operation::operations;
use crate::values::IdText;

operations! {
    /// Show the deals of a round
    ///
    /// Requires no sign-in. Only a duplicate has such deals, which all tables of the round play. The
    /// commitments are shown from the beginning of the round, the seeds from its end at all tables
    /// (rule 5.5).
    SHOW_ROUND_DEALS = Get "/v1/tournaments/{id}/rounds/{round}/deals", Tournaments, Anyone {
        path id: IdText = "The tournament",
        path round: u32 = "The number of the round, from 1",
        200 json RoundDeals: "The commitments, and after the round the seeds",
        refuses TournamentNotFound RoundNotFound,
    }

    /// Compare my round with those of the same cards
    ///
    /// The player's points in each game of a duplicate's round beside those of the players who held
    /// the same cards at the other tables. Available when the round is over at all tables.
    SHOW_ROUND_COMPARISON = Get "/v1/tournaments/{id}/rounds/{round}/comparison", Tournaments, Player {
        path id: IdText = "The tournament",
        path round: u32 = "The number of the round, from 1",
        200 json RoundComparison: "The comparison, game by game",
        refuses TournamentNotFound NotRegistered RoundNotFound RoundNotOver,
    }
}

/// The maximum number of [`ComparedPlayer`]s of a game.
pub const COMPARED_MAX: u32 = 20;

/// The deals of a round that all of its tables play.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RoundDeals {
    pub round: u32,
    /// True once the round is over at all tables, so that the seeds are shown.
    pub is_over: bool,
    /// The deals by the number of the game, from the first.
    pub deals: Vec<RoundDeal>,
}

/// The deal of one game of a round.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RoundDeal {
    /// The SHA-256 of the seed, in hexadecimal, as every table shows it with `preparing`.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "9985b2e4b9b71b28ce59ea5ce77f0b110637b625c6d7f41e982c9510940a2056"
    )]
    pub commitment: String,
    /// The server's seed, in hexadecimal; null until the round is over.
    #[schema(
        required = true,
        pattern = "^[0-9a-f]{64}$",
        example = "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"
    )]
    pub server_seed: Option<String>,
}

/// A player's games of a round beside those of the players who held the same cards.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RoundComparison {
    pub round: u32,
    /// The number of the player's table in the round, from 1; null for a player without a table.
    #[schema(required = true)]
    pub table_number: Option<u32>,
    /// The player's seat, the same in all games of the round; null for a player without a table.
    #[schema(required = true, maximum = 7)]
    pub seat: Option<u8>,
    /// The games that the player's table has played, from the first. A game that it has not played
    /// scores 5,000.
    pub games: Vec<GameComparison>,
}

/// A game of the player beside the same cards at the other tables.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GameComparison {
    /// The number of the game in the round, from 1.
    pub number: u32,
    /// The id of the player's game, by which the player may request the record.
    pub game: Uuid,
    /// The player's points, in hundredths.
    pub points: i64,
    /// The score: 2 for each other player with fewer points and 1 for each with equal points, as a
    /// share of the possible sum, in ten-thousandths (rule 5.3).
    #[schema(maximum = 10_000)]
    pub score: u32,
    /// The number of other players who held these cards and had fewer points.
    pub fewer: u32,
    /// The number of other players who held these cards and had the same points.
    pub equal: u32,
    /// The number of other players who held these cards and had more points.
    pub more: u32,
    /// The mean of the others' points, in hundredths, rounded toward zero; null without others.
    #[schema(required = true)]
    pub others_mean: Option<i64>,
    /// The others with the most points, at most 20, the best first.
    pub others: Vec<ComparedPlayer>,
}

/// A player who held the same cards at another table.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ComparedPlayer {
    pub player: Uuid,
    #[schema(example = "Benjie")]
    pub name: String,
    pub is_bot: bool,
    /// The number of the player's table in the round, from 1.
    pub table_number: u32,
    /// The points, in hundredths.
    pub points: i64,
}
