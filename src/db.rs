//! The database pool, the schema's version, and what a failed statement means.
//!
//! A process starts in two steps: [`check_schema`] refuses a schema that this program cannot
//! serve on, and [`connect`] opens a pool whose connections all take the [`SERVICE_ROLE`], which may
//! not change what was once booked. [`migrate`] brings the schema up to date, as the login that
//! owns it; serving never does that by itself.
//!
//! The pool is bounded and so is the wait for a connection: a caller hears "unavailable" and
//! decides, it does not queue without end. Statements and locks have time limits of their own on
//! the server's side, so that a node that stopped in mid-transaction holds nothing for long.
//! The ledger has a pool of its own, and so have reports: whoever reads takes no connection from
//! games that open and settle. There is no read replica.

use std::borrow::Cow;
use std::future::Future;
use std::time::Duration;

use sqlx::migrate::{Migrate as _, MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, Executor as _, PgConnection};
use tokio::time::sleep;

/// What whoever reads or writes is given, by its name here.
pub use sqlx::{Error, PgPool};

/// The migrations that this program was built with.
pub static MIGRATOR: Migrator = sqlx::migrate!("./migrations");

/// The role that every connection of a pool takes. A migration makes it.
pub const SERVICE_ROLE: &str = "bahay_service";

/// The table in which sqlx notes what it has applied.
const MIGRATIONS_TABLE: &str = "_sqlx_migrations";

/// How often something is tried in all when others are in the way or connections break. With
/// the pauses below that is about five seconds, and more often than a pool has connections, all
/// of which may be dead at once.
const ATTEMPTS_MAX: u32 = 24;

/// The longest pause between two attempts; they begin at two milliseconds and double.
const PAUSE_MS_MAX: u64 = 250;

/// How the pool behaves. The defaults are those that were measured on two cores.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    /// More than eight never helped on two cores; the rest is room for reads.
    pub connections_max: u32,
    /// How long a caller waits for a connection before it hears that there is none.
    pub acquire_timeout_ms: u64,
    /// The longest that one statement may run.
    pub statement_timeout_ms: u64,
    /// The longest wait for a row that somebody else has locked.
    pub lock_timeout_ms: u64,
    /// The longest silence in an open transaction.
    pub idle_transaction_timeout_ms: u64,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            connections_max: 16,
            acquire_timeout_ms: 3_000,
            statement_timeout_ms: 30_000,
            lock_timeout_ms: 5_000,
            idle_transaction_timeout_ms: 10_000,
        }
    }
}

/// Opens a pool in the [`SERVICE_ROLE`] and one connection, so that a wrong address is known at
/// once.
pub async fn connect(options: PgConnectOptions, pool: PoolOptions) -> Result<PgPool, sqlx::Error> {
    connect_as_login(options.options([("role", SERVICE_ROLE)]), pool).await
}

/// As [`connect`], with all that the login may do, for whoever migrates or audits.
pub async fn connect_as_login(
    options: PgConnectOptions,
    pool: PoolOptions,
) -> Result<PgPool, sqlx::Error> {
    let limits = [
        ("statement_timeout", pool.statement_timeout_ms),
        ("lock_timeout", pool.lock_timeout_ms),
        ("idle_in_transaction_session_timeout", pool.idle_transaction_timeout_ms),
    ];
    PgPoolOptions::new()
        .max_connections(pool.connections_max)
        .acquire_timeout(Duration::from_millis(pool.acquire_timeout_ms))
        // A ping before every use costs as much as a query. A dead connection shows itself in
        // its first statement: see `retry`.
        .test_before_acquire(false)
        .connect_with(options.application_name("bahay").options(limits))
        .await
}

/// How long a migration waits for a lock at once: for so long it keeps those waiting who came after it.
const MIGRATION_LOCK_TIMEOUT: &str = "set lock_timeout = '200ms'";

/// The pause between two attempts of a migration, in which those who waited pass.
const MIGRATION_PAUSE: Duration = Duration::from_millis(500);

/// How often a migration is tried in all: for about 80 seconds, where others hold the lock all the time.
pub const MIGRATION_ATTEMPTS: u32 = 120;

/// Why the schema was not brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    #[error(
        "migration {version} did not get a lock that others hold, in {attempts} attempts: nothing of it \
         was done; end what holds the lock (see pg_locks), and run `bahay migrate` again"
    )]
    Locked { version: i64, attempts: u32 },
    #[error(
        "another process migrates, and did not end during {attempts} attempts: run `bahay migrate` again"
    )]
    Another { attempts: u32 },
    #[error("{0}: run `bahay migrate` of the version that it is of")]
    Ahead(SchemaError),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Brings the schema up to date. Several processes may call this at once: one does the work. A schema
