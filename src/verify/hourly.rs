//! The scheduled check of the ledger: a periodic job with one check per time slot, once a day with
//! a replay of every game.
//!
//! The result is a row in `ledger_checks`, a log line, metrics on every node, and a part of
//! `/readyz`. A difference stops nothing; it requires a person's attention.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jiff_sqlx::Timestamp;
use prometheus_client::metrics::gauge::Gauge;
use serde_json::json;
use sqlx::PgPool;
use sqlx::postgres::types::PgInterval;

use super::ledger::{self, Extent, Report};
use crate::db;
use crate::ledger::LedgerError;
use crate::metrics::Metrics;
use crate::records::Records;

/// The overlap with the last check, in minutes. An operation carries the start time of its
/// transaction, and may be committed this much later.
const LATE_MINUTES: i32 = 5;

/// The interval of complete replays, in hours.
const EVERYTHING_HOURS: i32 = 24;

/// The last completed check, on any node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastCheck {
    pub finished_at_ms: i64,
    pub differences: i64,
}

/// The scheduled checks. Clones share the state.
#[derive(Clone, Debug)]
pub struct Checks {
    pool: PgPool,
    records: Records,
    every: Duration,
    last: Arc<RwLock<Option<LastCheck>>>,
    differences: Gauge,
    finished_at: Gauge,
}

impl Checks {
    /// Creates checks with one slot per interval `every`.
    pub fn new(pool: PgPool, every: Duration, metrics: &Metrics) -> Self {
        let gauge = |name, help| metrics.register(name, help, Gauge::default());
        let differences = gauge(
            "bahay_ledger_check_differences",
            "Differences found by the last check of the ledger; -1 before the first",
        );
        differences.set(-1);
        Self {
            pool,
            records: Records::without_archive(),
            every,
            last: Arc::default(),
            differences,
            finished_at: gauge(
                "bahay_ledger_check_finished_timestamp_seconds",
                "End of the last check of the ledger, in seconds since 1970",
            ),
        }
    }

    /// Sets the access to archived records, which are replayed too.
    #[must_use]
    pub fn with_records(self, records: Records) -> Self {
        Self { records, ..self }
    }

    /// Returns the last check that this node knows.
    pub fn last(&self) -> Option<LastCheck> {
        *self.last.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time between two checks.
    pub fn period(&self) -> Duration {
        self.every
    }

    /// Runs the check of the current slot unless it has been completed, and reads the last result.
    pub async fn run_due_check(&self) -> Result<(), LedgerError> {
        if let Some(slot) = db::retry(|| self.claim_slot()).await? {
            self.check(slot).await?;
        }
        Ok(self.observe().await?)
    }

    /// Reads the last result, of any node.
    pub async fn observe(&self) -> Result<(), sqlx::Error> {
        let Some(last) = db::retry(|| read_last_check(&self.pool)).await? else {
            return Ok(());
        };
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some(last);
        self.differences.set(last.differences);
        self.finished_at.set(last.finished_at_ms / 1_000);
        Ok(())
    }

    /// Claims the current slot, also after an interrupted check. Returns `None` if its check has
    /// been completed.
    async fn claim_slot(&self) -> Result<Option<CheckSlot>, sqlx::Error> {
        let every = PgInterval::try_from(self.every).map_err(sqlx::Error::Encode)?;
        sqlx::query_as!(
            CheckSlot,
            r#"
            insert into ledger_checks as l (slot, extent)
            select date_bin($1, now(), 'epoch'::timestamptz),
                case when exists (
                    select from ledger_checks c
                    where c.extent = 'everything' and c.finished_at is not null
                        and c.started_at > now() - make_interval(hours => $2)
                ) then 'recent' else 'everything' end
            on conflict (slot) do update
            set finished_at = null
            where l.finished_at is null
            returning slot as "slot: Timestamp", extent
            "#,
            every,
            EVERYTHING_HOURS
        )
        .fetch_optional(&self.pool)
        .await
    }

    /// Runs a check and stores its differences. Books that cannot be read are a difference as well,
    /// because another attempt would find the same.
    ///
    /// # Errors
    /// If the database or the archive does not answer.
    async fn check(&self, slot: CheckSlot) -> Result<(), LedgerError> {
        let extent = match slot.extent.as_str() {
            "everything" => Extent::Everything,
            _ => Extent::After(
                db::retry(|| read_last_checked_operation(&self.pool)).await?.unwrap_or(0),
            ),
        };
        let (counted, differences) = match ledger::check(&self.pool, &self.records, extent).await {
            Ok(report) => (counts_to_json(&report), report.difference_texts().collect()),
            Err(error) if error.is_transient() => return Err(error),
            Err(error) => (json!({}), vec![format!("the books cannot be read: {error}")]),
        };
        for difference in &differences {
            tracing::error!(%difference, "the ledger does not balance");
        }
        if differences.is_empty() {
            let [operations, settled] =
                ["operations", "settlements_read"].map(|name| counted[name].as_u64());
            tracing::info!(operations, settled, %counted, "the ledger was checked");
        }
        let store = || {
            sqlx::query!(
                "
                update ledger_checks c
                set finished_at = clock_timestamp(), counted = $2, differences = $3
                where c.slot = $1 and c.finished_at is null
                ",
                slot.slot as _,
                counted,
                &differences
            )
            .execute(&self.pool)
        };
        db::retry(store).await?;
        Ok(())
    }
}

/// A slot that this node has claimed.
#[derive(Debug)]
struct CheckSlot {
    slot: Timestamp,
    extent: String,
}

fn counts_to_json(report: &Report) -> serde_json::Value {
    json!({
        "head": report.books.head.map(|head| head.to_string()),
        "accounts": report.books.accounts,
        "operations": report.books.operations,
        "transfers": report.books.transfers,
        "games": report.books.games,
        "openings_read": report.games.opened,
        "settlements_read": report.games.settled,
        "voids_read": report.games.voided,
        "tournament_games_read": report.tournaments.games,
        "actions_replayed": report.games.actions + report.tournaments.actions,
    })
}

async fn read_last_check(pool: &PgPool) -> Result<Option<LastCheck>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select c.finished_at as "finished_at!: Timestamp",
            cardinality(c.differences) as "differences!"
        from ledger_checks c
        where c.finished_at is not null
        order by c.slot desc
        limit 1
        "#
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| LastCheck {
        finished_at_ms: row.finished_at.to_jiff().as_millisecond(),
        differences: i64::from(row.differences),
    }))
}

/// Reads the last operation that the preceding check certainly covered. Only a check without
/// differences counts, so that a difference is reported again.
async fn read_last_checked_operation(pool: &PgPool) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select o.id
        from operations o
        where o.created_at < (
            select max(c.started_at)
            from ledger_checks c
            where c.finished_at is not null and c.differences = '{}'
        ) - make_interval(mins => $1)
        order by o.id desc
        limit 1
        "#,
        LATE_MINUTES
    )
    .fetch_optional(pool)
    .await
}
