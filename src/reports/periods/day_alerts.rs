//! The alerts of a day for operators: the last check of the ledger, voided games, halted tables, idle POTs, slow
//! settlements, and players who gain much from new players.
//!
//! At most [`LISTED`] games or players of a kind are listed; all are counted.

use std::time::Duration;

use bahay_api::Coins;
use bahay_api::operator::today::{DayAlerts, Gatherer, SlowSettlement, VoidedGame};
use jiff_sqlx::{Date as SqlDate, Timestamp as SqlTimestamp};

use crate::clock::{self, Timestamp};
use crate::db;
use crate::reports::{ReportError, Reports, from_sql, to_sql};

/// The time without an operation after which a POT with coins is reported.
const IDLE_POT: Duration = Duration::from_hours(24);

/// The gain from new players within a day, less the losses to them, from which a player is
/// reported. It equals one welcome grant: among honest players it takes luck, in a room above the
/// first.
const NEWCOMER_GAIN_MAX: Coins = Coins::from_hundredths(1_000 * 100);

/// The maximum number of listed games or players of one kind.
const LISTED: i64 = 20;

impl Reports {
    /// Reads the alerts as of now; games count since `since`, the beginning of the day.
    pub(super) async fn day_alerts(
        &self,
        now: Timestamp,
        since: Timestamp,
    ) -> Result<DayAlerts, ReportError> {
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
                to_sql(clock::subtract(now, IDLE_POT)) as _
            )
            .fetch_one(&self.pool)
        };
        let row = db::retry(once).await?;
        let (gathering, gatherers) = self.find_gatherers(now).await?;
        Ok(DayAlerts {
            ledger_checked_at: row.checked_at.map(|at| from_sql(at).into()),
            ledger_differences: row.differences,
            games_voided: row.voided,
            tables_halted: row.halted,
            pots_idle: row.idle_pots,
            pots_idle_coins: Coins::from_hundredths(row.idle_coins),
            settlements_slow: row.slow,
            slowest_ms: row.slowest_ms,
            gathering,
            gatherers,
            pairs_suspected: None,
            newest_voided: self.newest_voided(since).await?,
            newest_slow: self.newest_slow(since).await?,
        })
    }

    /// Returns the number of players with large gains, and the first of them.
    async fn find_gatherers(&self, now: Timestamp) -> Result<(i64, Vec<Gatherer>), ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select c.player, p.name, c.day as "day: SqlDate", c.amount,
                    count(*) over () as "all!"
                from newcomer_coins c
                join players p on p.id = c.player
                where c.day >= ($1::timestamptz at time zone 'UTC')::date - 1 and c.amount > $2
                order by c.amount desc, c.player
                limit $3
                "#,
                to_sql(now) as _,
                NEWCOMER_GAIN_MAX.hundredths(),
                LISTED
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?;
        let all = rows.first().map_or(0, |row| row.all);
        let gatherers = rows.into_iter().map(|row| Gatherer {
            player: row.player,
            name: row.name,
            day: row.day.to_jiff().to_string(),
            amount: Coins::from_hundredths(row.amount),
        });
        Ok((all, gatherers.collect()))
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
            game: row.id,
            room: row.room,
            voided_at: from_sql(row.voided_at).into(),
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
            game: row.game,
            room: row.room,
            finished_at: from_sql(row.finished_at).into(),
            late_ms: row.late_ms,
        });
        Ok(rows.collect())
    }
}
