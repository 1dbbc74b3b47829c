//! Connections to PostgreSQL.
//!
//! A connection sets its role and its timeouts with SQL and reads them back. They are not startup
//! options, because a pooler drops these silently. A pooler that shares sessions between
//! connections by transaction is rejected when a process starts ([`check_pooling`]).
//!
//! A connection whose server has become read-only is closed when the pool acquires it next. The
//! pool then connects anew and resolves the host name again, so it follows a failover.

use std::time::Duration;

use sqlx::pool::PoolConnectionMetadata;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, PgPool, Row as _};
use tokio::time::timeout;

use super::{SERVICE_ROLE, failure};
use bahay_base::entropy;

/// The timeout of setting up a new connection.
const SETUP_TIMEOUT: Duration = Duration::from_secs(3);

/// The number of connections held in a transaction during the comparison with the first one.
const HELD: usize = 3;

/// The settings of a pool. The defaults were measured on two cores.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    /// The maximum number of connections. More than eight never helped on two cores; the rest
    /// leaves room for reads.
    pub connections_max: u32,
    /// The timeout of acquiring a connection.
    pub acquire_timeout_ms: u64,
    /// The timeout of a statement.
    pub statement_timeout_ms: u64,
    /// The timeout of a wait for a locked row.
    pub lock_timeout_ms: u64,
    /// The timeout of an idle transaction.
    pub idle_transaction_timeout_ms: u64,
    /// The choice of plans for prepared statements: `auto` or `force_custom_plan`.
    pub plan_cache_mode: &'static str,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            connections_max: 16,
            acquire_timeout_ms: 3_000,
            statement_timeout_ms: 30_000,
            lock_timeout_ms: 5_000,
            idle_transaction_timeout_ms: 10_000,
            plan_cache_mode: "auto",
        }
    }
}

/// An error that keeps a process from opening connections.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the database cannot be reached; start PostgreSQL or correct DATABASE_URL: {0}")]
    Unreachable(sqlx::Error),
    #[error(
        "the login of DATABASE_URL cannot be set up; grant it the role {SERVICE_ROLE}, as \
         containers/roles.sql does, or run `bahay migrate`: {0}"
    )]
    SetupRefused(sqlx::Error),
    #[error(
        "DATABASE_URL leads to a pooler that shares sessions by transaction or by statement; set \
         pool_mode = session for this login in PgBouncer, or name PostgreSQL itself in DATABASE_URL"
    )]
    SharedSession,
    #[error(
        "a connection does not keep its setting {name} ({set} became {found}); set \
         pool_mode = session for this login in PgBouncer, or name PostgreSQL itself in DATABASE_URL"
    )]
    SettingLost { name: &'static str, set: String, found: String },
}

/// The initial settings of a connection.
#[derive(Clone, Copy, Debug)]
struct Setup {
    role: &'static str,
    options: PoolOptions,
}

impl Setup {
    /// Sets the role and the timeouts of a connection, and reads them back.
    async fn apply(self, connection: &mut PgConnection) -> Result<(), ConnectError> {
        match timeout(SETUP_TIMEOUT, self.apply_unbounded(connection)).await {
            Ok(applied) => applied,
            Err(_) => Err(ConnectError::Unreachable(sqlx::Error::PoolTimedOut)),
        }
    }

    async fn apply_unbounded(self, connection: &mut PgConnection) -> Result<(), ConnectError> {
        let Self { role, options } = self;
        let idle_timeout_ms = options.idle_transaction_timeout_ms;
        let settings = [
            ("statement_timeout", options.statement_timeout_ms.to_string()),
            ("lock_timeout", options.lock_timeout_ms.to_string()),
            ("idle_in_transaction_session_timeout", idle_timeout_ms.to_string()),
            ("plan_cache_mode", options.plan_cache_mode.to_owned()),
            // A session of another connection has another mark, or none.
            ("bahay.connection", entropy::uuid().to_string()),
            ("role", role.to_owned()),
        ];
        let set =
            settings.iter().map(|(name, value)| format!("set_config('{name}', '{value}', false)"));
        let set = select(connection, set).await.map_err(ConnectError::SetupRefused)?;
        let read = settings.iter().map(|(name, _)| format!("current_setting('{name}', true)"));
        let found = select(connection, read).await.map_err(ConnectError::Unreachable)?;
        for (((name, _), set), found) in settings.iter().zip(set).zip(found) {
            if set != found {
                let set = set.unwrap_or_default();
                let found = found.unwrap_or_default();
                return Err(ConnectError::SettingLost { name, set, found });
            }
        }
        Ok(())
    }
}

/// Returns the values of some expressions, by a simple query.
async fn select(
    connection: &mut PgConnection,
    expressions: impl Iterator<Item = String>,
) -> Result<Vec<Option<String>>, sqlx::Error> {
    let query = format!("select {}", expressions.collect::<Vec<_>>().join(", "));
    // The expressions contain only constants and numbers of this module.
    let row = connection.fetch_one(AssertSqlSafe(query)).await?;
    (0..row.len()).map(|column| row.try_get(column)).collect()
}

