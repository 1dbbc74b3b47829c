//! The reports that the API and the desk share: the current day, and the comparison of two days or
//! weeks.

use bahay_api::operator::today::{ComparisonQuery, PeriodComparison, TodayReport};
use jiff::civil::Date;
use thiserror::Error;

use crate::http::{Code, CodeExt as _, Problem, Services};
use crate::live_store::PlayingCount;

/// The error of a day of a comparison that has not begun in the house's zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("lies after today")]
pub(super) struct DayNotBegunError;

/// Returns the report on the current day. It lacks the numbers of those who play now if the live
/// store does not respond, so that the figures of the ledger can be displayed all the same.
pub(super) async fn load_today(services: &Services) -> Result<TodayReport, Problem> {
    let Services { reports, standings, clock, lobby, .. } = services;
    let mut today = reports.today(clock.now(), standings.calendar().time_zone()).await?;
    today.alerts.pairs_suspected = services.pairs.count_suspected(clock.now()).await;
    match lobby.playing_counts().await {
        Ok(rooms) => {
            let sum = |of: fn(&PlayingCount) -> u64| {
                rooms.values().fold(0, |sum: u64, room| sum.saturating_add(of(room)))
            };
            today.tables_playing = Some(sum(|room| room.tables));
            today.players_playing = Some(sum(|room| room.players));
        }
        Err(error) => tracing::warn!(%error, "the numbers of tables and players are unknown"),
    }
    Ok(today)
}

/// Rejects a day that has not begun.
pub(super) fn check_begun(services: &Services, day: Date) -> Result<(), DayNotBegunError> {
    let today = services.standings.today(services.clock.now());
    if day > today { Err(DayNotBegunError) } else { Ok(()) }
}

/// Compares two days or weeks.
pub(super) async fn load_comparison(
    services: &Services,
    query: ComparisonQuery,
) -> Result<PeriodComparison, Problem> {
    let days = [query.first, query.second].map(Date::from);
    for (name, day) in ["first", "second"].into_iter().zip(days) {
        check_begun(services, day)
            .map_err(|error| Code::QueryInvalid.with_detail(format!("`{name}` {error}")))?;
    }
    let Services { reports, standings, clock, .. } = services;
    let unit = query.unit.unwrap_or_default();
    let zone = standings.calendar().time_zone();
    Ok(reports.compare_periods(unit, days, zone, clock.now()).await?)
}