/// of a later version, on which this program can serve, is left as it is.
pub async fn migrate(pool: &PgPool) -> Result<(), MigrationError> {
    let checked = check_schema_in_tx(&mut *pool.acquire().await?).await;
    match checked {
        Ok(()) => {}
        Err(error @ SchemaError::Ahead { .. }) => return Err(MigrationError::Ahead(error)),
        // What is wrong beside what is missing, the migrator tells.
        Err(_) => migrate_by(&MIGRATOR, MIGRATION_ATTEMPTS, pool).await?,
    }
    // The table of migrations is sqlx's own, so no migration can count on it. Two grants at once
    // would be an error.
    let mut tx = pool.begin().await?;
    sqlx::query!("lock table _sqlx_migrations in access exclusive mode").execute(&mut *tx).await?;
    sqlx::query!("grant select on _sqlx_migrations to bahay_service").execute(&mut *tx).await?;
    Ok(tx.commit().await?)
}

/// Runs these migrations, each in a transaction, while others read and write. None waits long for a lock,
/// because whoever comes later waits behind it: it gives up, lets them pass, and tries again.
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
        // A run that fails keeps its lock against other migrations until its connection ends.
        connection.close().await?;
        let Err(error) = ran else { return Ok(()) };
        let (of, version) = match &error {
            MigrateError::ExecuteMigration(of, version) => (of, Some(*version)),
            MigrateError::Execute(of) => (of, None),
            _ => return Err(error.into()),
        };
        if !is_in_the_way(of) {
            return Err(error.into());
        }
        if attempt >= attempts {
            return Err(match version {
                Some(version) => MigrationError::Locked { version, attempts },
                None => MigrationError::Another { attempts },
            });
        }
        tracing::debug!(%error, attempt, "the migration is tried again");
        sleep(MIGRATION_PAUSE).await;
        attempt += 1;
    }
}

/// Whether a lock was not to be had in time, or only by a deadlock.
fn is_in_the_way(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some("55P03" | "40P01"))
}

/// Says whether the login could change what was booked, if a connection laid down the
/// [`SERVICE_ROLE`].
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
                'operations', 'operation_keys', 'transfers', 'entries', 'game_records', 'seals'
            ]
        ) as t (name)
        "#
    )
    .fetch_one(pool)
    .await
}

/// Why this program does not serve on the schema that it found.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    #[error("the database has no schema: run `bahay migrate`")]
    Missing,
    #[error("migration {version} broke off half-way: mend the schema by hand")]
    Dirty { version: i64 },
    #[error("the schema lacks migration {version}: run `bahay migrate`")]
    Behind { version: i64 },
    #[error("the schema has migration {version}, which this program is too old to know")]
    Ahead { version: i64 },
    #[error("migration {version} was applied from another text than this program has")]
    Changed { version: i64 },
    #[error("the database cannot be reached; start PostgreSQL or mend DATABASE_URL: {0}")]
    Unreachable(sqlx::Error),
    #[error("the schema cannot be read: {0}")]
    Unreadable(#[from] MigrateError),
}

impl From<sqlx::Error> for SchemaError {
    fn from(error: sqlx::Error) -> Self {
        Self::Unreadable(MigrateError::Execute(error))
    }
}

/// Refuses every schema but the one that this program was built with, and later ones to which since
/// then was only added. Asks on a connection of its own, since a pool cannot open before a migration
/// has made the [`SERVICE_ROLE`].
pub async fn check_schema(options: &PgConnectOptions) -> Result<(), SchemaError> {
    let connection = PgConnection::connect_with(options).await;
    let mut connection = connection.map_err(SchemaError::Unreachable)?;
    check_schema_in_tx(&mut connection).await
}

/// As [`check_schema`], on what the caller's transaction sees.
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
    let known = || MIGRATOR.iter().map(|migration| (migration.version, &migration.checksum));
    let additive = additive_in_tx(connection).await?;
    for migration in &applied {
        let version = migration.version;
        match known().find(|(known_version, _)| *known_version == version) {
            None if additive.contains(&version) => {}
            None => return Err(SchemaError::Ahead { version }),
            Some((_, checksum)) if *checksum != migration.checksum => {
                return Err(SchemaError::Changed { version });
            }
            Some(_) => {}
        }
    }
    match known().find(|(version, _)| applied.iter().all(|applied| applied.version != *version)) {
        Some((version, _)) => Err(SchemaError::Behind { version }),
        None => Ok(()),
    }
}

