//! Projections: tables that follow from the sealed operations of the ledger, some seconds late, and
//! the projection runner that all of them share.
//!
//! A [`Projection`] applies batches of operations. The runner takes the next seals, applies them
//! and advances the position, in one transaction that holds the position's row in `projections`. So
//! one process projects at a time, and a crash neither loses nor doubles an operation. Seals are
//! the input because they contain every operation once, in one order, and appear atomically. A
//! player's games come in the order of their settlements, because the settlements lock the same
//! wallet.
//!
//! A projection is rebuilt by deleting its tables and starting from the first seal: by the runner
//! when its [version](Projection::version) changes, or by [`rebuild`]. `settled_games` reads the
//! games of a batch.

mod settled_games;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection, PgPool};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::Moment;
use crate::db;
use crate::metrics::Metrics;

pub use settled_games::{SettledGameRow, read_settled_games};

/// The interval between two checks for new seals.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Tables that follow from the sealed operations of the ledger.
pub trait Projection: Send + Sync {
    /// The name in the table `projections`, where its migration inserts it, and in the metric.
    const NAME: &'static str;
    /// The tables of the projection, those that refer to others first.
    const TABLES: &'static [&'static str];
    /// The number of seals per batch, each with at most a thousand operations.
    const SEALS_MAX: i64;
    /// A projection whose rows this one reads, and which it therefore never overtakes.
    const AFTER: Option<&'static str> = None;

    type Error: From<sqlx::Error> + fmt::Display + Send;
    /// The changes that are published after the commit.
    type Changes: Send;

    fn pool(&self) -> &PgPool;

    /// Returns the settings that the rows depend on. Other ones than before require a rebuild, for
    /// which the service needs the right to delete rows.
    fn version(&self) -> String {
        String::new()
    }

    /// Applies operations, in the order of their seals. All rows are found by keys.
    fn apply(
        &self,
        connection: &mut PgConnection,
        operations: &[i64],
    ) -> impl Future<Output = Result<Self::Changes, Self::Error>> + Send;

    /// Publishes the number of rebuilds, and the committed changes of a batch.
    fn publish(
        &self,
        _generation: i64,
        _changes: Option<Self::Changes>,
    ) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// The position of a projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The last projected seal.
    pub seal: i64,
    /// The settings that the rows depend on.
    pub version: String,
    /// The number of rebuilds, from 1.
    pub generation: i64,
    /// The last seal of the ledger.
    pub head: i64,
}

/// Runs projections and measures how late they are. Clones share the measurements.
#[derive(Clone, Debug, Default)]
pub struct Runner {
    /// The moment at which each projection was last found up to date.
    up_to_date_at: Arc<Mutex<BTreeMap<&'static str, Moment>>>,
}

impl Runner {
    pub fn new(metrics: &Metrics) -> Self {
        let runner = Self::default();
        let sampled = runner.clone();
        metrics.register_gauges_fn(
            "bahay_projection_lag_seconds",
            "Time since this node last found every seal projected",
            "projection",
            move || {
                let moments = sampled.moments();
                moments.iter().map(|(name, at)| (*name, at.elapsed().as_secs())).collect()
            },
        );
        runner
    }

