//! The database pool (`connect`), the schema's version, and the classes of errors (`failure`).
//!
//! A process starts in two steps: [`check_schema`] rejects a schema or a pooler that this program
//! cannot serve on, and [`connect()`] opens a pool whose connections all take the [`SERVICE_ROLE`],
//! which may not change booked rows. [`migrate`] brings the schema up to date, as the login that
//! owns it; a server never does that by itself.
//!
//! The pool is bounded, and so is the wait for a connection: after the timeout a caller gets an
//! error and decides, instead of queueing without end. Statements and locks have timeouts on the
//! server's side, so a node that stops within a transaction holds no lock for long. The ledger and
//! the reports have pools of their own, so readers take no connection from games that open and
//! settle. There is no read replica.

mod connect;
mod failure;
mod time;

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::{Migrate as _, MigrateError, Migrator};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Executor as _, PgConnection, PgTransaction};
use tokio::time::sleep;

pub use connect::{
    ConnectError, PoolOptions, check_pooling, connect, connect_as_login, connect_lazily,
    open_in_role,
};
pub use failure::{Failure, retry};
pub use time::{from_sql, to_sql};

/// The types of sqlx that the other modules use.
pub use sqlx::{Error, PgPool};

/// The migrations built into this program.
pub static MIGRATOR: Migrator = sqlx::migrate!("../../migrations");

/// The role of every pooled connection. A migration creates it.
pub const SERVICE_ROLE: &str = "bahay_service";

/// The table in which sqlx records the applied migrations.
const MIGRATIONS_TABLE: &str = "_sqlx_migrations";

/// The lock timeout of a migration. It bounds the time that a waiting migration blocks the
/// transactions queued behind it.
const MIGRATION_LOCK_TIMEOUT: &str = "set lock_timeout = '200ms'";

/// The pause between two attempts of a migration, in which queued transactions proceed.
const MIGRATION_PAUSE: Duration = Duration::from_millis(500);

/// The maximum number of attempts of a migration: about 80 seconds if the lock is held all the
/// time.
pub const MIGRATION_ATTEMPTS: u32 = 120;

/// An error of a migration.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    #[error(
        "migration {version} could not acquire a lock in {attempts} attempts and was rolled back; end the \
         session that holds the lock (see pg_locks), and run `bahay migrate` again"
    )]
    Locked { version: i64, attempts: u32 },
    #[error(
        "another process is migrating and did not finish within {attempts} attempts: run \
         `bahay migrate` again"
    )]
    Another { attempts: u32 },
    #[error("{0}: run `bahay migrate` of that later version")]
    Ahead(SchemaError),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Begins a transaction on a connection of the pool.
///
/// The transaction begins in a task of its own, which a caller that stops waiting does not stop. The
/// pool's own `begin` would then return a connection whose transaction is open, and the writes of
/// later users of the connection would be lost with a rollback.
pub async fn begin(pool: &PgPool) -> Result<PgTransaction<'static>, Error> {
    let pool = pool.clone();
    let begun = tokio::spawn(async move { pool.begin().await });
    match begun.await {
        Ok(begun) => begun,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The process ends.
            Err(_) => Err(Error::PoolClosed),
        },
    }
}

/// Brings the schema up to date. Several processes may call this concurrently: one does the work. A
/// schema of a later version that this program can serve on is left unchanged.
pub async fn migrate(pool: &PgPool) -> Result<(), MigrationError> {
    let checked = check_schema_in_tx(&mut *pool.acquire().await?).await;
    match checked {
        Ok(()) => {}
        Err(error @ SchemaError::Ahead { .. }) => return Err(MigrationError::Ahead(error)),
        // The migrator reports faults other than missing migrations.
        Err(_) => migrate_by(&MIGRATOR, MIGRATION_ATTEMPTS, pool).await?,
    }
    // The table of migrations is sqlx's own, so no migration can grant access to it. Two concurrent
    // grants would be an error.
    let mut tx = begin(pool).await?;
    sqlx::query!("lock table _sqlx_migrations in access exclusive mode").execute(&mut *tx).await?;
    sqlx::query!("grant select on _sqlx_migrations to bahay_service").execute(&mut *tx).await?;
    Ok(tx.commit().await?)
}

/// Writes the limit within which the service removes booked data. Requires the login that owns the
/// schema.
pub async fn write_owner_settings(
    pool: &PgPool,
    archive_grace_days: Option<u16>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update owner_settings set archive_grace = make_interval(days => $1)",
        archive_grace_days.map(i32::from)
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Runs these migrations, each in a transaction, under concurrent reads and writes. A migration
/// that waits for a lock blocks every later transaction, so it waits only briefly, gives up, and
/// retries after a pause.
pub async fn migrate_by(
    migrator: &Migrator,
    attempts: u32,
    pool: &PgPool,
) -> Result<(), MigrationError> {
    let mut attempt = 1;
    loop {
        let mut connection = pool.acquire().await?;
        connection.execute(MIGRATION_LOCK_TIMEOUT).await?;
        let ran = migrator.run(&mut *connection).await;
        // A failed run holds its lock against other migrations until its connection ends.
        connection.close().await?;
        let Err(error) = ran else { return Ok(()) };
        let (of, version) = match &error {
            MigrateError::ExecuteMigration(of, version) => (of, Some(*version)),
            MigrateError::Execute(of) => (of, None),
            _ => return Err(error.into()),
        };
        if !is_lock_conflict(of) {
            return Err(error.into());
        }
        if attempt >= attempts {
            return Err(match version {
                Some(version) => MigrationError::Locked { version, attempts },
                None => MigrationError::Another { attempts },
            });
        }
        tracing::debug!(%error, attempt, "the migration is retried");
        sleep(MIGRATION_PAUSE).await;
        attempt += 1;
    }
}

/// Returns whether the error is a lock timeout or a deadlock.
fn is_lock_conflict(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some("55P03" | "40P01"))
}

