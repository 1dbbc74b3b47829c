//! Reports for operators: figures by hour and room, settlements, games, players and the books.
//!
//! Reports only read, except for `projection`, which follows the seals of the ledger some seconds
//! behind and maintains sums that would take too long to compute on request (as `standings` does).
//! Operations that are not projected yet are added from the ledger itself, so the sums of an
//! interval are exact (`booked`).
//!
//! - `periods` has the figures of whole days, `settlements` the settled games, `game` one of them in
//!   full.
//! - `pairs` ranks pairs of players by signs of collusion, from a projection of its own.
//! - `players` reports one player, `books` the accounts, `search` finds anything by a part of its
//!   name; `deals` is public and counts voided games.
//!
//! Bounds: reports have a pool of their own with a few connections and short statements, so that a
//! report never delays players; a page has at most [`PAGE_MAX`] rows. Deliberately absent:
//! authorization.

mod account_transfers;
mod booked;
mod bookings;
mod books;
mod days;
mod deals;
mod figures;
mod game;
pub mod pairs;
mod periods;
mod players;
mod projection;
pub mod search;
mod settlements;
mod titles;

use std::sync::Arc;

use sqlx::PgPool;
use tokio::sync::Mutex;

use crate::db::{self, from_sql, to_sql};
use crate::projections;
use crate::records::Records;

pub use bahay_api::operator::players::PlayerNote;
pub use bahay_api::operator::settlements::SettlementFilter;

pub use account_transfers::AccountTransfers;
pub use booked::{Interval, OperationCount, TransferTotals, write_transfers};
pub use books::{OperationRow, Reversibility, add_up};
pub use days::PeriodDays;
pub use deals::{DealSpan, Deals, UNENDED_AFTER};
pub use figures::sum_figures;
pub use game::{Dossier, RecordVerdict};
pub use pairs::{
    CONDUCT_PERIOD, ConductMeasurement, PAIR_DAYS_MAX, PairPosition, Pairs, TournamentPair,
};
pub use players::{PlayerReport, TooManyBookings, describe_items, write_statement};
pub use titles::{account_title, describe_item, operation_title, purpose_title};

/// The maximum page size; a larger limit is reduced to it.
pub const PAGE_MAX: u32 = 100;

/// The number of connections for all reports of a node.
const CONNECTIONS: u32 = 4;

/// The timeout of a report's statement, in milliseconds.
const STATEMENT_TIMEOUT_MS: u64 = 10_000;

/// An error of reading a report.
pub type ReportError = sqlx::Error;

/// The reports. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Reports {
    pool: PgPool,
    records: Records,
    /// The last statistics of games.
    deals: Arc<Mutex<Option<Deals>>>,
    trial_balance_turn: Arc<Mutex<()>>,
}

impl Reports {
    /// Creates reports with connections of their own to the database of `pool`.
    pub fn with_own_pool(pool: &PgPool) -> Self {
        let limits = db::PoolOptions {
            connections_max: CONNECTIONS,
            statement_timeout_ms: STATEMENT_TIMEOUT_MS,
            // A cached plan considers neither the filter nor the growth of the tables: a plan for
            // any amount reads days without a match, and a plan of a young database reads whole
            // tables forever. Planning takes less than a millisecond.
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

    /// Sets the access to archived records.
    #[must_use]
    pub fn with_records(self, records: Records) -> Self {
        Self { records, ..self }
    }

    /// Closes the connections.
    pub async fn close(self) {
        self.pool.close().await;
    }

    /// Projects all sealed operations, as far as standings have projected them.
    pub async fn catch_up(&self) -> Result<(), ReportError> {
        projections::catch_up(self).await.map(|_| ())
    }
}
