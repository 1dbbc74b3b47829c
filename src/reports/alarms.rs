//! What asks for somebody: the last check of the ledger, games that were voided, tables that are
//! halted, POTs that nobody plays for, settlements that were slow; and which games these were.
//!
//! Bounds: [`LISTED`] games of a kind are named; all are counted.

use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::GameId;
use jiff_sqlx::Timestamp as SqlTimestamp;

use super::{ReportError, Reports, from_sql, to_sql};
use crate::clock::{self, Timestamp};
use crate::db;

/// A POT with coins at a table where nothing was booked for so long is told.
const IDLE_POT: Duration = Duration::from_hours(24);

/// Games of a kind that are named.
const LISTED: i64 = 20;

/// What asks for somebody, if it is not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// The newest of those that were voided, and of those that were slow.
    pub newest_voided: Vec<VoidedGame>,
    pub newest_slow: Vec<SlowSettlement>,
}

/// A game that could not be finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoidedGame {
    pub game: GameId,
    pub room: String,
    pub voided_at: Timestamp,
    pub reason: String,
}

/// A settlement that was booked late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowSettlement {
    pub game: GameId,
    pub room: String,
    pub finished_at: Timestamp,
    /// From the end of the game to the booking.
    pub late_ms: i64,
}

impl Reports {
    /// As of now; of games those since the day began.
    pub(super) async fn alarms(
        &self,
        now: Timestamp,
        since: Timestamp,
    ) -> Result<Alarms, ReportError> {
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
            newest_voided: self.newest_voided(since).await?,
            newest_slow: self.newest_slow(since).await?,
        })
    }

    async fn newest_voided(&self, since: Timestamp) -> Result<Vec<VoidedGame>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select g.id, g.room, g.finished_at as "voided_at!: SqlTimestamp",
                    g.void_reason as "reason!"
                from games g
                where g.state = 'voided' and g.finished_at >= $1
                order by g.finished_at desc, g.id desc
                limit $2
                "#,
                to_sql(since) as _,
                LISTED
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| VoidedGame {
            game: GameId(row.id),
            room: row.room,
            voided_at: from_sql(row.voided_at),
            reason: row.reason,
        });
        Ok(rows.collect())
    }

    async fn newest_slow(&self, since: Timestamp) -> Result<Vec<SlowSettlement>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select s.game, s.room, s.finished_at as "finished_at: SqlTimestamp",
                    (extract(epoch from s.booked_at - s.finished_at) * 1000)::bigint as "late_ms!"
                from settlements s
                where s.booked_at - s.finished_at > interval '5 seconds' and s.booked_at >= $1
                order by s.booked_at desc, s.game desc
                limit $2
                "#,
                to_sql(since) as _,
                LISTED
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| SlowSettlement {
            game: GameId(row.game),
            room: row.room,
            finished_at: from_sql(row.finished_at),
            late_ms: row.late_ms,
        });
        Ok(rows.collect())
    }
}
