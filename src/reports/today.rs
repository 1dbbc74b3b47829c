//! A day at a glance: what it has brought so far, by hour and by room, beside the day before and
//! the same day a week ago up to the same time; what is held now; what asks for somebody.
//!
//! A day is one of the calendar that it is given, as the leaderboards' is. Hours are those of UTC.

use std::collections::BTreeMap;
use std::time::Duration;

use bahay_engine::coins::Coins;
use jiff::tz::TimeZone;
use jiff_sqlx::Timestamp as SqlTimestamp;

use super::booked::{Booked, Counted, Interval, Sums};
use super::{ReportError, Reports, from_sql, to_sql};
use crate::clock::{self, Timestamp};
use crate::db;

/// A POT with coins at a table where nothing was booked for so long is told.
const IDLE_POT: Duration = Duration::from_hours(24);

/// A day so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Today {
    /// As of when; what is told of it is from the beginning of that day on.
    pub at: Timestamp,
    pub begins_at: Timestamp,
    pub day: Figures,
    /// The day before, up to the same time.
    pub day_before: Figures,
    /// The same day a week ago, up to the same time.
    pub week_before: Figures,
    /// Rooms in which something was booked, by their ids.
    pub rooms: Vec<RoomFigures>,
    /// Every hour that has begun.
    pub hours: Vec<Hour>,
    /// What all wallets, stakes and POTs hold now.
    pub wallets: Coins,
    pub stakes: Coins,
    pub pots: Coins,
    pub alarms: Alarms,
}

/// What was booked in some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub opened: i64,
    pub settled: i64,
    pub voided: i64,
    pub sums: Sums,
}

/// The same of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomFigures {
    pub room: String,
    pub figures: Figures,
}

/// The same of an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hour {
    pub begins_at: Timestamp,
    pub figures: Figures,
}

/// What asks for somebody, if it is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alarms {
    /// When the last check of the ledger ended; `None` before the first.
    pub checked_at: Option<Timestamp>,
    /// What it found.
    pub differences: i64,
    /// Games that could not be finished, since the day began.
    pub voided: i64,
    /// Tables that are halted now.
    pub halted: i64,
    /// POTs with coins at tables where nothing was booked for a day, and what is in them.
    pub idle_pots: i64,
    pub idle_coins: Coins,
    /// Settlements of the day that were booked later than five seconds after the end of the game,
    /// and the latest of them.
    pub slow: i64,
    pub slowest_ms: i64,
}

impl Figures {
    pub(super) fn of(counted: &[Counted], booked: &[Booked]) -> Result<Self, ReportError> {
        let mut figures = Self::default();
        for one in counted {
            figures.count(one);
        }
        figures.sums = Sums::of(booked).ok_or_else(overflow)?;
        Ok(figures)
    }

    fn count(&mut self, counted: &Counted) {
        let games = match counted.kind.as_str() {
            // An opening that somebody could not pay has no room, because there is no game.
            "open" if counted.room.is_some() => &mut self.opened,
            "settle" => &mut self.settled,
            "void" => &mut self.voided,
            _ => return,
        };
        *games = games.saturating_add(counted.operations);
    }
}

fn overflow() -> ReportError {
    sqlx::Error::Decode("a sum does not fit 64 bits".into())
}

