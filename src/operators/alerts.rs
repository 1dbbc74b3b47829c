//! The alerts: failures, a closed house, and the work that waits for an operator.

use bahay_api::operator::alerts::HouseAlerts;
use sqlx::PgPool;

use crate::clock::Timestamp;
use crate::db::{self, to_sql};

/// The time for which a transfer or a table of a tournament is due before it is an alert, in
/// milliseconds.
pub const TOURNAMENT_STUCK_MS: u32 = 180_000;

/// The numbers of nodes that failed.
#[derive(Clone, Copy, Debug, Default)]
pub struct FailedNodes {
    /// Without a recent heartbeat, and not dead yet.
    pub silent: i64,
    /// Declared dead in the last hour.
    pub dead: i64,
}

/// The reader of the alerts. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Alerts {
    pool: PgPool,
}

impl Alerts {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Reads the alerts, given the numbers of nodes that failed; `None` if the live store is not
    /// writable. The number of pairs with signs of collusion is `None` if it is not known.
    pub async fn read(
        &self,
        at: Timestamp,
        failed_nodes: Option<FailedNodes>,
        pairs_suspected: Option<i64>,
    ) -> Result<HouseAlerts, sqlx::Error> {
        let due = Timestamp::from_ms(at.ms() - i64::from(TOURNAMENT_STUCK_MS));
        let once = || {
            sqlx::query!(
                r#"
                select h.is_open as is_house_open,
                    coalesce((
                        select cardinality(k.differences)
                        from ledger_checks k
                        where k.finished_at is not null
                        order by k.slot desc
                        limit 1
                    ), 0)::bigint as "ledger_differences!",
                    (
                        select count(*) from halted_tables t where t.released_at is null
                    ) as "tables_halted!",
                    (
                        select count(*) from corrections c where c.state = 'open'
                    ) as "corrections_open!",
                    (
                        select count(*) from tournament_requests q where q.state = 'open'
                    ) as "tournament_requests_open!",
                    (
                        select count(*) from tournaments t where t.due_at <= $1
                    ) as "tournaments_stuck!",
                    (
                        select count(*) from player_reports r where r.outcome is null
                    ) as "reports_open!",
                    (select count(*) from jobs j where j.died_at is not null) as "jobs_dead!"
                from house h
                "#,
                to_sql(due) as _
            )
            .fetch_one(&self.pool)
        };
        let row = db::retry(once).await?;
        let FailedNodes { silent, dead } = failed_nodes.unwrap_or_default();
        Ok(HouseAlerts {
            at: at.into(),
            is_live_store_writable: failed_nodes.is_some(),
            silent_nodes: silent,
            dead_nodes: dead,
            is_house_open: row.is_house_open,
            ledger_differences: row.ledger_differences,
            tables_halted: row.tables_halted,
            corrections_open: row.corrections_open,
            tournament_requests_open: row.tournament_requests_open,
            tournaments_stuck: row.tournaments_stuck,
            reports_open: row.reports_open,
            pairs_suspected,
            jobs_dead: row.jobs_dead,
        })
    }
}