    /// Runs a projection until the server stops.
    pub async fn run<P: Projection>(self, projection: P, mut stopping: watch::Receiver<bool>) {
        self.moments().insert(P::NAME, Moment::now());
        let mut ticks = interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let projected = tokio::select! {
                // A dropped sender means that the server has stopped as well. An interrupted
                // transaction changes nothing.
                _ = stopping.wait_for(|stop| *stop) => return,
                projected = async {
                    ticks.tick().await;
                    catch_up(&projection).await
                } => projected,
            };
            match projected {
                Ok(true) => {
                    self.moments().insert(P::NAME, Moment::now());
                }
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(projection = P::NAME, %error, "a projection failed");
                }
            }
        }
    }

    fn moments(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, Moment>> {
        self.up_to_date_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Applies all seals, unless another process is doing so. Returns whether every seal of the ledger
/// is projected now.
pub async fn catch_up<P: Projection>(projection: &P) -> Result<bool, P::Error> {
    // Most calls find nothing new, and need no lock.
    let found = read_position(&mut *projection.pool().acquire().await?, P::NAME).await?;
    if found.version == projection.version() && found.seal >= found.head {
        projection.publish(found.generation, None).await;
        return Ok(true);
    }
    loop {
        if let Some(is_up_to_date) = project_batch(projection).await? {
            return Ok(is_up_to_date);
        }
    }
}

/// Applies a batch, or returns whether every seal is projected if there is none: no seal is left,
/// another process is projecting, or the next seal waits for another projection.
async fn project_batch<P: Projection>(projection: &P) -> Result<Option<bool>, P::Error> {
    let mut tx = db::begin(projection.pool()).await?;
    let Some(position) = lock_position::<P>(&mut tx, &projection.version()).await? else {
        return Ok(Some(false));
    };
    let Position { seal, generation, head, .. } = position;
    let next = sqlx::query!(
        r#"
        select max(n.number) as number,
            array_agg(n.operation order by n.number, n.place) as "operations: Vec<i64>"
        from (
            select s.number, o.operation, o.place
            from seals s
            cross join unnest(s.operations) with ordinality as o (operation, place)
            where s.number > $1 and s.number <= $1 + $2
                and (
                    $3::text is null
                    or s.number <= (select p.seal from projections p where p.name = $3)
                )
        ) n
        "#,
        seal,
        P::SEALS_MAX,
        P::AFTER
    );
    let next = if seal < head { Some(next.fetch_one(&mut *tx).await?) } else { None };
    let Some((last, operations)) = next.and_then(|next| next.number.zip(next.operations)) else {
        // The position of a new version is committed, so that readers know its generation.
        tx.commit().await?;
        projection.publish(generation, None).await;
        return Ok(Some(seal >= head));
    };
    db::plan_by_keys_in_tx(&mut tx).await?;
    let changes = projection.apply(&mut tx, &operations).await?;
    advance_position(&mut tx, P::NAME, last).await?;
    tx.commit().await?;
    projection.publish(generation, Some(changes)).await;
    Ok(None)
}

/// Reads the position of a projection.
pub async fn read_position(
    connection: &mut PgConnection,
    name: &str,
) -> Result<Position, sqlx::Error> {
    sqlx::query_as!(
        Position,
        r#"
        select p.seal, p.version, p.generation,
            coalesce((select max(s.number) from seals s), 0) as "head!"
        from projections p
        where p.name = $1
        "#,
        name
    )
    .fetch_one(connection)
    .await
}

/// Locks the position of a projection. Returns `None` while another process holds it. If the rows
/// are those of another version, they are deleted and the position is reset.
pub async fn lock_position<P: Projection>(
    connection: &mut PgConnection,
    version: &str,
) -> Result<Option<Position>, sqlx::Error> {
    let locked = sqlx::query_scalar!(
        "select p.name from projections p where p.name = $1 for no key update skip locked",
        P::NAME
    );
    if locked.fetch_optional(&mut *connection).await?.is_none() {
        return Ok(None);
    }
    let position = read_position(connection, P::NAME).await?;
    if position.version == version {
        return Ok(Some(position));
    }
    if position.seal > 0 {
        let before = position.version;
        tracing::warn!(projection = P::NAME, %before, now = %version, "a projection is rebuilt");
    }
    delete_rows::<P>(connection, version).await?;
    read_position(connection, P::NAME).await.map(Some)
}

/// Advances the locked position of a projection.
pub async fn advance_position(
    connection: &mut PgConnection,
    name: &str,
    seal: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query!("update projections set seal = $2 where name = $1", name, seal)
        .execute(connection)
        .await
        .map(|_| ())
}

/// Deletes all rows of a projection, which servers then project anew. Requires the right to delete
/// them, which the login that owns the schema has.
pub async fn rebuild<P: Projection>(pool: &PgPool) -> Result<(), sqlx::Error> {
    let mut tx = db::begin(pool).await?;
    let version = sqlx::query_scalar!(
        "select p.version from projections p where p.name = $1 for no key update",
        P::NAME
    );
    let version = version.fetch_one(&mut *tx).await?;
    delete_rows::<P>(&mut tx, &version).await?;
    tx.commit().await
}

async fn delete_rows<P: Projection>(
    connection: &mut PgConnection,
    version: &str,
) -> Result<(), sqlx::Error> {
    for table in P::TABLES {
        let delete = AssertSqlSafe(format!("delete from {table}"));
        sqlx::query(delete).execute(&mut *connection).await?;
    }
    sqlx::query!(
        "
        update projections
        set seal = 0, version = $2, generation = generation + 1
        where name = $1
        ",
        P::NAME,
        version
    )
    .execute(connection)
    .await
    .map(|_| ())
}