/// The migrations that only added to the schema before them.
async fn additive_in_tx(connection: &mut PgConnection) -> Result<Vec<i64>, sqlx::Error> {
    let noted =
        sqlx::query_scalar!(r#"select to_regclass('additive_migrations') is not null as "noted!""#);
    // A schema that is older than the table.
    if !noted.fetch_one(&mut *connection).await? {
        return Ok(Vec::new());
    }
    sqlx::query_scalar!("select version from additive_migrations").fetch_all(connection).await
}

/// A page of a list, and where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, C> {
    pub items: Vec<T>,
    /// `None` on the last page.
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// Of one row more than a page holds: that row only says that there is a next page.
    pub(crate) fn of_one_more(mut rows: Vec<T>, limit: u32, cursor: impl Fn(&T) -> C) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(cursor);
        Self { items: rows, next }
    }
}

/// Whether the database answers.
pub async fn ping(pool: &PgPool) -> Result<(), sqlx::Error> {
    sqlx::query_scalar!(r#"select 1 as "one!""#).fetch_one(pool).await.map(|_| ())
}

/// Removes what is dead and learns what is in all tables, as the database does by itself in time:
/// for whoever has just filled one. Takes the login that owns the schema.
pub async fn vacuum(pool: &PgPool) -> Result<(), sqlx::Error> {
    pool.execute("vacuum (analyze)").await.map(|_| ())
}

/// From here on the caller's transaction finds every row by a key, whatever the statistics say, which
/// in a young database speak of empty tables: for whoever names the rows that it reads, however
/// large the tables are. So it does not matter which rows they are, and a connection plans each
/// statement once, not anew for the first five times or always.
pub async fn plan_by_keys_in_tx(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let settings = "set local enable_seqscan = off; set local enable_hashjoin = off; \
        set local enable_mergejoin = off; set local plan_cache_mode = force_generic_plan";
    connection.execute(settings).await.map(|_| ())
}

/// What a failed statement means to whoever asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Somebody else was in the way: the same transaction may pass at once.
    Contended,
    /// The connection broke. Whether a commit went through is not known, so it must be read.
    Lost,
    /// A connection, a lock or an answer was not to be had in time.
    Exhausted,
    /// The statement itself is at fault, or the schema, or the data: trying again is no use.
    Broken,
}

impl Failure {
    pub fn of(error: &sqlx::Error) -> Self {
        match error {
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => Self::Exhausted,
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed => Self::Lost,
            sqlx::Error::Database(error) => Self::of_sqlstate(error.code()),
            // sqlx adds variants; those that it has now beside these are mistakes of ours.
            _ => Self::Broken,
        }
    }

    fn of_sqlstate(code: Option<Cow<'_, str>>) -> Self {
        let code = code.as_deref().unwrap_or_default();
        match code {
            // Serialization failure, deadlock; and a unique key that somebody else took first,
            // whose answer is there to be read.
            "40001" | "40P01" | "23505" => Self::Contended,
            // A lock or a statement that took too long.
            "55P03" | "57014" => Self::Exhausted,
            _ if code.starts_with("08") || code.starts_with("57P") => Self::Lost,
            // Idle in a transaction for too long: the server has closed the connection.
            "25P03" => Self::Lost,
            _ if code.starts_with("53") => Self::Exhausted,
            _ => Self::Broken,
        }
    }
}

/// Does something until it passes or another attempt is no use. Only for what may be done twice:
/// reads, and transactions that find out by a key whether they have been committed before.
pub async fn retry<T, F>(once: impl Fn() -> F) -> Result<T, sqlx::Error>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let mut attempt = 1;
    loop {
        let error = match once().await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        match Failure::of(&error) {
            Failure::Contended | Failure::Lost if attempt < ATTEMPTS_MAX => {}
            Failure::Contended | Failure::Lost | Failure::Exhausted | Failure::Broken => {
                return Err(error);
            }
        }
        tracing::debug!(%error, attempt, "the database is asked again");
        let pause_ms = 1_u64.checked_shl(attempt).unwrap_or(PAUSE_MS_MAX).min(PAUSE_MS_MAX);
        sleep(Duration::from_millis(pause_ms)).await;
        attempt += 1;
    }
}
