//! The house projection: the balances of house accounts, updated some time after the transfers.
//!
//! Nearly every game pays the room's fee account, and a lock on it would serialize all games. So
//! posting writes the operation and records it in `unsealed_operations`. Here one process at a time
//! removes these rows in the order of the operations' ids, adds the sides of their transfers to the
//! balances and versions of `fee` and `issue`, and seals the operations (see `seal`), in one
//! transaction. A crash loses nothing. Every operation is recorded as unsealed, whatever it moves.
//!
//! An operation that commits late may be sealed after one with a higher id.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use sqlx::{PgConnection, PgPool};

use super::books::AccountState;
use super::seal::{self, OperationContent};
use super::transfer_totals::TransferTotals;

/// The maximum number of operations per transaction.
const OPERATIONS_MAX: i64 = 1_000;

/// The advisory lock that the projection holds, so that nodes take turns. The number is arbitrary.
const ADVISORY_LOCK: i64 = 0x6261_6861_795f_666f;

/// Seals operations until none is unsealed, and adds their transfers to the totals. Returns the
/// number of sealed operations.
pub(crate) async fn seal_all(pool: &PgPool, totals: &TransferTotals) -> Result<u64, sqlx::Error> {
    let mut sum = 0_u64;
    loop {
        let sealed = bahay_db::retry(|| seal_batch(pool, totals)).await?;
        sum = sum.saturating_add(sealed);
        if sealed < OPERATIONS_MAX.unsigned_abs() {
            return Ok(sum);
        }
    }
}

async fn seal_batch(pool: &PgPool, totals: &TransferTotals) -> Result<u64, sqlx::Error> {
    let mut tx = bahay_db::begin(pool).await?;
    sqlx::query!("select pg_advisory_xact_lock($1)", ADVISORY_LOCK).fetch_one(&mut *tx).await?;
    let operations = sqlx::query_scalar!(
        r#"
        delete from unsealed_operations u
        where u.operation in (
            select n.operation from unsealed_operations n order by n.operation limit $1
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
    apply_transfers(&booked, &mut house)?;
    write_house_accounts(&mut tx, &house).await?;
    seal::append_seal(&mut tx, &booked).await?;
    tx.commit().await?;
    totals.add(&booked);
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

/// Applies both sides of each transfer to the accounts among `house`.
fn apply_transfers(
    booked: &[OperationContent],
    house: &mut BTreeMap<i64, AccountState>,
) -> Result<(), sqlx::Error> {
    let overflow = || sqlx::Error::Protocol("a house balance does not fit 64 bits".into());
    for (source, destination, amount) in booked.iter().flat_map(OperationContent::transfers) {
        let negative = Coins::ZERO.checked_sub(amount).ok_or_else(overflow)?;
        for (account, amount) in [(source, negative), (destination, amount)] {
            if let Some(account_state) = house.get_mut(&account) {
                account_state.apply(amount).ok_or_else(overflow)?;
            }
        }
    }
    Ok(())
}

async fn write_house_accounts(
    connection: &mut PgConnection,
    house: &BTreeMap<i64, AccountState>,
) -> Result<(), sqlx::Error> {
    let changed = house.values().filter(|account_state| account_state.has_changed());
    let changed: Vec<_> = changed.map(AccountState::row).collect();
    let written = sqlx::query!(
        r#"
        update accounts a
        set balance = s.balance, version = s.version
        from unnest($1::changed_account[]) as s
        where a.id = s.id and a.version = s.version_read
        "#,
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

#[cfg(test)]
mod tests {
    use super::apply_transfers;
    use crate::books::AccountState;
    use crate::seal::OperationContent;

    #[test]
    fn both_sides_of_house_accounts_are_counted_and_summed() {
        let mut house = [(1, -500, 3), (2, 40, 2), (3, 0, 0)]
            .map(|(id, balance, version)| (id, AccountState::from_columns(id, balance, version)))
            .into();
        let booked = [
            OperationContent::with_transfers(7, &[(1, 9, 100), (9, 2, 10)]),
            OperationContent::with_transfers(8, &[]),
            OperationContent::with_transfers(9, &[(2, 1, 30), (9, 10, 5)]),
        ];
        apply_transfers(&booked, &mut house).unwrap();
        let states = house.values().map(|state| (state.balance.hundredths(), state.version));
        assert_eq!(states.collect::<Vec<_>>(), [(-570, 5), (20, 4), (0, 0)]);
        assert!(!house[&3].has_changed());

        let most = [OperationContent::with_transfers(10, &[(9, 2, i64::MAX)])];
        apply_transfers(&most, &mut house).unwrap_err();
    }
}
