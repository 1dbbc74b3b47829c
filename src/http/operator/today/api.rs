//! The report on the current day.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::live_store::PlayingCount;
use crate::operators::Operator;
use crate::reports::{self, Alarms, Figures, Gatherer, Reports, SlowSettlement, Sums, VoidedGame};
use crate::standings::Standings;

use crate::http::{Coins, Problem, Services, Time, database_problem};

/// The figures of the current day and those of other days up to the same time. Days are in the
/// time zone of the leaderboards.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TodayReport)]
pub(crate) struct TodayBody {
    /// The time of the report.
    at: Time,
    /// The beginning of the day.
    begins_at: Time,
    day: FiguresBody,
    /// The previous day, up to the same time.
    day_before: FiguresBody,
    /// The same day of the previous week, up to the same time.
    week_before: FiguresBody,
    rooms: Vec<RoomFiguresBody>,
    /// Each hour (UTC) that has begun; the first one is cut at the beginning of the day.
    hours: Vec<HourBody>,
    /// The number of tables of rooms with at least one player now; null if the live store does not
    /// respond.
    #[schema(required = true)]
    tables_playing: Option<u64>,
    /// The number of players at these tables.
    #[schema(required = true)]
    players_playing: Option<u64>,
    /// The number of games that are open now, private ones included.
    games_running: i64,
    /// The balance of all wallets now.
    wallets: Coins,
    /// The stakes of open games now.
    stakes: Coins,
    /// The coins in all POTs now.
    pots: Coins,
    alarms: AlarmsBody,
}

/// The sums of what was booked in a period, exact to the hundredth of a coin.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BookedFigures)]
pub(crate) struct FiguresBody {
    games_opened: i64,
    games_settled: i64,
    games_voided: i64,
    /// The number of settlements that were reversed.
    settlements_reversed: i64,
    /// Paid by losers to winners, before the fee, net of reversals.
    payments: Coins,
    /// The house's share of the payments, net of reversals.
    fees: Coins,
    /// Paid into POTs.
    antes: Coins,
    /// The coins of the POTs that were taken, and their number.
    pots: Coins,
    pots_taken: i64,
    /// Coins created by grants and adjustments.
    issued: Coins,
    /// The part of the issued coins that players claimed: daily rewards and relief.
    claimed: Coins,
    /// Coins destroyed.
    withdrawn: Coins,
}

/// The figures of a room.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RoomFigures)]
pub(crate) struct RoomFiguresBody {
    #[schema(example = "newbie")]
    room: String,
    figures: FiguresBody,
}

/// The figures of an hour.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HourFigures)]
pub(crate) struct HourBody {
    begins_at: Time,
    figures: FiguresBody,
}

/// Alarms, which require attention unless they are zero.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Alarms)]
pub(crate) struct AlarmsBody {
    /// The end of the last ledger check; null before the first.
    #[schema(required = true)]
    ledger_checked_at: Option<Time>,
    /// The number of discrepancies that it found.
    ledger_differences: i64,
    /// The number of games voided since the beginning of the day.
    games_voided: i64,
    /// The number of tables that are halted now.
    tables_halted: i64,
    /// The number of POTs with coins whose table has had no booking for a day.
    pots_idle: i64,
    /// The coins in these POTs.
    pots_idle_coins: Coins,
    /// The number of the day's settlements that were booked more than 5000 ms after the end of
    /// their game.
    settlements_slow: i64,
    /// The delay of the slowest of them, in milliseconds.
    slowest_ms: i64,
    /// The number of players who, on one day (UTC) of today and yesterday, won more than 1,000
    /// coins from players created within the preceding week, net of losses to such players.
    gathering: i64,
    /// The players with the largest such winnings, at most 20.
    gatherers: Vec<GathererBody>,
    /// The newest games voided since the beginning of the day, at most 20.
    newest_voided: Vec<VoidedGameBody>,
    /// The newest slow settlements of the day, at most 20.
    newest_slow: Vec<SlowSettlementBody>,
}

/// A player who received coins of new players: an indication, not proof, that one person created
/// these accounts.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Gatherer)]
pub(crate) struct GathererBody {
    player: Uuid,
    name: String,
    #[schema(value_type = String, format = Date, example = "2026-03-01")]
    day: jiff::civil::Date,
    /// Won from new players, net of losses to such, before fees.
    amount: Coins,
}

impl From<Gatherer> for GathererBody {
    fn from(gatherer: Gatherer) -> Self {
        let Gatherer { player, name, day, amount } = gatherer;
        Self { player: player.0, name, day, amount: amount.into() }
    }
}

/// A game that could not be finished.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VoidedGame)]
pub(crate) struct VoidedGameBody {
    game: Uuid,
    #[schema(example = "newbie")]
    room: String,
    voided_at: Time,
    reason: String,
}

