//! The house projection: the entries of house accounts, written some time after their transfers.
//!
//! Nearly every game pays the room's fee account, and a lock on it would serialize all games. So
//! posting writes the transfer and records the operation in `pending_house_entries`. Here one
//! process at a time removes pending operations in the order of their ids and writes the entries of
//! `fee` and `issue`, numbered and with balances like all others, in the same transaction. A crash
//! loses nothing: the pending row is removed in the transaction that writes the entry. Operations
//! projected together are also sealed together (see `seal`), so every operation is recorded as
//! pending, whatever it moves.
//!
//! An operation that commits late may be projected after one with a higher id. House entries are
//! numbered in the order of projection, which is a possible order of events.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use sqlx::{PgConnection, PgPool};

use super::books::{AccountState, EntryRow};
use super::seal::{self, OperationContent};
use crate::db;

/// The maximum number of operations per transaction.
const OPERATIONS_MAX: i64 = 1_000;

/// The advisory lock that the projection holds, so that nodes take turns. The number is arbitrary.
const ADVISORY_LOCK: i64 = 0x6261_6861_795f_666f;

/// Projects until no operation is pending. Returns the number of projected operations.
pub(super) async fn project_all(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let mut sum = 0_u64;
    loop {
        let projected = db::retry(|| project_batch(pool)).await?;
        sum = sum.saturating_add(projected);
        if projected < OPERATIONS_MAX.unsigned_abs() {
            return Ok(sum);
        }
    }
}

async fn project_batch(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let mut tx = pool.begin().await?;
    sqlx::query!("select pg_advisory_xact_lock($1)", ADVISORY_LOCK).fetch_one(&mut *tx).await?;
    let operations = sqlx::query_scalar!(
        r#"
        delete from pending_house_entries u
        where u.operation in (
            select n.operation from pending_house_entries n order by n.operation limit $1
        )
        returning u.operation
        "#,
        OPERATIONS_MAX
    )
    .fetch_all(&mut *tx)
    .await?;
    if operations.is_empty() {
        return Ok(0);
    }
    let booked = seal::read_operations(&mut tx, &operations).await?;
    if booked.len() != operations.len() {
        return Err(sqlx::Error::Protocol("an operation was removed before it was sealed".into()));
    }
    let mut house = lock_house_accounts(&mut tx).await?;
    let entries = build_entries(&booked, &mut house)?;
    write_entries(&mut tx, &entries, &house).await?;
    seal::append_seal(&mut tx, &booked).await?;
    tx.commit().await?;
    Ok(u64::try_from(operations.len()).unwrap_or(u64::MAX))
}

async fn lock_house_accounts(
    connection: &mut PgConnection,
) -> Result<BTreeMap<i64, AccountState>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select a.id, a.balance, a.version
        from accounts a
        where a.kind in ('fee', 'issue')
        order by a.id
        for no key update
        "#
    )
    .fetch_all(connection)
    .await?;
    let house = rows.into_iter();
    Ok(house
        .map(|row| (row.id, AccountState::from_columns(row.id, row.balance, row.version)))
        .collect())
}

fn build_entries(
    booked: &[OperationContent],
    house: &mut BTreeMap<i64, AccountState>,
) -> Result<Vec<EntryRow>, sqlx::Error> {
    let overflow = || sqlx::Error::Protocol("a house balance does not fit 64 bits".into());
    let mut entries = Vec::new();
    let transfers =
        booked.iter().flat_map(|one| one.transfers.iter().map(|transfer| (one.id, transfer)));
    for (operation, transfer) in transfers {
        let negative = Coins::ZERO.checked_sub(transfer.amount).ok_or_else(overflow)?;
        let sides = [(transfer.source, negative), (transfer.destination, transfer.amount)];
        for (account, amount) in sides {
            if let Some(account_state) = house.get_mut(&account) {
                let entry = account_state.enter(operation, transfer.number, amount);
                entries.push(entry.ok_or_else(overflow)?);
            }
        }
    }
    Ok(entries)
}

async fn write_entries(
    connection: &mut PgConnection,
    entries: &[EntryRow],
    house: &BTreeMap<i64, AccountState>,
) -> Result<(), sqlx::Error> {
    let changed = house.values().filter(|account_state| account_state.has_changed());
    let changed: Vec<_> = changed.map(AccountState::row).collect();
    let written = sqlx::query!(
        r#"
        with new_entries as (
            insert into entries (
                account, version, operation, number, amount, balance_before, balance_after
            )
            select e.account, e.version, e.operation, e.number, e.amount, e.balance_before,
                e.balance_after
            from unnest($1::booked_entry[]) as e
        )
        update accounts a
        set balance = s.balance, version = s.version
        from unnest($2::changed_account[]) as s
        where a.id = s.id and a.version = s.version_read
        "#,
        entries as _,
        &changed as _
    )
    .execute(connection)
    .await?;
    // The counterpart of a check in memory: the number of written rows equals the number of decided
    // ones.
    if u64::try_from(changed.len()) == Ok(written.rows_affected()) {
        return Ok(());
    }
    Err(sqlx::Error::Protocol("a house balance was changed outside of the projection".into()))
}
