//! Posting under locks: the rows are locked before they are read, until the caller's transaction
//! ends.
//!
//! The phases, each for the whole batch: lock the games; create missing accounts; lock the
//! accounts; read the books; decide; write. Games are locked before accounts, each in ascending
//! order of ids; new accounts are created between the two, in the order of their codes. Operations
//! are written last, in the order of their keys. A transaction that waits in one phase holds no
//! lock that a transaction in an earlier phase waits for, so deadlocks are impossible. House
//! accounts are not locked: see `house_projection`.
//!
//! Keys are looked up after the locks are taken. Two calls with the same key name the same
//! accounts, so the second one waits for the first and then finds its answer. Calls that share only
//! a key collide at the unique index; the second one is retried and reads the answer.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use uuid::Uuid;

use super::PostingCache;
use super::account_ids::create_accounts;
use super::plan::Plan;
use super::snapshot::read_snapshot;
use crate::chart::Account;
use crate::openings::read_deleted_players;
use crate::operation::{Answer, Request};

/// Posts a batch in the caller's transaction. The answers are in the order of the requests, and
/// valid only after the transaction is committed.
pub(crate) async fn run_in_tx(
    connection: &mut PgConnection,
    cache: &PostingCache,
    house_ids: &BTreeMap<Account, i64>,
    requests: &[&Request],
) -> Result<Vec<Answer>, sqlx::Error> {
    let mut plan = Plan::new(requests);
    lock_games(connection, &plan).await?;
    if plan.booked_games().next().is_some() {
        let (books, _) = read_snapshot(connection, &plan, &cache.account_ids).await?;
        plan.add_booked_games(&books.games);
    }
    create_accounts(connection, &plan.made).await?;
    lock_accounts(connection, &plan).await?;
    let (mut books, stored) = read_snapshot(connection, &plan, &cache.account_ids).await?;
    books.deleted_players = read_deleted_players(connection, plan.openings()).await?;
    // The caller's commit is not seen here.
    cache.books.remove(&plan);
    let decision = plan.decide(connection, house_ids, (books, stored)).await?;
    decision.write(connection).await?;
    Ok(decision.answers)
}

/// Locks the games that the batch names, and those that are open at the tables of its openings.
async fn lock_games(connection: &mut PgConnection, plan: &Plan<'_>) -> Result<(), sqlx::Error> {
    if plan.games.is_empty() {
        return Ok(());
    }
    let games: Vec<Uuid> = plan.games.iter().map(|game| game.0).collect();
    let tables: Vec<Uuid> = plan.tables.iter().map(|table| table.0).collect();
    sqlx::query!(
        r#"
        select g.id
        from games g
        where g.id = any($1) or (g.table_id = any($2) and g.state = 'open')
        order by g.id
        for no key update
        "#,
        &games,
        &tables
    )
    .fetch_all(connection)
    .await
    .map(|_| ())
}

/// Locks the accounts in ascending order of their ids.
async fn lock_accounts(connection: &mut PgConnection, plan: &Plan<'_>) -> Result<(), sqlx::Error> {
    let codes: Vec<_> = plan.accounts.iter().map(Account::to_string).collect();
    sqlx::query!(
        "select a.id from accounts a where a.code = any($1) order by a.id for no key update",
        &codes
    )
    .fetch_all(connection)
    .await
    .map(|_| ())
}
