//! Months: tables that grow with every game have a part for each month, and the parts of the months
//! to come are created here, ahead of time.
//!
//! Each node ticks now and then which parts are missing, and has the database make them, by a
//! function that may do what the service may not: one after the other, whoever comes second finds
//! nothing to do. What finds no month is never refused; it goes to a part of its own, and the look
//! that makes its month moves it there. Two figures tell people when that does not work.
//!
//! Older months are closed here as well, by another such function, if the owner of the schema has said for
//! how many months entries are kept (`bahay migrate`): their entries go, and their sums stay
//! (docs/LEDGER.md).
//!
//! Deliberately absent: operations and transfers that are taken away.

use std::fmt;
use std::time::Duration;

use jiff_sqlx::{Timestamp, ToSqlx as _};
use prometheus_client::metrics::gauge::Gauge;
use sqlx::{PgExecutor, PgPool};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::metrics::Metrics;

/// The tables that have months.
pub const TABLES: [&str; 4] = ["operations", "transfers", "entries", "player_settlements"];

/// How many months after this one are made.
pub const AHEAD: i32 = 3;

/// So many of the unforeseen rows are counted of each table.
const COUNTED_MAX: i64 = 100_000;

/// How often a node ticks.
const MAINTENANCE_INTERVAL: Duration = Duration::from_mins(10);

/// The least id of the month (UTC) of a time, as the database's function of this name has it: an
/// operation of that time or later has no lower one.
pub fn first_operation_of(at: jiff::Timestamp) -> i64 {
    let date = at.to_zoned(jiff::tz::TimeZone::UTC).date();
    let month = (i64::from(date.year()) - 2_000) * 100 + i64::from(date.month());
    month.saturating_mul(1_000_000_000_000)
}

/// Makes months ahead of time; clones share the figures.
#[derive(Clone)]
pub struct Months {
    pool: PgPool,
    ahead: Gauge,
    unforeseen: Gauge,
}

/// What a look has found and done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthsReport {
    /// Parts that it made.
    pub created: u32,
    /// How many months after this one there are in all tables, without a gap.
    pub ahead: i64,
    /// Rows that found no month, up to a bound.
    pub unforeseen: i64,
}

impl fmt::Debug for Months {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Months")
    }
}

impl Months {
    pub fn new(pool: PgPool, metrics: &Metrics) -> Self {
        let gauge = |name, help| {
            let gauge: Gauge = metrics.register(name, help, Gauge::default());
            gauge.set(-1);
            gauge
        };
        Self {
            pool,
            ahead: gauge(
                "bahay_partition_months_ahead",
                "Months after this one for which all tables have a part; -1 before the first look",
            ),
            unforeseen: gauge(
                "bahay_default_partition_rows",
                "Rows for whose month no table has a part; -1 before the first look",
            ),
        }
    }

    /// Looks now and then until the server stops.
    pub async fn run(self, mut stopping: watch::Receiver<bool>) {
        let mut ticks = interval(MAINTENANCE_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = stopping.wait_for(|stop| *stop) => return,
                _ = ticks.tick() => {}
            }
            let looked = tokio::select! {
                _ = stopping.wait_for(|stop| *stop) => return,
                looked = self.maintain() => looked,
            };
            match looked {
                Ok(MonthsReport { created: 0, .. }) => {}
                Ok(MonthsReport { created, ahead, .. }) => tracing::info!(created, ahead, "months were made"),
                Err(error) => tracing::warn!(%error, "months could not be looked at"),
            }
            let closed = tokio::select! {
                _ = stopping.wait_for(|stop| *stop) => return,
                closed = self.close_oldest_month() => closed,
            };
            match closed {
                Ok(None) => {}
                Ok(Some(month)) => tracing::info!(month, "a month was closed"),
                Err(error) => tracing::warn!(%error, "a month cannot be closed yet"),
            }
        }
    }

    /// Closes the oldest month, if its entries were kept for as long as the owner has said.
    pub async fn close_oldest_month(&self) -> Result<Option<String>, sqlx::Error> {
        let mut tx = self.pool.begin().await?;
        // All of a month is read.
        sqlx::query!("set local statement_timeout = 0").execute(&mut *tx).await?;
        let closed = sqlx::query_scalar!("select close_oldest_month()").fetch_one(&mut *tx).await?;
        tx.commit().await?;
        Ok(closed)
    }

    /// Makes what is missing, and learns how much there is in all months, if that was not done for
    /// a day. A part that cannot be created now is left to the next look.
    pub async fn maintain(&self) -> Result<MonthsReport, sqlx::Error> {
        let mut created = 0;
        for (table, month) in find_missing_partitions(&self.pool).await? {
            match create_partition(&self.pool, &table, month).await {
                Ok(true) => created += 1,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, table, "the part of a month is not created yet"),
            }
        }
        for table in find_unanalyzed_tables(&self.pool).await? {
            self.analyze(&table).await?;
        }
        let ahead = count_months_ahead(&self.pool).await?;
        let unforeseen = count_unforeseen_rows(&self.pool).await?;
        self.ahead.set(ahead);
        self.unforeseen.set(unforeseen);
        Ok(MonthsReport { created, ahead, unforeseen })
    }

    async fn analyze(&self, table: &str) -> Result<(), sqlx::Error> {
        let mut tx = self.pool.begin().await?;
        // It takes as long as there are months, and nobody waits for it.
        sqlx::query!("set local statement_timeout = 0").execute(&mut *tx).await?;
        sqlx::query!(r#"select analyze_months($1) as "nothing?: ()""#, table)
            .fetch_one(&mut *tx)
            .await?;
        tx.commit().await
    }
}

