//! The report on the current day, and the comparison of two days or weeks.

use bahay_base::clock::BoundedDate;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::operation::operations;
use crate::values::{Coins, Time, TransferCode};

operations! {
    /// Show today
    ///
    /// Games, players and coins of the day so far, by room and by hour, compared with yesterday and
    /// the same day of the previous week; the current number of players and balances; alerts. For
    /// operators of every role.
    SHOW_TODAY = Get "/v1/operator/today", Operators, Operator {
        200 json TodayReport: "The day so far",
    }

    /// Compare two days or weeks
    ///
    /// The figures of two days or two weeks of the house's time zone, and their differences. Weeks
    /// begin on Monday. A day or week that has not ended is compared as far as it has come. A date
    /// after today is refused with `query_invalid`. For operators of every role.
    COMPARE_PERIODS = Get "/v1/operator/today/comparison", Operators, Operator {
        query ComparisonQuery,
        200 json PeriodComparison: "The figures of both periods",
    }
}

/// The figures of the current day and those of other days up to the same time of day. Days are in
/// the house's time zone.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TodayReport {
    /// The time of the report.
    pub at: Time,
    /// The beginning of the day.
    pub begins_at: Time,
    pub day: PeriodFigures,
    /// The previous day, up to the same time of day.
    pub day_before: PeriodFigures,
    /// The same day of the previous week, up to the same time of day.
    pub week_before: PeriodFigures,
    pub rooms: Vec<RoomFigures>,
    /// Each hour of UTC that has begun. The first one begins with the day: if the offset of the
    /// house's time zone is no whole number of hours, it is shorter than the others.
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
    pub alerts: DayAlerts,
}

/// The unit of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeriodUnit {
    #[default]
    Day,
    /// From Monday to Sunday.
    Week,
}

/// The days or weeks to compare.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ComparisonQuery {
    /// Defaults to `day`.
    #[param(inline)]
    pub unit: Option<PeriodUnit>,
    /// The first day, or a day of the first week, in the house's time zone. Not after today.
    #[param(value_type = String, format = Date, example = "2026-03-01")]
    pub first: BoundedDate,
    /// The second day, or a day of the second week. Not after today.
    #[param(value_type = String, format = Date, example = "2026-02-22")]
    pub second: BoundedDate,
}

/// The figures of two days or weeks.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PeriodComparison {
    pub unit: PeriodUnit,
    /// The house's time zone.
    #[schema(example = "Asia/Manila")]
    pub time_zone: String,
    pub first: ComparedPeriod,
    pub second: ComparedPeriod,
    /// The figures of the first period minus those of the second.
    pub difference: PeriodFigures,
}

/// A day or week of a comparison.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ComparedPeriod {
    #[schema(format = Date, example = "2026-03-01")]
    pub first_day: String,
    /// The last day, which is part of the period.
    #[schema(format = Date, example = "2026-03-01")]
    pub last_day: String,
    /// The beginning.
    pub from: Time,
    /// The end, which is excluded: the time of the report if the period has not ended.
    pub to: Time,
    /// True if the period has ended.
    pub has_ended: bool,
    pub figures: PeriodFigures,
}

/// The figures of a period: bookings, players, and the coins of the house by purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct PeriodFigures {
    #[serde(flatten)]
    pub booked: BookedFigures,
    pub players: PlayerFigures,
    /// In the order of account and code.
    pub flows: Vec<AccountFlow>,
}

/// The numbers of those who played a game that was settled and that ended in the period, each
/// counted once. They follow some seconds after the settlements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayerFigures {
    /// The number of people, without house bots.
    pub people: i64,
    /// The number of people whose account was created in the period.
    pub new: i64,
    /// The number of people with an older account of whom a game was settled on a day before the
    /// period. People with an older account and without such a game are neither new nor returning.
    pub returning: i64,
    /// The number of house bots.
    pub bots: i64,
}

/// The coins that the accounts of the house received and paid in a period for one purpose. Fees
/// received are takings, coins paid by `issue` are issued ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccountFlow {
    /// The kind of the accounts: `fee`, `issue`, `pot` or `suspense`.
    #[schema(example = "issue")]
    pub account: String,
    pub code: TransferCode,
    pub received: Coins,
    pub paid: Coins,
}

/// The sums of what was booked in a period, exact to the hundredth of a coin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
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

/// The figures of an hour of UTC, or of the part of it that lies in the day.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct HourFigures {
    pub begins_at: Time,
    pub figures: BookedFigures,
}

/// The alerts of a day, which require attention unless they are zero.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DayAlerts {
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
    /// The open pairs of players whose signs of collusion in the last seven days reach the alert
    /// score, at most a minute old unless counting takes longer than a second. Null if they could not
    /// be counted.
    #[schema(required = true)]
    pub pairs_suspected: Option<i64>,
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
