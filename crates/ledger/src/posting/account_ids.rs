//! The ids of accounts: of house accounts, and unused ones for accounts that posting creates.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use sqlx::PgConnection;

use crate::chart::Account;
use crate::operation::Request;

/// The increment of the sequence of ids, and so the number of ids that one value of it stands for.
const BLOCK: i64 = 1_024;

/// A cache of ids. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccountIds {
    /// The ids of house accounts. They never change, so each is read once.
    house: Arc<RwLock<BTreeMap<Account, i64>>>,
    /// The unused ids of the newest block. Ids that are taken and not used leave gaps.
    unused: Arc<Mutex<Range<i64>>>,
}

impl AccountIds {
    /// Returns the ids of the house accounts that these requests need. Missing accounts are created
    /// outside of any transaction, which could be rolled back while the id stays cached.
    pub(crate) async fn resolve_house(
        &self,
        connection: &mut PgConnection,
        requests: &[&Request],
    ) -> Result<BTreeMap<Account, i64>, sqlx::Error> {
        let needed = requests.iter().flat_map(|request| &request.accounts.house);
        let mut resolved = BTreeMap::new();
        let mut missing = BTreeSet::new();
        {
            let ids = self.house.read().unwrap_or_else(PoisonError::into_inner);
            for account in needed {
                match ids.get(account) {
                    Some(id) => drop(resolved.insert(account.clone(), *id)),
                    None => drop(missing.insert(account.clone())),
                }
            }
        }
        if !missing.is_empty() {
            let made = create_house_accounts(connection, &missing).await?;
            let mut ids = self.house.write().unwrap_or_else(PoisonError::into_inner);
            ids.extend(made.clone());
            resolved.extend(made);
        }
        Ok(resolved)
    }

    /// Takes unused ids. A block of them is read at a time, so most calls access no database; the
    /// sequence ignores whether a transaction is rolled back. Only after a crash of PostgreSQL it
    /// may issue a block again that was taken in a transaction without a commit, whose log need not
    /// be on disk. The primary key of accounts refuses an id that is used twice.
    pub(crate) async fn take_ids(
        &self,
        connection: &mut PgConnection,
        count: usize,
    ) -> Result<Vec<i64>, sqlx::Error> {
        let mut ids = self.take_unused(count);
        while ids.len() < count {
            let first = sqlx::query_scalar!(r#"select nextval('accounts_id_seq') as "first!""#)
                .fetch_one(&mut *connection)
                .await?;
            ids.extend(self.take_from_block(first, count - ids.len()));
        }
        Ok(ids)
    }

    /// Takes unused ids of the newest block, fewer than `count` if there are no more.
    fn take_unused(&self, count: usize) -> Vec<i64> {
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        unused.by_ref().take(count).collect()
    }

    /// Takes ids of another block, whose rest becomes the unused ids.
    fn take_from_block(&self, first: i64, count: usize) -> Vec<i64> {
        let mut block = first..first.saturating_add(BLOCK);
        let ids = block.by_ref().take(count).collect();
        *self.unused.lock().unwrap_or_else(PoisonError::into_inner) = block;
        ids
    }
}

/// Returns the ids of house accounts, which are created if they do not exist. They are not locked.
pub(crate) async fn create_house_accounts(
    connection: &mut PgConnection,
    accounts: &BTreeSet<Account>,
) -> Result<BTreeMap<Account, i64>, sqlx::Error> {
    create_accounts(connection, accounts).await?;
    let mut by_code: BTreeMap<_, _> =
        accounts.iter().map(|account| (account.to_string(), account.clone())).collect();
    let codes: Vec<_> = by_code.keys().cloned().collect();
    let rows = sqlx::query!("select a.id, a.code from accounts a where a.code = any($1)", &codes)
        .fetch_all(connection)
        .await?;
    Ok(rows.into_iter().filter_map(|row| Some((by_code.remove(&row.code)?, row.id))).collect())
}

/// Creates the accounts that do not exist, in the order of their codes.
pub(crate) async fn create_accounts(
    connection: &mut PgConnection,
    accounts: &BTreeSet<Account>,
) -> Result<(), sqlx::Error> {
    if accounts.is_empty() {
        return Ok(());
    }
    let codes: Vec<_> = accounts.iter().map(Account::to_string).collect();
    let kinds: Vec<_> = accounts.iter().map(|account| account.kind().to_owned()).collect();
    let players: Vec<_> =
        accounts.iter().map(|account| account.player().map(|player| player.0)).collect();
    sqlx::query!(
        r#"
        insert into accounts (code, kind, player)
        select n.code, n.kind, n.player
        from unnest($1::text[], $2::text[], $3::uuid[]) as n (code, kind, player)
        where not exists (select from accounts a where a.code = n.code)
        order by n.code
        on conflict (code) do nothing
        "#,
        &codes,
        &kinds,
        players as _
    )
    .execute(connection)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::thread;

    use super::{AccountIds, BLOCK};

    /// Takes ids like [`AccountIds::take_ids`], from blocks of `sequence`.
    fn take_ids(ids: &AccountIds, sequence: &AtomicI64, count: usize) -> Vec<i64> {
        let mut taken = ids.take_unused(count);
        while taken.len() < count {
            let first = sequence.fetch_add(BLOCK, Ordering::Relaxed);
            taken.extend(ids.take_from_block(first, count - taken.len()));
        }
        taken
    }

    #[test]
    fn ids_continue_across_the_end_of_a_block() {
        let ids = AccountIds::default();
        let sequence = AtomicI64::new(1);
        assert!(take_ids(&ids, &sequence, 0).is_empty());
        assert_eq!(sequence.load(Ordering::Relaxed), 1);
        assert_eq!(take_ids(&ids, &sequence, 1_022), (1..=1_022).collect::<Vec<_>>());
        // Another process takes the next block.
        sequence.fetch_add(BLOCK, Ordering::Relaxed);
        assert_eq!(take_ids(&ids, &sequence, 4), [1_023, 1_024, 2_049, 2_050]);
        assert_eq!(take_ids(&ids, &sequence, 1), [2_051]);
        assert_eq!(take_ids(&ids, &sequence, 1_021), (2_052..=3_072).collect::<Vec<_>>());
        assert!(ids.take_unused(1).is_empty());
        let many = take_ids(&ids, &sequence, 2_049);
        assert_eq!(many, (3_073..=5_121).collect::<Vec<_>>());
        assert_eq!(take_ids(&ids, &sequence, 1), [5_122]);
    }

    #[test]
    fn ids_are_taken_once_by_concurrent_callers_of_two_processes() {
        const TAKES: usize = 400;
        let processes = [AccountIds::default(), AccountIds::default()];
        let sequence = AtomicI64::new(1);
        let taken: Vec<i64> = thread::scope(|scope| {
            let callers: Vec<_> = (0..8)
                .map(|caller| {
                    let ids = processes[caller % 2].clone();
                    let sequence = &sequence;
                    scope.spawn(move || {
                        let counts = (0..TAKES).map(|take| take % 7 + 1);
                        counts.flat_map(|count| take_ids(&ids, sequence, count)).collect::<Vec<_>>()
                    })
                })
                .collect();
            callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
        });
        let expected: usize = (0..TAKES).map(|take| take % 7 + 1).sum();
        assert_eq!(taken.len(), 8 * expected);
        assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), taken.len());
        assert!(taken.iter().all(|id| (1..sequence.load(Ordering::Relaxed)).contains(id)));
    }
}
