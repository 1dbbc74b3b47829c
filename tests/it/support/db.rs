//! A database for each test, cloned from a template that has been migrated once.
//!
//! `DATABASE_URL` names the server, and a database on it from which others can be created. The
//! template is named after the migrations, so it is made when they change and reused otherwise.
//! A test's database is dropped when its [`TestDatabase`] is, whether or not the test passed.

use bahay::db::{self, MIGRATOR, Page, PoolOptions};
use sha2::{Digest as _, Sha256};
use sqlx::postgres::{PgConnectOptions, PgRow};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, FromRow, PgConnection, PgPool, Postgres,
    Transaction,
};
use tokio::sync::OnceCell;
use uuid::Uuid;

/// Held while the template is made, since several test programs may make it at once.
const ADVISORY_LOCK: i64 = 0x6261_6861_795f_7465;

static TEMPLATE: OnceCell<String> = OnceCell::const_new();

/// A migrated database for one test.
#[derive(Debug)]
pub(crate) struct TestDatabase {
    server: PgConnectOptions,
    name: String,
}

impl TestDatabase {
    pub(crate) async fn new() -> Self {
        let template = TEMPLATE.get_or_init(template).await;
        Self::create(server(), &format!("template {template}")).await
    }

    /// Creates a database without any schema.
    pub(crate) async fn empty() -> Self {
        Self::create(server(), "").await
    }

    /// Creates a copy of another database, to which nothing may be connected.
    pub(crate) async fn copy_of(other: &Self) -> Self {
        Self::create(other.server.clone(), &format!("template {}", other.name)).await
    }

    /// Creates a database on another server than that of `DATABASE_URL`, without a template.
    pub(crate) async fn create_on(server: PgConnectOptions) -> Self {
        let database = Self::create(server, "").await;
        let pool = database.owner_pool().await;
        db::migrate(&pool).await.expect("the migrations run on an empty database");
        pool.close().await;
        database
    }

    async fn create(server: PgConnectOptions, clause: &str) -> Self {
        let name = format!("bahay_test_{}", Uuid::new_v4().simple());
        let mut admin = connect(&server).await;
        run(&mut admin, format!("create database {name} {clause}")).await;
        Self { server, name }
    }

    /// Creates a database, and a pool with the service's role.
    pub(crate) async fn with_pool() -> (Self, PgPool) {
        let database = Self::new().await;
        let pool = database.pool().await;
        (database, pool)
    }

    /// Returns a URL for another process.
    pub(crate) fn url(&self) -> String {
        self.options().to_url_lossy().to_string()
    }

    pub(crate) fn options(&self) -> PgConnectOptions {
        self.server.clone().database(&self.name)
    }

    /// Creates a pool with the service's role, one for each node of a test.
    pub(crate) async fn pool(&self) -> PgPool {
        let options = PoolOptions { connections_max: 10, ..PoolOptions::default() };
        db::connect(self.options(), options).await.expect("the test's database accepts connections")
    }

    /// Creates a pool with all rights, as an attacker who tampers with the books has. A test may
    /// hold a transaction of it open for two minutes, however slow the machine is.
    pub(crate) async fn owner_pool(&self) -> PgPool {
        let options = PoolOptions {
            statement_timeout_ms: 120_000,
            idle_transaction_timeout_ms: 120_000,
            ..PoolOptions::default()
        };
        let pool = db::connect_as_login(self.options(), options).await;
        pool.expect("the test's database accepts connections")
    }
}

impl Drop for TestDatabase {
    /// Drops the database on its own thread, because the test's runtime may be shutting down.
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let mut admin = connect(&server).await;
                run(&mut admin, format!("drop database {name} with (force)")).await;
            });
        });
        if dropped.join().is_err() {
            eprintln!("database {} could not be dropped", self.name);
        }
    }
}

fn server() -> PgConnectOptions {
    let url = std::env::var("DATABASE_URL");
    let url = url.expect("DATABASE_URL must name a PostgreSQL server for the tests");
    url.parse().expect("DATABASE_URL is a PostgreSQL URL")
}

