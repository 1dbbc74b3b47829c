//! Databases of a benchmark on the server that `DATABASE_URL` names.

use bahay::db::{self, PgPool, PoolOptions};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// Creates databases with these names, instead of earlier ones. Returns the server, and a
/// connection to it.
pub async fn recreate(names: &[&str]) -> (PgConnectOptions, PgConnection) {
    let url = std::env::var("DATABASE_URL").expect("run this by ./dev bench");
    let server: PgConnectOptions = url.parse().expect("DATABASE_URL is a PostgreSQL URL");
    let mut admin = PgConnection::connect_with(&server).await.expect("the server answers");
    for name in names {
        execute(&mut admin, &format!("drop database if exists {name} with (force)")).await;
        execute(&mut admin, &format!("create database {name}")).await;
    }
    (server, admin)
}

/// Creates the schema. Returns a pool with all rights.
pub async fn migrate(database: &PgConnectOptions) -> PgPool {
    let owner = db::connect_as_login(database.clone(), PoolOptions::default()).await;
    let owner = owner.expect("the database accepts connections");
    db::migrate(&owner).await.expect("the migrations run on an empty database");
    owner
}

pub async fn execute(connection: &mut PgConnection, sql: &str) {
    sqlx::query(AssertSqlSafe(sql)).execute(connection).await.expect("the server does as told");
}