impl Reports {
    /// The day that it is in this zone.
    pub async fn today(&self, now: Timestamp, zone: &TimeZone) -> Result<Today, ReportError> {
        let begins_at = day_begins(now, zone, 0);
        let so_far = Interval { from: begins_at, to: now };
        let (counted, booked) =
            (self.operations(so_far, true).await?, self.booked(so_far, true).await?);
        let mut rooms = BTreeMap::<String, Figures>::new();
        let mut hours = BTreeMap::<i64, Figures>::new();
        let mut hour_ms = begins_at.ms() - begins_at.ms().rem_euclid(3_600_000);
        while hour_ms < now.ms() {
            hours.entry(hour_ms).or_default();
            hour_ms += 3_600_000;
        }
        for one in &counted {
            if let Some(room) = &one.room {
                rooms.entry(room.clone()).or_default().count(one);
            }
            if let Some(hour) = one.hour {
                hours.entry(hour.ms()).or_default().count(one);
            }
        }
        for one in &booked {
            if let Some(room) = &one.room {
                rooms.entry(room.clone()).or_default().sums.add(one).ok_or_else(overflow)?;
            }
            if let Some(hour) = one.hour {
                hours.entry(hour.ms()).or_default().sums.add(one).ok_or_else(overflow)?;
            }
        }
        let held = self.held().await?;
        let of_kind = |kind: &str| held.get(kind).copied().unwrap_or_default();
        Ok(Today {
            at: now,
            begins_at,
            day: Figures::of(&counted, &booked)?,
            day_before: self.up_to_now(now, zone, 1).await?,
            week_before: self.up_to_now(now, zone, 7).await?,
            rooms: rooms.into_iter().map(|(room, figures)| RoomFigures { room, figures }).collect(),
            hours: hours
                .into_iter()
                .map(|(ms, figures)| Hour { begins_at: Timestamp::from_ms(ms), figures })
                .collect(),
            wallets: of_kind("wallet"),
            stakes: of_kind("stake"),
            pots: of_kind("pot"),
            alarms: self.alarms(now, begins_at).await?,
        })
    }

    /// An earlier day, as far as this one has come.
    async fn up_to_now(
        &self,
        now: Timestamp,
        zone: &TimeZone,
        days: i64,
    ) -> Result<Figures, ReportError> {
        let elapsed = now.ms() - day_begins(now, zone, 0).ms();
        let from = day_begins(now, zone, days);
        let interval = Interval { from, to: Timestamp::from_ms(from.ms() + elapsed) };
        let counted = self.operations(interval, false).await?;
        Figures::of(&counted, &self.booked(interval, false).await?)
    }

    async fn alarms(&self, now: Timestamp, since: Timestamp) -> Result<Alarms, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select c.finished_at as "checked_at?: SqlTimestamp",
                    coalesce(cardinality(c.differences), 0)::bigint as "differences!",
                    (
                        select count(*)
                        from games g
                        where g.state = 'voided' and g.finished_at >= $1
                    ) as "voided!",
                    (
                        select count(*) from halted_tables h where h.released_at is null
                    ) as "halted!",
                    coalesce(p.count, 0) as "idle_pots!", coalesce(p.sum, 0) as "idle_coins!",
                    coalesce(s.count, 0) as "slow!", coalesce(s.slowest_ms, 0) as "slowest_ms!"
                from (
                    select count(*) as count, sum(h.amount)::bigint as sum
                    from held_pots h
                    where h.amount > 0 and h.changed_at < $2
                ) p
                cross join (
                    select count(*) as count, (
                            extract(epoch from max(l.booked_at - l.finished_at)) * 1000
                        )::bigint as slowest_ms
                    from settlements l
                    where l.booked_at - l.finished_at > interval '5 seconds'
                        and l.booked_at >= $1
                ) s
                left join (
                    select k.finished_at, k.differences
                    from ledger_checks k
                    where k.finished_at is not null
                    order by k.slot desc
                    limit 1
                ) c on true
                "#,
                to_sql(since) as _,
                to_sql(clock::before(now, IDLE_POT)) as _
            )
            .fetch_one(&self.pool)
        };
        let row = db::retry(once).await?;
        Ok(Alarms {
            checked_at: row.checked_at.map(from_sql),
            differences: row.differences,
            voided: row.voided,
            halted: row.halted,
            idle_pots: row.idle_pots,
            idle_coins: Coins::from_hundredths(row.idle_coins),
            slow: row.slow,
            slowest_ms: row.slowest_ms,
        })
    }
}

/// When the day began that is so many days before the one of an instant.
fn day_begins(at: Timestamp, zone: &TimeZone, days_before: i64) -> Timestamp {
    let now = clock::to_jiff(at).to_zoned(zone.clone());
    let date = now.date().saturating_sub(jiff::SignedDuration::from_hours(24 * days_before));
    // Only the calendar's first and last days have no beginning.
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
        // 2026-03-01T12:00:00Z is eight in the evening there.
        let now = Timestamp::from_ms(1_772_366_400_000);
        let begins = |days| now.ms() - day_begins(now, &manila, days).ms();
        assert_eq!(begins(0), 20 * 3_600_000);
        assert_eq!(begins(7), (7 * 24 + 20) * 3_600_000);
    }
}