/// A settlement that was booked more than 5000 ms after the end of its game.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SlowSettlement)]
pub(crate) struct SlowSettlementBody {
    game: Uuid,
    #[schema(example = "newbie")]
    room: String,
    finished_at: Time,
    /// The delay from the end of the game to the booking, in milliseconds.
    late_ms: i64,
}

impl From<VoidedGame> for VoidedGameBody {
    fn from(voided: VoidedGame) -> Self {
        let VoidedGame { game, room, voided_at, reason } = voided;
        Self { game: game.0, room, voided_at: voided_at.into(), reason }
    }
}

impl From<SlowSettlement> for SlowSettlementBody {
    fn from(slow: SlowSettlement) -> Self {
        let SlowSettlement { game, room, finished_at, late_ms } = slow;
        Self { game: game.0, room, finished_at: finished_at.into(), late_ms }
    }
}

impl From<Alarms> for AlarmsBody {
    fn from(alarms: Alarms) -> Self {
        let voided = alarms.newest_voided.into_iter().map(VoidedGameBody::from);
        let slow = alarms.newest_slow.into_iter().map(SlowSettlementBody::from);
        Self {
            ledger_checked_at: alarms.checked_at.map(Time::from),
            ledger_differences: alarms.differences,
            games_voided: alarms.voided,
            tables_halted: alarms.halted,
            pots_idle: alarms.idle_pots,
            pots_idle_coins: alarms.idle_coins.into(),
            settlements_slow: alarms.slow,
            slowest_ms: alarms.slowest_ms,
            gathering: alarms.gathering,
            gatherers: alarms.gatherers.into_iter().map(GathererBody::from).collect(),
            newest_voided: voided.collect(),
            newest_slow: slow.collect(),
        }
    }
}

impl From<Figures> for FiguresBody {
    fn from(figures: Figures) -> Self {
        let Figures { opened, settled, voided, reversed, sums } = figures;
        let Sums { payments, fees, antes, pots, pots_taken, issued, claimed, withdrawn, .. } = sums;
        Self {
            games_opened: opened,
            games_settled: settled,
            games_voided: voided,
            settlements_reversed: reversed,
            payments: payments.into(),
            fees: fees.into(),
            antes: antes.into(),
            pots: pots.into(),
            pots_taken,
            issued: issued.into(),
            claimed: claimed.into(),
            withdrawn: withdrawn.into(),
        }
    }
}

impl TodayBody {
    fn from_report(today: reports::Today, now: Option<PlayingCount>) -> Self {
        let rooms = today.rooms.into_iter();
        let hours = today.hours.into_iter();
        Self {
            at: today.at.into(),
            begins_at: today.begins_at.into(),
            day: today.day.into(),
            day_before: today.day_before.into(),
            week_before: today.week_before.into(),
            rooms: rooms
                .map(|room| RoomFiguresBody { room: room.room, figures: room.figures.into() })
                .collect(),
            hours: hours
                .map(|one| HourBody {
                    begins_at: one.begins_at.into(),
                    figures: one.figures.into(),
                })
                .collect(),
            tables_playing: now.map(|now| now.tables),
            players_playing: now.map(|now| now.players),
            games_running: today.running,
            wallets: today.wallets.into(),
            stakes: today.stakes.into(),
            pots: today.pots.into(),
            alarms: today.alarms.into(),
        }
    }
}

/// Show today
///
/// Games and coins of the day so far, by room and by hour, compared with yesterday and the same day
/// of the previous week; the current number of players and balances; alarms. For operators of every
/// role.
#[utoipa::path(
    get,
    path = "/v1/operator/today",
    tag = "operators",
    security(("operator_token" = [])),
    responses((status = 200, description = "The day so far", body = TodayBody))
)]
pub(crate) async fn show_today(
    State(reports): State<Reports>,
    State(standings): State<Standings>,
    State(services): State<Services>,
    _: Operator,
) -> Result<Json<TodayBody>, Problem> {
    let zone = standings.calendar().time_zone();
    let today = reports.today(services.clock.now(), zone).await.map_err(database_problem)?;
    Ok(Json(TodayBody::from_report(today, count_playing(&services).await)))
}

/// Returns the number of tables and players in all rooms, or `None` if the live store does not
/// respond, so that the figures of the ledger can be displayed all the same.
pub(crate) async fn count_playing(services: &Services) -> Option<PlayingCount> {
    let rooms = services.lobby.playing_counts().await;
    let rooms = rooms.inspect_err(
        |error| tracing::warn!(%error, "the numbers of tables and players are unknown"),
    );
    let sum = |sum: PlayingCount, one: &PlayingCount| PlayingCount {
        players: sum.players.saturating_add(one.players),
        tables: sum.tables.saturating_add(one.tables),
    };
    Some(rooms.ok()?.values().fold(PlayingCount::default(), sum))
}
