//! The transfers of an account, added up by code.

use bahay_engine::coins::Coins;

use super::{ReportError, Reports};
use crate::db;

/// The transfers of an account that have the same code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountTransfers {
    pub code: String,
    /// The number of transfers.
    pub transfers: i64,
    /// The sum, negative if the account has paid it.
    pub amount: Coins,
}

impl Reports {
    /// Adds up the transfers of an account by code, in the order of the first of each. The sums add
    /// up to the balance.
    pub async fn account_transfers(
        &self,
        account: &str,
    ) -> Result<Vec<AccountTransfers>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select t.code as "code!", count(*) as "transfers!",
                    sum(case t.source when a.id then -t.amount else t.amount end)::bigint
                        as "amount!"
                from accounts a
                join account_operations m on m.account = a.id
                join transfers t on t.operation = m.operation and a.id in (t.source, t.destination)
                where a.code = $1
                group by t.code
                order by min(t.operation)
                "#,
                account
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| AccountTransfers {
            code: row.code,
            transfers: row.transfers,
            amount: Coins::from_hundredths(row.amount),
        });
        Ok(rows.collect())
    }
}