async fn connect(options: &PgConnectOptions) -> PgConnection {
    PgConnection::connect_with(options).await.expect("the server of DATABASE_URL answers")
}

async fn run(connection: &mut PgConnection, sql: String) {
    sqlx::query(AssertSqlSafe(sql)).execute(connection).await.expect("the statement succeeds");
}

/// Executes statements.
pub(crate) async fn execute(pool: &PgPool, sql: &str) -> u64 {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(pool).await.expect(sql).rows_affected()
}

/// Reads the rows of a query.
pub(crate) async fn read_rows<T>(pool: &PgPool, sql: &str) -> Vec<T>
where
    T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
{
    sqlx::query_as(AssertSqlSafe(sql.to_owned())).fetch_all(pool).await.expect(sql)
}

/// Reads the one row of a query.
pub(crate) async fn read_row<T>(pool: &PgPool, sql: &str) -> T
where
    T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
{
    sqlx::query_as(AssertSqlSafe(sql.to_owned())).fetch_one(pool).await.expect(sql)
}

/// Reads the one column of a query.
pub(crate) async fn read_values<T>(pool: &PgPool, sql: &str) -> Vec<T>
where
    (T,): for<'r> FromRow<'r, PgRow>,
    T: Send + Unpin,
{
    read_rows(pool, sql).await.into_iter().map(|(value,)| value).collect()
}

/// Reads the one value of a query.
pub(crate) async fn read_value<T>(pool: &PgPool, sql: &str) -> T
where
    (T,): for<'r> FromRow<'r, PgRow>,
    T: Send + Unpin,
{
    let (value,) = read_row(pool, sql).await;
    value
}

/// Counts rows of a table, which conditions may follow.
pub(crate) async fn count_rows(pool: &PgPool, from: &str) -> i64 {
    read_value(pool, &format!("select count(*) from {from}")).await
}

/// Reads the items of all pages of a list, each page from the cursor of the one before.
pub(crate) async fn read_pages<T, C>(mut read: impl AsyncFnMut(Option<C>) -> Page<T, C>) -> Vec<T> {
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let page = read(cursor).await;
        items.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            return items;
        }
    }
}

/// Locks a table, given with the mode, until the transaction ends.
pub(crate) async fn lock_table(pool: &PgPool, table: &str) -> Transaction<'static, Postgres> {
    let mut transaction = pool.begin().await.expect("a transaction begins");
    run(&mut transaction, format!("lock table {table}")).await;
    transaction
}

/// Counts the connections to this database that wait for a lock.
pub(crate) async fn count_waiting(pool: &PgPool) -> i64 {
    let from = "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    count_rows(pool, from).await
}

/// Returns the template's name and creates the template if it does not exist. The database is
/// created under another name and renamed at the end, so that a template is always complete.
async fn template() -> String {
    let mut checksums = Sha256::new();
    for migration in MIGRATOR.iter() {
        checksums.update(&migration.checksum);
    }
    let digest = checksums.finalize();
    let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let name = format!("bahay_template_{digest}");

    let server = server();
    let mut admin = connect(&server).await;
    run(&mut admin, format!("select pg_advisory_lock({ADVISORY_LOCK})")).await;
    let found: bool =
        sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
            .bind(&name)
            .fetch_one(&mut admin)
            .await
            .expect("the server lists its databases");
    if !found {
        let raw = format!("bahay_raw_{}", Uuid::new_v4().simple());
        run(&mut admin, format!("create database {raw}")).await;
        let options = server.clone().database(&raw);
        let pool = db::connect_as_login(options, PoolOptions::default()).await;
        let pool = pool.expect("the new database accepts connections");
        db::migrate(&pool).await.expect("the migrations run on an empty database");
        pool.close().await;
        run(&mut admin, format!("alter database {raw} with allow_connections false")).await;
        run(&mut admin, format!("alter database {raw} rename to {name}")).await;
    }
    admin.close().await.expect("the connection closes");
    name
}