/// Returns whether the login could change booked rows if a connection left the [`SERVICE_ROLE`].
pub async fn login_may_rewrite(pool: &PgPool) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select bool_or(
            has_table_privilege(session_user, t.name, 'update')
            or has_table_privilege(session_user, t.name, 'delete')
            or has_table_privilege(session_user, t.name, 'truncate')
        ) as "may!"
        from unnest(
            array[
                'operations', 'operation_keys', 'account_operations', 'game_records', 'seals'
            ]
        ) as t (name)
        "#
    )
    .fetch_one(pool)
    .await
}

/// The reason why this program does not serve on a schema.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    #[error("the database has no schema: run `bahay migrate`")]
    Missing,
    #[error("migration {version} was interrupted: repair the schema by hand")]
    Dirty { version: i64 },
    #[error("the schema lacks migration {version}: run `bahay migrate`")]
    Behind { version: i64 },
    #[error("the schema has migration {version}, which is newer than this program")]
    Ahead { version: i64 },
    #[error("migration {version} was applied with another text than this program's")]
    Changed { version: i64 },
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("the schema cannot be read: {0}")]
    Unreadable(#[from] MigrateError),
}

impl From<sqlx::Error> for SchemaError {
    fn from(error: sqlx::Error) -> Self {
        Self::Unreadable(MigrateError::Execute(error))
    }
}

/// Rejects every schema except the one that this program was built with, and later ones with
/// additive changes only. Uses a connection of its own, since a pool cannot open before a migration
/// has created the [`SERVICE_ROLE`]. Rejects poolers first, see [`check_pooling`].
pub async fn check_schema(options: &PgConnectOptions) -> Result<(), SchemaError> {
    check_pooling(options).await?;
    check_schema_in_tx(&mut connect::open(options).await?).await
}

/// Checks the schema like [`check_schema`], as the caller's transaction sees it.
pub async fn check_schema_in_tx(connection: &mut PgConnection) -> Result<(), SchemaError> {
    let found =
        sqlx::query_scalar!(r#"select to_regclass($1) is not null as "found!""#, MIGRATIONS_TABLE)
            .fetch_one(&mut *connection)
            .await?;
    if !found {
        return Err(SchemaError::Missing);
    }
    if let Some(version) = connection.dirty_version(MIGRATIONS_TABLE).await? {
        return Err(SchemaError::Dirty { version });
    }
    let applied = connection.list_applied_migrations(MIGRATIONS_TABLE).await?;
    let built_in = || MIGRATOR.iter().map(|migration| (migration.version, &migration.checksum));
    let additive = additive_in_tx(connection).await?;
    for migration in &applied {
        let version = migration.version;
        match built_in().find(|(known_version, _)| *known_version == version) {
            None if additive.contains(&version) => {}
            None => return Err(SchemaError::Ahead { version }),
            Some((_, checksum)) if *checksum != migration.checksum => {
                return Err(SchemaError::Changed { version });
            }
            Some(_) => {}
        }
    }
    match built_in().find(|(version, _)| applied.iter().all(|applied| applied.version != *version))
    {
        Some((version, _)) => Err(SchemaError::Behind { version }),
        None => Ok(()),
    }
}

/// Returns the migrations that only added to the schema before them.
async fn additive_in_tx(connection: &mut PgConnection) -> Result<Vec<i64>, sqlx::Error> {
    let noted =
        sqlx::query_scalar!(r#"select to_regclass('additive_migrations') is not null as "noted!""#);
    // The schema may be older than the table.
    if !noted.fetch_one(&mut *connection).await? {
        return Ok(Vec::new());
    }
    sqlx::query_scalar!("select version from additive_migrations").fetch_all(connection).await
}

/// Reads a value from the text of a column.
///
/// # Errors
/// A decoding error if the text is not one of the value's.
pub fn parse_column<T: FromStr<Err: Display>>(text: &str) -> Result<T, sqlx::Error> {
    text.parse().map_err(|error| sqlx::Error::Decode(format!("{text}: {error}").into()))
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, C> {
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// Builds a page from up to `limit` + 1 rows; the additional row only shows that there is a
    /// next page.
    pub fn from_rows(mut rows: Vec<T>, limit: u32, cursor: impl Fn(&T) -> C) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(cursor);
        Self { items: rows, next }
    }
}

/// Returns whether the database takes writes.
///
/// # Errors
/// If it does not answer.
pub async fn takes_writes(pool: &PgPool) -> Result<bool, sqlx::Error> {
    let query = sqlx::query_scalar!(
        r#"
        select not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean
            as "takes_writes!"
        "#
    );
    let takes_writes = query.fetch_one(pool).await?;
    if !takes_writes {
        failure::note_read_only();
    }
    Ok(takes_writes)
}

/// Vacuums and analyzes all tables, as autovacuum would in time; for a database that has just been
/// filled. Requires the login that owns the schema.
pub async fn vacuum(pool: &PgPool) -> Result<(), sqlx::Error> {
    pool.execute("vacuum (analyze)").await.map(|_| ())
}

/// Makes the rest of the caller's transaction find every row by an index, whatever the statistics
/// say, which in a young database describe empty tables. For transactions that name the rows that
/// they read. Since the choice of rows does not matter, a connection plans each statement once and
/// reuses the generic plan.
pub async fn plan_by_keys_in_tx(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let settings = "set local enable_seqscan = off; set local enable_hashjoin = off; \
        set local enable_mergejoin = off; set local plan_cache_mode = force_generic_plan";
    connection.execute(settings).await.map(|_| ())
}
