//! The schema's version: what the program refuses to serve on.

use bahay::db::{self, SchemaError};
use sqlx::AssertSqlSafe;

use crate::support::db::TestDatabase;

#[tokio::test]
async fn migrations_run_once_and_the_result_is_what_the_program_wants() {
    let database = TestDatabase::empty().await;
    let pool = database.pool().await;
    assert!(matches!(db::check_schema(&pool).await, Err(SchemaError::Missing)));
    let (one, two) = tokio::join!(db::migrate(&pool), db::migrate(&pool));
    one.unwrap();
    two.unwrap();
    db::check_schema(&pool).await.unwrap();
    db::migrate(&pool).await.unwrap();
}

#[tokio::test]
async fn a_schema_that_the_program_does_not_know_is_refused() {
    let database = TestDatabase::new().await;
    let pool = database.pool().await;
    db::check_schema(&pool).await.unwrap();
    let refuse = async |change: &str, expected: &str| {
        let mut tx = pool.begin().await.unwrap();
        sqlx::query(AssertSqlSafe(change.to_owned())).execute(&mut *tx).await.unwrap();
        let error = db::check_schema_in_tx(&mut tx).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        tx.rollback().await.unwrap();
    };
    refuse(
        "delete from _sqlx_migrations where version = 12",
        "the schema lacks migration 12: run `bahay migrate`",
    )
    .await;
    refuse(
        "update _sqlx_migrations set version = 999 where version = 12",
        "the schema has migration 999, which this program is too old to know",
    )
    .await;
    refuse(
        "update _sqlx_migrations set checksum = '\\x00' where version = 5",
        "migration 5 was applied from another text than this program has",
    )
    .await;
    refuse(
        "update _sqlx_migrations set success = false where version = 5",
        "migration 5 broke off half-way: mend the schema by hand",
    )
    .await;
}
