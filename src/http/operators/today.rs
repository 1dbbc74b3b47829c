//! A day at a glance.

use axum::Json;
use axum::extract::{FromRef, State};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::live_store::PlayingCount;
use crate::operators::Operator;
use crate::reports::{self, Alarms, Figures, Gatherer, Reports, SlowSettlement, Sums, VoidedGame};
use crate::standings::Standings;

use super::super::{Coins, Problem, Services, Time, database_problem};

/// A day so far, beside others up to the same time. A day is one of the leaderboards' time zone.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TodayReport)]
pub(in crate::http) struct TodayBody {
    /// As of when.
    at: Time,
    /// When the day began.
    begins_at: Time,
    day: FiguresBody,
    /// The day before, up to the same time.
    day_before: FiguresBody,
    /// The same day a week ago, up to the same time.
    week_before: FiguresBody,
    rooms: Vec<RoomFiguresBody>,
    /// Each hour (UTC) that has begun, the first one cut where the day begins.
    hours: Vec<HourBody>,
    /// Tables of rooms at which somebody sits now. Null when live state does not answer.
    #[schema(required = true)]
    tables_playing: Option<u64>,
    /// Players at them.
    #[schema(required = true)]
    players_playing: Option<u64>,
    /// Games that are open now, private ones too.
    games_running: i64,
    /// What all wallets hold now.
    wallets: Coins,
    /// What is held as stakes of open games now.
    stakes: Coins,
    /// What is in all POTs now.
    pots: Coins,
    alarms: AlarmsBody,
}

/// What was booked in some time, to the hundredth as in the ledger.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BookedFigures)]
pub(in crate::http) struct FiguresBody {
    games_opened: i64,
    games_settled: i64,
    games_voided: i64,
    /// Settlements that were reversed.
    settlements_reversed: i64,
    /// Paid by losers to winners, before the fee, less what reversals gave back.
    payments: Coins,
    /// What the house took of it, less what reversals gave back.
    fees: Coins,
    /// Paid into POTs.
    antes: Coins,
    /// POTs that were taken, and how many.
    pots: Coins,
    pots_taken: i64,
    /// Coins that came into being: grants and adjustments.
    issued: Coins,
    /// Of these, what players claimed: daily rewards and relief.
    claimed: Coins,
    /// Coins that ceased to be.
    withdrawn: Coins,
}

/// The figures of a room.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RoomFigures)]
pub(in crate::http) struct RoomFiguresBody {
    #[schema(example = "newbie")]
    room: String,
    figures: FiguresBody,
}

/// The figures of an hour.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HourFigures)]
pub(in crate::http) struct HourBody {
    begins_at: Time,
    figures: FiguresBody,
}

/// What asks for somebody, if it is not zero.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Alarms)]
pub(in crate::http) struct AlarmsBody {
    /// When the last check of the ledger ended; null before the first.
    #[schema(required = true)]
    ledger_checked_at: Option<Time>,
    /// What it found that does not add up.
    ledger_differences: i64,
    /// Games voided since the day began.
    games_voided: i64,
    /// Tables that are halted now.
    tables_halted: i64,
    /// POTs with coins at tables where nothing was booked for a day.
    pots_idle: i64,
    /// What is in them.
    pots_idle_coins: Coins,
    /// Settlements of the day that were booked more than 5000 ms after the end of the game.
    settlements_slow: i64,
    /// The slowest of them, in milliseconds.
    slowest_ms: i64,
    /// Players who have won more than 1,000 coins of players who were made within the week before,
    /// less what they lost to such, on a day of UTC: today and yesterday.
    gathering: i64,
    /// Those who have won the most so, 20 at most.
    gatherers: Vec<GathererBody>,
    /// The newest games that were voided since the day began, 20 at most.
    newest_voided: Vec<VoidedGameBody>,
    /// The newest slow settlements of the day, 20 at most.
    newest_slow: Vec<SlowSettlementBody>,
}

/// A player to whom coins of new players have come: a sign, and no proof, that one person has made
/// them.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Gatherer)]
pub(in crate::http) struct GathererBody {
    player: Uuid,
    name: String,
    #[schema(value_type = String, format = Date, example = "2026-03-01")]
    day: jiff::civil::Date,
    /// Won of them, less what was lost to such, before fees.
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
pub(in crate::http) struct VoidedGameBody {
    game: Uuid,
    #[schema(example = "newbie")]
    room: String,
    voided_at: Time,
    reason: String,
}

/// A settlement that was booked more than 5000 ms after the end of its game.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SlowSettlement)]
pub(in crate::http) struct SlowSettlementBody {
    game: Uuid,
    #[schema(example = "newbie")]
    room: String,
    finished_at: Time,
    /// From the end of the game to the booking, in milliseconds.
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
                .map(|one| RoomFiguresBody { room: one.room, figures: one.figures.into() })
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
/// Games and coins of the day so far, by room and by hour, beside yesterday and the same day a week
/// ago; what plays and is held now; alarms. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/today",
    tag = "operators",
    security(("operator_token" = [])),
    responses((status = 200, description = "The day so far", body = TodayBody))
)]
pub(in crate::http) async fn show_today(
    State(reports): State<Reports>,
    State(standings): State<Standings>,
    State(services): State<Services>,
    _: Operator,
) -> Result<Json<TodayBody>, Problem> {
    let zone = standings.calendar().time_zone();
    let today = reports.today(services.clock.now(), zone).await.map_err(database_problem)?;
    Ok(Json(TodayBody::from_report(today, count_playing(&services).await)))
}

/// What plays now in all rooms together. Coins are told also when that is not known.
pub(in crate::http) async fn count_playing(services: &Services) -> Option<PlayingCount> {
    let rooms = services.lobby.playing_counts().await;
    let rooms = rooms.inspect_err(|error| tracing::warn!(%error, "what plays now is not known"));
    let sum = |sum: PlayingCount, one: &PlayingCount| PlayingCount {
        players: sum.players.saturating_add(one.players),
        tables: sum.tables.saturating_add(one.tables),
    };
    Some(rooms.ok()?.values().fold(PlayingCount::default(), sum))
}

impl FromRef<Services> for Reports {
    fn from_ref(services: &Services) -> Self {
        services.reports.clone()
    }
}