/// Makes the parts of all tables for the months from one time to another, for whoever writes a
/// history. Takes the login that owns the schema, or the role of the service.
pub async fn create_partitions(
    pool: &PgPool,
    from: jiff::Timestamp,
    to: jiff::Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        select count(make_month(t.name, m.month at time zone 'UTC')) as "count!"
        from unnest($1::text[]) as t (name)
        cross join generate_series(
            date_trunc('month', $2::timestamptz at time zone 'UTC'), $3::timestamptz at time zone 'UTC',
            interval '1 month'
        ) as m (month)
        "#,
        &TABLES.map(String::from),
        from.to_sqlx() as _,
        to.to_sqlx() as _
    )
    .fetch_one(pool)
    .await
    .map(|_| ())
}

async fn create_partition(
    executor: impl PgExecutor<'_>,
    table: &str,
    month: Timestamp,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(r#"select make_month($1, $2) as "made!""#, table, month as _)
        .fetch_one(executor)
        .await
}

/// Which parts are wanted and not there: of this month and some after it, and of the first and the
/// last that rows without a month are of, as far as a clock can be believed.
async fn find_missing_partitions(pool: &PgPool) -> Result<Vec<(String, Timestamp)>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with months as (
            select m.month
            from generate_series(
                date_trunc('month', now() at time zone 'UTC'),
                date_trunc('month', now() at time zone 'UTC') + make_interval(months => $2),
                interval '1 month'
            ) as m (month)
            union
            select make_timestamp(
                    2000 + (i.id / 100000000000000)::integer,
                    (i.id / 1000000000000 % 100)::integer, 1, 0, 0, 0
                )
            from (
                select min(u.id) as id from operations_unforeseen u
                union
                select max(u.id) from operations_unforeseen u
            ) i
            where i.id between 2000000000000000 and 9912999999999999
                and i.id / 1000000000000 % 100 between 1 and 12
            union
            select date_trunc('month', f.finished_at at time zone 'UTC')
            from (
                select min(u.finished_at) as finished_at from player_settlements_unforeseen u
                union
                select max(u.finished_at) from player_settlements_unforeseen u
            ) f
            where f.finished_at is not null
        )
        select t.name as "table!", m.month at time zone 'UTC' as "month!: Timestamp"
        from months m
        cross join unnest($1::text[]) as t (name)
        where m.month >= timestamp '2020-01-01'
            and m.month <= now() at time zone 'UTC' + interval '3 years'
            and to_regclass(t.name || to_char(m.month, '_YYYY_MM')) is null
            and not (
                t.name = 'entries'
                and exists (select from closed_months c where c.month >= m.month::date)
            )
        order by m.month, t.name
        "#,
        &TABLES.map(String::from),
        AHEAD
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(|row| (row.table, row.month)).collect())
}

/// Tables whose months were not looked at together for a day.
async fn find_unanalyzed_tables(pool: &PgPool) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select s.relname::text as "table!"
        from pg_stat_user_tables s
        where s.schemaname = 'public' and s.relname = any($1)
            and coalesce(s.last_analyze, '-infinity') < now() - interval '1 day'
        order by 1
        "#,
        &TABLES.map(String::from)
    )
    .fetch_all(pool)
    .await
}

async fn count_months_ahead(pool: &PgPool) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select coalesce(min(n.number) - 1, 36)::bigint as "ahead!"
        from generate_series(1, 36) as n (number)
        where exists (
            select from unnest($1::text[]) as t (name)
            where to_regclass(
                t.name || to_char(
                    date_trunc('month', now() at time zone 'UTC')
                        + make_interval(months => n.number),
                    '_YYYY_MM'
                )
            ) is null
        )
        "#,
        &TABLES.map(String::from)
    )
    .fetch_one(pool)
    .await
}

async fn count_unforeseen_rows(pool: &PgPool) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select (
            (select count(*) from (select from operations_unforeseen limit $1) o)
            + (select count(*) from (select from transfers_unforeseen limit $1) t)
            + (select count(*) from (select from entries_unforeseen limit $1) e)
            + (select count(*) from (select from player_settlements_unforeseen limit $1) s)
        ) as "count!"
        "#,
        COUNTED_MAX
    )
    .fetch_one(pool)
    .await
}
