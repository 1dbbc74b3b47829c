//! The figures of the day.

pub(super) mod api;
pub(crate) mod desk;

use bahay_api::operator::today::TodayReport;

use crate::http::{Problem, Services};
use crate::live_store::PlayingCount;

/// Returns the report on the current day. It lacks the numbers of those who play now if the live
/// store does not respond, so that the figures of the ledger can be displayed all the same.
async fn load_today(services: &Services) -> Result<TodayReport, Problem> {
    let Services { reports, standings, clock, lobby, .. } = services;
    let mut today = reports.today(clock.now(), standings.calendar().time_zone()).await?;
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
