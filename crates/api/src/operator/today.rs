//! The report on the current day.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::operation::operations;
use crate::values::{Coins, Time};

operations! {
    /// Show today
    ///
    /// Games and coins of the day so far, by room and by hour, compared with yesterday and the same
    /// day of the previous week; the current number of players and balances; alarms. For operators
    /// of every role.
    SHOW_TODAY = Get "/v1/operator/today", Operators, Operator {
        200 json TodayReport: "The day so far",
    }
}

/// The figures of the current day and those of other days up to the same time. Days are in the
/// time zone of the leaderboards.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TodayReport {
    /// The time of the report.
    pub at: Time,
    /// The beginning of the day.
    pub begins_at: Time,
    pub day: BookedFigures,
    /// The previous day, up to the same time.
    pub day_before: BookedFigures,
    /// The same day of the previous week, up to the same time.
    pub week_before: BookedFigures,
    pub rooms: Vec<RoomFigures>,
    /// Each hour (UTC) that has begun; the first one is cut at the beginning of the day.
    pub hours: Vec<HourFigures>,
    /// The number of tables of rooms with at least one player now; null if the live store does not
    /// respond.
    #[schema(required = true)]
    pub tables_playing: Option<u64>,
    /// The number of players at these tables.
    #[schema(required = true)]
    pub players_playing: Option<u64>,
    /// The number of games that are open now, private ones included.
    pub games_running: i64,
    /// The balance of all wallets now.
    pub wallets: Coins,
    /// The stakes of open games now.
    pub stakes: Coins,
    /// The coins in all POTs now.
    pub pots: Coins,
    pub alarms: Alarms,
}

/// The sums of what was booked in a period, exact to the hundredth of a coin.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub struct BookedFigures {
    pub games_opened: i64,
    pub games_settled: i64,
    pub games_voided: i64,
    /// The number of settlements that were reversed.
    pub settlements_reversed: i64,
    /// Paid by losers to winners, before the fee, net of reversals.
    pub payments: Coins,
    /// The house's share of the payments, net of reversals.
    pub fees: Coins,
    /// Paid into POTs.
    pub antes: Coins,
    /// The coins of the POTs that were taken, and their number.
    pub pots: Coins,
    pub pots_taken: i64,
    /// Coins created by grants and adjustments.
    pub issued: Coins,
    /// The part of the issued coins that players claimed: daily rewards and relief.
    pub claimed: Coins,
    /// Coins destroyed.
    pub withdrawn: Coins,
}

/// The figures of a room.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RoomFigures {
    #[schema(example = "newbie")]
    pub room: String,
    pub figures: BookedFigures,
}

/// The figures of an hour.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct HourFigures {
    pub begins_at: Time,
    pub figures: BookedFigures,
}

/// Alarms, which require attention unless they are zero.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Alarms {
    /// The end of the last ledger check; null before the first.
    #[schema(required = true)]
    pub ledger_checked_at: Option<Time>,
    /// The number of discrepancies that it found.
    pub ledger_differences: i64,
    /// The number of games voided since the beginning of the day.
    pub games_voided: i64,
    /// The number of tables that are halted now.
    pub tables_halted: i64,
    /// The number of POTs with coins whose table has had no booking for a day.
    pub pots_idle: i64,
    /// The coins in these POTs.
    pub pots_idle_coins: Coins,
    /// The number of the day's settlements that were booked more than 5000 ms after the end of
    /// their game.
    pub settlements_slow: i64,
    /// The delay of the slowest of them, in milliseconds.
    pub slowest_ms: i64,
    /// The number of players who, on one day (UTC) of today and yesterday, won more than 1,000
    /// coins from players created within the preceding week, net of losses to such players.
    pub gathering: i64,
    /// The players with the largest such winnings, at most 20.
    pub gatherers: Vec<Gatherer>,
    /// The newest games voided since the beginning of the day, at most 20.
    pub newest_voided: Vec<VoidedGame>,
    /// The newest slow settlements of the day, at most 20.
    pub newest_slow: Vec<SlowSettlement>,
}

/// A player who received coins of new players: an indication, not proof, that one person created
/// these accounts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Gatherer {
    pub player: Uuid,
    pub name: String,
    #[schema(format = Date, example = "2026-03-01")]
    pub day: String,
    /// Won from new players, net of losses to such, before fees.
    pub amount: Coins,
}

/// A game that could not be finished.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct VoidedGame {
    pub game: Uuid,
    #[schema(example = "newbie")]
    pub room: String,
    pub voided_at: Time,
    pub reason: String,
}

/// A settlement that was booked more than 5000 ms after the end of its game.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SlowSettlement {
    pub game: Uuid,
    #[schema(example = "newbie")]
    pub room: String,
    pub finished_at: Time,
    /// The delay from the end of the game to the booking, in milliseconds.
    pub late_ms: i64,
}
