//! The database pool (`connect`), the schema's version, and the classes of errors (`failure`).
//!
//! A process starts in two steps: [`check_schema`] refuses a schema or a pooler that this program
//! cannot serve on, and [`connect()`] opens a pool whose connections all take the [`SERVICE_ROLE`],
//! which may not change what was once booked. [`migrate`] brings the schema up to date, as the login
//! that owns it; serving never does that by itself.
//!
//! The pool is bounded and so is the wait for a connection: a caller hears "unavailable" and
//! decides, it does not queue without end. Statements and locks have time limits of their own on
//! the server's side, so that a node that stopped in mid-transaction holds nothing for long.
//! The ledger has a pool of its own, and so have reports: whoever reads takes no connection from
//! games that open and settle. There is no read replica.

mod connect;
mod failure;

use std::time::Duration;

use sqlx::migrate::{Migrate as _, MigrateError, Migrator};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Executor as _, PgConnection};
use tokio::time::sleep;

pub use connect::{
    ConnectError, PoolOptions, check_pooling, connect, connect_as_login, connect_lazily,
    open_in_role,
};
pub use failure::{Failure, retry};

/// What whoever reads or writes is given, by its name here.
pub use sqlx::{Error, PgPool};

/// The migrations that this program was built with.
pub static MIGRATOR: Migrator = sqlx::migrate!("./migrations");

/// The role that every connection of a pool takes. A migration makes it.
pub const SERVICE_ROLE: &str = "bahay_service";

/// The table in which sqlx notes what it has applied.
const MIGRATIONS_TABLE: &str = "_sqlx_migrations";

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

/// Writes the bounds within which the service removes booked data. Takes the login that owns the
/// schema.
pub async fn write_owner_settings(
    pool: &PgPool,
    entries_kept_months: Option<u16>,
    archive_grace_days: Option<u16>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        update owner_settings
        set entries_kept_months = $1, archive_grace = make_interval(days => $2)
        ",
        entries_kept_months.map(i32::from),
        archive_grace_days.map(i32::from)
    )
    .execute(pool)
    .await?;
    Ok(())
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
        if !is_lock_conflict(of) {
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
fn is_lock_conflict(error: &sqlx::Error) -> bool {
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

/// Rejects every schema but the one that this program was built with, and later ones that only
/// added to it. Asks on a connection of its own, since a pool cannot open before a migration has made
/// the [`SERVICE_ROLE`]; rejects poolers first, see [`check_pooling`].
pub async fn check_schema(options: &PgConnectOptions) -> Result<(), SchemaError> {
    check_pooling(options).await?;
    check_schema_in_tx(&mut connect::open(options).await?).await
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
    pub(crate) fn from_rows(mut rows: Vec<T>, limit: u32, cursor: impl Fn(&T) -> C) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(cursor);
        Self { items: rows, next }
    }
}

/// Returns whether the database takes writes, or an error if it does not answer.
pub async fn takes_writes(pool: &PgPool) -> Result<bool, sqlx::Error> {
    let asked = sqlx::query_scalar!(
        r#"
        select not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean
            as "takes_writes!"
        "#
    );
    let takes_writes = asked.fetch_one(pool).await?;
    if !takes_writes {
        failure::note_read_only();
    }
    Ok(takes_writes)
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
