//! What operators read: figures by hour and room, settlements, games, players and the books.
//!
//! Pure reading, but for `fold`, which follows the seals of the ledger some seconds behind and
//! counts what would take too long to count when asked (as `standings` does). What it has not
//! counted yet is added from the ledger itself, so the coins of an interval are always exactly
//! those that were booked in it (`booked`). `today` puts figures together, `alarms` what asks for
//! somebody, `settlements` lists settled games, `totals` adds them up, `export` writes them as CSV,
//! `game` is one of them in full, `player` and `partners` tell of a player, `books` of accounts,
//! `deals` anybody of games that were voided.
//!
//! Bounds: a pool of its own, a few connections with short statements, so that a report never waits
//! in front of players; a page of [`PAGE_MAX`]. Absent: deciding who may read.

mod alarms;
mod booked;
mod books;
mod deals;
mod export;
mod projection;
mod game;
mod partners;
mod player;
mod settlements;
mod today;
mod totals;

use std::sync::Arc;
use std::time::Duration;

use jiff_sqlx::ToSqlx as _;
use sqlx::PgPool;
use tokio::sync::{Mutex, watch};
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::{self, Timestamp};
use crate::db;
use crate::records::Records;

pub use alarms::{Alarms, Gatherer, SlowSettlement, VoidedGame};
pub use booked::{TransferTotals, OperationCount, Interval, Sums};
pub use books::{
    AccountCursor, AccountEntry, AccountRow, Balance, CheckRow, OperationCursor, OperationRow,
    Reversibility, TransferRow,
};
pub use deals::{DealSpan, Deals, UNENDED_AFTER};
pub use export::COLUMNS;
pub use game::{Dossier, RecordVerdict};
pub use partners::{Partner, SharedSource, LinkedPlayer};
pub use player::{Complaint, DeviceRow, PlayerNote, PlayerReport, SessionRow};
pub use settlements::{SettlementCursor, SettlementFilter, SettlementRow};
pub use today::{Figures, Hour, RoomFigures, Today};
pub use totals::Totals;

/// The most that one page holds; a larger wish gets this.
pub const PAGE_MAX: u32 = 100;

/// How often it is looked whether the ledger has sealed something.
const LOOK: Duration = Duration::from_secs(1);

/// Connections for all who read reports on a node.
const CONNECTIONS: u32 = 4;

/// The longest that one statement of a report may run.
const STATEMENT_TIMEOUT_MS: u64 = 10_000;

/// Why a report cannot be read.
pub type ReportError = sqlx::Error;

/// What operators read. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Reports {
    pool: PgPool,
    records: Records,
    deals: Arc<deals::DealsCache>,
    trial_balance_turn: Arc<Mutex<()>>,
}

impl Reports {
    /// With connections of its own to the database of this pool.
    pub fn with_own_pool(pool: &PgPool) -> Self {
        let limits = db::PoolOptions {
            connections_max: CONNECTIONS,
            statement_timeout_ms: STATEMENT_TIMEOUT_MS,
            // A plan that is kept knows neither the filter nor how the tables have grown: one for any
            // amount reads days that have none of it, one of a young database reads whole tables for
            // good. Making it anew takes less than a millisecond.
            plan_cache_mode: "force_custom_plan",
            ..db::PoolOptions::default()
        };
        let pool = db::connect_lazily((*pool.connect_options()).clone(), limits);
        Self {
            pool,
            records: Records::without_archive(),
            deals: Arc::default(),
            trial_balance_turn: Arc::default(),
        }
    }

    /// With where old records are.
    #[must_use]
    pub fn with_records(self, records: Records) -> Self {
        Self { records, ..self }
    }

    /// Ends its connections.
    pub async fn close(self) {
        self.pool.close().await;
    }

    /// Counts whatever is sealed, until the server stops.
    pub async fn run(self, mut stopping: watch::Receiver<bool>) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // Without its sender the server has stopped as well.
                _ = stopping.wait_for(|stop| *stop) => return,
                _ = looks.tick() => {}
            }
            let counted = tokio::select! {
                // A transaction that breaks off counts nothing.
                _ = stopping.wait_for(|stop| *stop) => return,
                counted = self.catch_up() => counted,
            };
            if let Err(error) = counted {
                tracing::warn!(%error, "reports are late");
            }
        }
    }

    /// Counts everything that is sealed, as far as standings have it.
    pub async fn catch_up(&self) -> Result<(), ReportError> {
        while projection::project_batch(&self.pool).await? {}
        Ok(())
    }
}

fn to_sql(at: Timestamp) -> jiff_sqlx::Timestamp {
    clock::to_jiff(at).to_sqlx()
}

fn from_sql(at: jiff_sqlx::Timestamp) -> Timestamp {
    clock::from_jiff(at.to_jiff())
}