/// Opens a pool in the [`SERVICE_ROLE`] and one connection, so that a wrong address fails at once.
pub async fn connect(options: PgConnectOptions, pool: PoolOptions) -> Result<PgPool, ConnectError> {
    connect_in_role(options, SERVICE_ROLE, pool).await
}

/// Opens a pool like [`connect`], with all rights of the login, for migrations and audits.
pub async fn connect_as_login(
    options: PgConnectOptions,
    pool: PoolOptions,
) -> Result<PgPool, ConnectError> {
    connect_in_role(options, "none", pool).await
}

async fn connect_in_role(
    options: PgConnectOptions,
    role: &'static str,
    pool: PoolOptions,
) -> Result<PgPool, ConnectError> {
    let setup = Setup { role, options: pool };
    // The pool would retry and report only a timeout.
    let mut first = open(&options).await?;
    setup.apply(&mut first).await?;
    first.close().await.map_err(ConnectError::Unreachable)?;
    let pool = pool_options(setup).connect_with(without_startup_options(options)).await;
    pool.map_err(ConnectError::Unreachable)
}

/// Returns a pool in the [`SERVICE_ROLE`] that connects on first use. `options` may be those of
/// another pool.
pub fn connect_lazily(options: PgConnectOptions, pool: PoolOptions) -> PgPool {
    let setup = Setup { role: SERVICE_ROLE, options: pool };
    pool_options(setup).connect_lazy_with(without_startup_options(options))
}

/// Opens one connection in the [`SERVICE_ROLE`], outside of any pool.
pub async fn open_in_role(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let mut connection =
        PgConnection::connect_with(&without_startup_options(options.clone())).await?;
    let setup = Setup { role: SERVICE_ROLE, options: PoolOptions::default() };
    setup.apply(&mut connection).await.map_err(into_sqlx)?;
    Ok(connection)
}

/// Opens one connection with the defaults of its login.
pub(super) async fn open(options: &PgConnectOptions) -> Result<PgConnection, ConnectError> {
    let options = without_startup_options(options.clone());
    PgConnection::connect_with(&options).await.map_err(ConnectError::Unreachable)
}

fn pool_options(setup: Setup) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(setup.options.connections_max)
        .acquire_timeout(Duration::from_millis(setup.options.acquire_timeout_ms))
        // A ping before every use costs as much as a query. A dead connection fails in its first
        // statement: see `retry`.
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            Box::pin(async move { setup.apply(connection).await.map_err(into_sqlx) })
        })
        .before_acquire(|_, PoolConnectionMetadata { age, .. }| {
            Box::pin(async move { Ok(!failure::is_outdated(age)) })
        })
}

/// Removes the startup options that PgBouncer rejects by default, and sets the application name.
fn without_startup_options(options: PgConnectOptions) -> PgConnectOptions {
    options.application_name("bahay").extra_float_digits(None)
}

fn into_sqlx(error: ConnectError) -> sqlx::Error {
    match error {
        ConnectError::Unreachable(error) | ConnectError::SetupRefused(error) => error,
        error @ (ConnectError::SharedSession | ConnectError::SettingLost { .. }) => {
            sqlx::Error::Configuration(error.into())
        }
    }
}

const SET_MARK: &str = "select set_config('bahay.connection', gen_random_uuid()::text, false)";
const READ_MARK: &str = "select current_setting('bahay.connection', true)";

/// Rejects a pooler that gives a session of PostgreSQL to another connection while its own is still
/// open: neither the role nor the timeouts of a connection would be reliable. One connection marks
/// its session, and looks for the mark while others hold their sessions.
///
/// The statements are simple queries, because prepared ones fail at such a pooler by themselves.
pub async fn check_pooling(options: &PgConnectOptions) -> Result<(), ConnectError> {
    let mut first = open(options).await?;
    let mark = read_text(first.fetch_one(SET_MARK).await)?;
    let mut others = Vec::new();
    for _ in 0..HELD {
        let mut other = open(options).await?;
        let other_mark = timeout(SETUP_TIMEOUT, async {
            other.execute("begin").await.map_err(ConnectError::Unreachable)?;
            read_text(other.fetch_one(READ_MARK).await)
        });
        // A pooler without a free session makes the connection wait, which reveals nothing about
        // sharing.
        let Ok(other_mark) = other_mark.await else { break };
        if other_mark? == mark {
            return Err(ConnectError::SharedSession);
        }
        others.push(other);
    }
    // A session held by another connection is not available here, or not soon.
    let own = timeout(SETUP_TIMEOUT, first.fetch_one(READ_MARK)).await;
    let is_own = own.is_ok_and(|own| read_text(own).is_ok_and(|own| own == mark));
    if is_own { Ok(()) } else { Err(ConnectError::SharedSession) }
}

fn read_text(row: Result<PgRow, sqlx::Error>) -> Result<Option<String>, ConnectError> {
    let text = row.and_then(|row| row.try_get(0));
    text.map_err(ConnectError::Unreachable)
}
