//! Monthly partitions: tables that grow with every game have a partition per month, and the
//! partitions of the coming months are created here ahead of time.
//!
//! A periodic job checks for missing partitions and creates them by a database function whose
//! rights the service lacks; creations are serialized, and the second one has nothing to do. A row
//! without a partition of its month is never rejected: it goes to a default partition, and the
//! creation of the month moves it. On each node two gauges show when maintenance fails.
//!
//! Deliberately absent: the removal of old months.

use std::time::Duration;

use jiff_sqlx::Timestamp;
use prometheus_client::metrics::gauge::Gauge;
use sqlx::{PgExecutor, PgPool};

use crate::db;
use crate::ledger::months::TABLES;
use crate::metrics::Metrics;

/// The number of months created ahead.
pub const AHEAD: i32 = 3;

/// The maximum number of counted rows in each default partition.
const COUNTED_MAX: i64 = 100_000;

/// The interval of maintenance.
pub const PERIOD: Duration = Duration::from_mins(10);

/// Creates partitions ahead of time. Clones share the gauges.
#[derive(Clone, Debug)]
pub struct Months {
    pool: PgPool,
    ahead: Gauge,
    unforeseen: Gauge,
}

/// The result of one maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthsReport {
    /// The number of created partitions.
    pub created: u32,
    /// The number of months after the current one that all tables have partitions for, without a
    /// gap.
    pub ahead: i64,
    /// The number of rows in default partitions, up to a bound.
    pub unforeseen: i64,
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
                "Months after the current one that all tables have partitions for; -1 before the first observation",
            ),
            unforeseen: gauge(
                "bahay_default_partition_rows",
                "Rows in default partitions, whose month has no partition; -1 before the first observation",
            ),
        }
    }

    /// Maintains the partitions, and logs the creation of new ones.
    pub async fn run(&self) -> Result<(), sqlx::Error> {
        let MonthsReport { created, ahead, .. } = self.maintain().await?;
        if created > 0 {
            tracing::info!(created, ahead, "partitions were created");
        }
        Ok(())
    }

    /// Creates missing partitions, and analyzes each partitioned table once a day. A partition that
    /// cannot be created now is left to the next maintenance.
    pub async fn maintain(&self) -> Result<MonthsReport, sqlx::Error> {
        let mut created = 0;
        for (table, month) in find_missing_partitions(&self.pool).await? {
            match create_partition(&self.pool, &table, month).await {
                Ok(true) => created += 1,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, table, "a partition could not be created"),
            }
        }
        for table in find_unanalyzed_tables(&self.pool).await? {
            self.analyze(&table).await?;
        }
        let (ahead, unforeseen) = self.observe().await?;
        Ok(MonthsReport { created, ahead, unforeseen })
    }

    /// Sets the gauges of this node, and returns their values.
    pub async fn observe(&self) -> Result<(i64, i64), sqlx::Error> {
        let ahead = count_months_ahead(&self.pool).await?;
        let unforeseen = count_unforeseen_rows(&self.pool).await?;
        self.ahead.set(ahead);
        self.unforeseen.set(unforeseen);
        Ok((ahead, unforeseen))
    }

    async fn analyze(&self, table: &str) -> Result<(), sqlx::Error> {
        let mut tx = db::begin(&self.pool).await?;
        // The duration grows with the number of months, and nobody waits for it.
        sqlx::query!("set local statement_timeout = 0").execute(&mut *tx).await?;
        sqlx::query!(r#"select analyze_months($1) as "nothing?: ()""#, table)
            .fetch_one(&mut *tx)
            .await?;
        tx.commit().await
    }
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

/// Returns the missing partitions: those of this month and some after it, and those of the first
/// and the last rows in default partitions, within the plausible range of a clock.
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
        order by m.month, t.name
        "#,
        &TABLES.map(String::from),
        AHEAD
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(|row| (row.table, row.month)).collect())
}

/// Returns the tables that were not analyzed as a whole within a day.
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
            + (select count(*) from (select from account_operations_unforeseen limit $1) m)
            + (select count(*) from (select from player_settlements_unforeseen limit $1) s)
        ) as "count!"
        "#,
        COUNTED_MAX
    )
    .fetch_one(pool)
    .await
}
