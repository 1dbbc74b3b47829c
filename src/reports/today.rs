//! The overview of a day: its figures so far, by hour and by room; the figures of the day before
//! and of the same day a week ago up to the same time; the coins held now; and the alarms.
//!
//! Days are those of the given time zone, as for the leaderboards. Hours are those of UTC.

use std::collections::BTreeMap;

use bahay_api::operator::today::{BookedFigures, HourFigures, RoomFigures, TodayReport};
use jiff::tz::TimeZone;

use super::booked::{HOUR_MS, Interval};
use super::figures::{add_transfers, count_games, sum_figures};
use super::{ReportError, Reports};
use crate::clock::{self, Timestamp};
use crate::db;

impl Reports {
    /// Returns the overview of the current day in `zone`, without the numbers of those who play
    /// now, which only the live store has.
    pub async fn today(&self, now: Timestamp, zone: &TimeZone) -> Result<TodayReport, ReportError> {
        let begins_at = day_begins(now, zone, 0);
        let so_far = Interval { from: begins_at, to: now };
        let counted = self.operation_counts(so_far, true).await?;
        let booked = self.transfer_totals(so_far, true).await?;
        let mut rooms = BTreeMap::<String, BookedFigures>::new();
        let mut hours = BTreeMap::<i64, BookedFigures>::new();
        let mut hour_ms = begins_at.ms() - begins_at.ms().rem_euclid(HOUR_MS);
        while hour_ms < now.ms() {
            hours.entry(hour_ms).or_default();
            hour_ms += HOUR_MS;
        }
        for one in &counted {
            if let Some(room) = &one.room {
                count_games(rooms.entry(room.clone()).or_default(), one);
            }
            if let Some(hour) = one.hour {
                count_games(hours.entry(hour.ms()).or_default(), one);
            }
        }
        for one in &booked {
            if let Some(room) = &one.room {
                add_transfers(rooms.entry(room.clone()).or_default(), one)?;
            }
            if let Some(hour) = one.hour {
                add_transfers(hours.entry(hour.ms()).or_default(), one)?;
            }
        }
        let held = self.held_coins().await?;
        let of_kind = |kind: &str| held.get(kind).copied().unwrap_or_default().into();
        let rooms = rooms.into_iter();
        let rooms = rooms.map(|(room, figures)| RoomFigures { room, figures });
        let hours = hours
            .into_iter()
            .map(|(ms, figures)| HourFigures { begins_at: Timestamp::from_ms(ms).into(), figures });
        Ok(TodayReport {
            at: now.into(),
            begins_at: begins_at.into(),
            day: sum_figures(&counted, &booked)?,
            day_before: self.figures_until_now(now, zone, 1).await?,
            week_before: self.figures_until_now(now, zone, 7).await?,
            rooms: rooms.collect(),
            hours: hours.collect(),
            tables_playing: None,
            players_playing: None,
            games_running: self.count_open_games().await?,
            wallets: of_kind("wallet"),
            stakes: of_kind("stake"),
            pots: of_kind("pot"),
            alarms: self.alarms(now, begins_at).await?,
        })
    }

    async fn count_open_games(&self) -> Result<i64, ReportError> {
        let once = || {
            sqlx::query_scalar!(r#"select count(*) as "games!" from games where state = 'open'"#)
                .fetch_one(&self.pool)
        };
        db::retry(once).await
    }

    /// Returns the figures of an earlier day, up to the same time of day.
    async fn figures_until_now(
        &self,
        now: Timestamp,
        zone: &TimeZone,
        days: i64,
    ) -> Result<BookedFigures, ReportError> {
        let elapsed = now.ms() - day_begins(now, zone, 0).ms();
        let from = day_begins(now, zone, days);
        let interval = Interval { from, to: Timestamp::from_ms(from.ms() + elapsed) };
        let counted = self.operation_counts(interval, false).await?;
        sum_figures(&counted, &self.transfer_totals(interval, false).await?)
    }
}

/// Returns the beginning of the day that is `days_before` days before that of `at`.
fn day_begins(at: Timestamp, zone: &TimeZone, days_before: i64) -> Timestamp {
    let now = clock::to_jiff(at).to_zoned(zone.clone());
    let date = now.date().saturating_sub(jiff::SignedDuration::from_hours(24 * days_before));
    // Only the first and last days of the calendar have no beginning.
    let begins = date.to_zoned(zone.clone()).map_or(now.timestamp(), |day| day.timestamp());
    clock::from_jiff(begins)
}

#[cfg(test)]
mod tests {
    use super::day_begins;
    use crate::clock::Timestamp;
    use jiff::tz::TimeZone;

    #[test]
    fn a_day_begins_by_the_clocks_of_its_zone() {
        let manila = TimeZone::get("Asia/Manila").unwrap();
        // 2026-03-01T12:00:00Z is eight in the evening in Manila.
        let now = Timestamp::from_ms(1_772_366_400_000);
        let begins = |days| now.ms() - day_begins(now, &manila, days).ms();
        assert_eq!(begins(0), 20 * 3_600_000);
        assert_eq!(begins(7), (7 * 24 + 20) * 3_600_000);
    }
}
