//! The overview of a day: its figures so far, by hour and by room; the figures of the day before
//! and of the same day a week ago up to the same time of day; the coins held now; and the alerts.
//!
//! Days are those of the given time zone, as for the leaderboards. The books are summed by hours of
//! UTC (`booked`), so the hours of a day are those of UTC too. The first one begins with the day.

use std::collections::BTreeMap;

use bahay_api::operator::today::{
    BookedFigures, HourFigures, PeriodFigures, RoomFigures, TodayReport,
};
use jiff::tz::TimeZone;

use crate::clock::{self, Timestamp};
use crate::db;
use crate::reports::booked::{HOUR_MS, Interval};
use crate::reports::days::PeriodDays;
use crate::reports::figures::{add_transfers, count_games};
use crate::reports::{ReportError, Reports};

impl Reports {
    /// Returns the overview of the current day in `zone`, which is that of the projection of pairs,
    /// without the numbers of those who play now, which only the live store has.
    pub async fn today(&self, now: Timestamp, zone: &TimeZone) -> Result<TodayReport, ReportError> {
        let today = PeriodDays::of_day(now, zone, 0);
        let begins_at = today.interval(zone).from;
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
        // The first hour begins with the day, if the day begins within an hour of UTC.
        let hours = hours.into_iter().map(|(ms, figures)| HourFigures {
            begins_at: Timestamp::from_ms(ms).max(begins_at).into(),
            figures,
        });
        Ok(TodayReport {
            at: now.into(),
            begins_at: begins_at.into(),
            day: self.combine_figures(today, now, &counted, &booked).await?,
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
            alerts: self.day_alerts(now, begins_at).await?,
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
    ) -> Result<PeriodFigures, ReportError> {
        let day = PeriodDays::of_day(now, zone, days);
        let from = day.interval(zone).from;
        let interval = Interval { from, to: same_time(now, zone, days).max(from) };
        self.period_figures(day, interval).await
    }
}

/// Returns the instant with the same time of day as `at`, `days_before` days earlier. A time that a
/// change of the clocks skips or repeats is that of the offset before the change.
fn same_time(at: Timestamp, zone: &TimeZone, days_before: i64) -> Timestamp {
    let now = clock::to_jiff(at).to_zoned(zone.clone());
    let same = now.datetime().saturating_sub(jiff::SignedDuration::from_hours(24 * days_before));
    let same = same.to_zoned(zone.clone()).map_or(now.timestamp(), |same| same.timestamp());
    clock::from_jiff(same)
}

#[cfg(test)]
mod tests {
    use super::{PeriodDays, same_time};
    use crate::clock::Timestamp;
    use jiff::tz::TimeZone;

    #[test]
    fn a_day_begins_by_the_clocks_of_its_zone() {
        let manila = TimeZone::get("Asia/Manila").unwrap();
        // 2026-03-01T12:00:00Z is eight in the evening in Manila.
        let now = Timestamp::from_ms(1_772_366_400_000);
        let begins =
            |days| now.ms() - PeriodDays::of_day(now, &manila, days).interval(&manila).from.ms();
        assert_eq!(begins(0), 20 * 3_600_000);
        assert_eq!(begins(7), (7 * 24 + 20) * 3_600_000);
    }

    #[test]
    fn the_same_time_follows_the_clocks_of_the_zone() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let at = |text: &str| {
            let at: jiff::Timestamp = text.parse().unwrap();
            Timestamp::from_ms(at.as_millisecond())
        };
        for (now, days, same) in [
            // Half past eleven in the evening of a day with 25 hours, and of one with 23.
            ("2026-10-25T22:30:00Z", 1, "2026-10-24T21:30:00Z"),
            ("2026-03-29T21:30:00Z", 1, "2026-03-28T22:30:00Z"),
            ("2026-03-30T10:00:00Z", 7, "2026-03-23T11:00:00Z"),
            // Half past two does not exist on the day with 23 hours.
            ("2026-03-30T00:30:00Z", 1, "2026-03-29T01:30:00Z"),
        ] {
            assert_eq!(same_time(at(now), &berlin, days), at(same), "{now}");
        }
    }
}
