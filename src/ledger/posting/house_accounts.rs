//! The ids of house accounts, and the creation of accounts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use sqlx::PgConnection;

use crate::ledger::chart::Account;
use crate::ledger::operation::Request;

/// A cache of the ids of house accounts. They never change, so each is read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct HouseIds(Arc<RwLock<BTreeMap<Account, i64>>>);

impl HouseIds {
    /// Returns the ids that these requests need. Missing accounts are created outside of any
    /// transaction, which could be rolled back while the id stays cached.
    pub(crate) async fn resolve(
        &self,
        connection: &mut PgConnection,
        requests: &[&Request],
    ) -> Result<BTreeMap<Account, i64>, sqlx::Error> {
        let needed = requests.iter().flat_map(|request| &request.accounts.house);
        let mut resolved = BTreeMap::new();
        let mut missing = BTreeSet::new();
        {
            let ids = self.0.read().unwrap_or_else(PoisonError::into_inner);
            for account in needed {
                match ids.get(account) {
                    Some(id) => drop(resolved.insert(account.clone(), *id)),
                    None => drop(missing.insert(account.clone())),
                }
            }
        }
        if !missing.is_empty() {
            let made = create_house_accounts(connection, &missing).await?;
            let mut ids = self.0.write().unwrap_or_else(PoisonError::into_inner);
            ids.extend(made.clone());
            resolved.extend(made);
        }
        Ok(resolved)
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
