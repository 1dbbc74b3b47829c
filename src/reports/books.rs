//! The books: the trial balance, accounts with their entries, operations with their transfers, and
//! the results of the ledger's checks.

use std::collections::BTreeMap;

use bahay_api::Coins;
use bahay_api::operator::ledger::{
    Account, AccountEntry, Balance, LedgerCheckReport, Operation, Transfer,
};
use bahay_engine::coins;
use jiff_sqlx::Timestamp as SqlTimestamp;

use super::{PAGE_MAX, ReportError, Reports, from_sql};
use crate::db::{self, Page};
use crate::ids::CorrectionId;
use crate::ledger::{self, Code, Irreversible};

/// Returns whether the balances of all kinds are consistent: they sum to zero, and each equals the
/// transferred sum.
pub fn add_up(balances: &[Balance]) -> bool {
    let sum = coins::Coins::checked_sum(balances.iter().map(|balance| *balance.amount));
    sum == Some(coins::Coins::ZERO)
        && balances.iter().all(|balance| balance.amount == balance.transferred)
}

/// The reversibility of an operation, as far as its own rows show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reversibility {
    Possible,
    /// A correction that requests the reversal is open.
    Requested {
        correction: CorrectionId,
    },
    Reversed {
        by: i64,
    },
    /// The operation paid a POT, in which several games have a share.
    PaidPot,
    /// Operations of this kind are not reversed, or this one has no reversible transfer.
    Impossible,
}

/// An operation with its transfers.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationRow {
    pub operation: Operation,
    pub reversibility: Reversibility,
}

impl Reports {
    /// Sums the balances of all accounts by kind, as the audit does, with the transferred sums for
    /// comparison.
    ///
    /// It reads every account, so a node runs one call at a time. Only accounts with coins are added
    /// up: nearly all are stakes of finished games, whose balance is 0. An index of the others would
    /// find them faster, but with the balance in an index every change of a balance would write all
    /// indexes of the table.
    pub async fn trial_balance(&self) -> Result<Vec<Balance>, ReportError> {
        let _turn = self.trial_balance_turn.lock().await;
        let once = || {
            sqlx::query!(
                r#"
                with counted as (
                    select a.kind, sum(a.balance) as amount, 0 as transferred
                    from accounts a
                    where a.balance <> 0
                    group by a.kind
                    union all
                    -- These accounts always exist, so their kinds are listed without coins too.
                    select k.kind, 0, 0 from (values ('issue'), ('suspense')) as k (kind)
                    union all
                    -- The balances of these accounts lack the operations that are not sealed.
                    select a.kind, ((a.id = t.destination)::int - (a.id = t.source)::int) * t.amount, 0
                    from unsealed_operations u
                    join transfers t on t.operation = u.operation
                    join accounts a on a.id in (t.source, t.destination)
                    where a.kind in ('fee', 'issue')
                    union all
                    select h.account_kind, 0, h.amount from held_by_kind h
                    union all
                    select m.kind, 0, m.amount
                    from late_transfers l
                    cross join lateral (values (l.source, -l.amount), (l.destination, l.amount))
                        as m (kind, amount)
                )
                -- The sum is clamped, so that even forged balances fit the type.
                select c.kind as "kind!",
                    least(greatest(sum(c.amount), -9223372036854775807), 9223372036854775807)::bigint
                        as "amount!",
                    sum(c.transferred)::bigint as "transferred!"
                from counted c
                group by c.kind
                order by c.kind
                "#
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| Balance {
            kind: row.kind,
            amount: Coins::from_hundredths(row.amount),
            transferred: Coins::from_hundredths(row.transferred),
        });
        Ok(rows.collect())
    }

    /// Returns the approximate number of accounts, without reading them.
    pub async fn estimate_accounts(&self) -> Result<i64, ReportError> {
        let once = || {
            sqlx::query_scalar!(
                r#"
                select c.reltuples::bigint as "accounts!"
                from pg_class c
                where c.oid = 'accounts'::regclass
                "#
            )
            .fetch_one(&self.pool)
        };
        db::retry(once).await
    }

    /// Returns the coins of all accounts by kind from the transferred sums, without reading the
    /// accounts.
    pub(super) async fn held_coins(&self) -> Result<BTreeMap<String, coins::Coins>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select a.kind as "kind!", sum(a.amount)::bigint as "amount!"
                from (
                    select h.account_kind as kind, h.amount from held_by_kind h
                    union all
                    select m.kind, m.amount
                    from late_transfers l
                    cross join lateral (values (l.source, -l.amount), (l.destination, l.amount))
                        as m (kind, amount)
                ) a
                group by a.kind
                "#
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        Ok(rows.map(|row| (row.kind, coins::Coins::from_hundredths(row.amount))).collect())
    }

    /// Returns the house accounts: the issued coins, the fees by room, and the suspense account.
    pub async fn house_accounts(&self) -> Result<Vec<Account>, ReportError> {
        let once = || {
            sqlx::query_as!(
                AccountRow,
                "
                select a.code, a.kind, a.player, a.balance, a.version
                from accounts a
                where a.kind in ('fee', 'issue') or a.code = 'suspense'
                order by a.code
                "
            )
            .fetch_all(&self.pool)
        };
        Ok(db::retry(once).await?.into_iter().map(to_account).collect())
    }

    /// Returns an account by its code.
    pub async fn account(&self, code: &str) -> Result<Option<Account>, ReportError> {
        let once = || {
            sqlx::query_as!(
                AccountRow,
                "
                select a.code, a.kind, a.player, a.balance, a.version
                from accounts a
                where a.code = $1
                ",
                code
            )
            .fetch_optional(&self.pool)
        };
        Ok(db::retry(once).await?.map(to_account))
    }

    /// Returns a page of an account's entries, newest first, starting below an operation and number.
    pub async fn account_entries(
        &self,
        code: &str,
        below: Option<(i64, i16)>,
        limit: u32,
    ) -> Result<Page<AccountEntry, (i64, i16)>, ReportError> {
        let limit = limit.clamp(1, PAGE_MAX);
        let (operation, number) = below.unwrap_or((i64::MAX, i16::MAX));
        // The operations of a stake account are those of its game. Others are found as in
        // `Ledger::entries`; each has an entry, except perhaps the one in which the page begins.
        // Their rows are read as there.
        let once = || {
            sqlx::query!(
                r#"
                with account as (select a.id from accounts a where a.code = $1),
                moving as (
                    (
                        select m.operation
                        from account_operations m
                        where m.account >= (select a.id from account a)
                            and (m.account, m.operation) <= ((select a.id from account a), $2)
                        order by m.account desc, m.operation desc
                        limit $4::bigint + 1
                    )
                    union all
                    select k.operation
                    from operation_keys k
                    where k.key = any(array[
                            'open:' || split_part($1, ':', 2), 'settle:' || split_part($1, ':', 2),
                            'void:' || split_part($1, ':', 2)
                        ])
                        and k.operation <= $2 and $1 like 'stake:%'
                )
                select o.id as "id!", e.number as "number!", e.version as "version?",
                    e.code as "code!",
                    coalesce(
                        (select c.code from accounts c where c.id = e.other),
                        'account ' || e.other
                    ) as "other!",
                    e.amount as "amount!", e.balance_after - e.amount as "balance_before?",
                    e.balance_after as "balance_after?", o.game as "game?",
                    o.created_at as "created_at!: SqlTimestamp"
                from moving m
                cross join account a
                cross join lateral (
                    select o.id, o.game, o.created_at, o.codes, o.sources, o.destinations,
                        o.amounts, o.accounts, o.versions, o.balances
                    from operations o
                    where o.id = m.operation
                    offset 0
                ) o
                cross join lateral (
                    select t.number::smallint as number, t.code, t.other, t.amount,
                        s.version + row_number() over numbers as version,
                        (s.balance + sum(t.amount) over numbers)::bigint as balance_after
                    from (
                        select t.number, t.code,
                            case t.source when a.id then t.destination else t.source end as other,
                            case t.source when a.id then -t.amount else t.amount end as amount
                        from unnest(o.codes, o.sources, o.destinations, o.amounts)
                            with ordinality as t (code, source, destination, amount, number)
                        where a.id in (t.source, t.destination)
                    ) t
                    left join unnest(o.accounts, o.versions, o.balances)
                        as s (account, version, balance) on s.account = a.id
                    window numbers as (order by t.number)
                ) e
                where o.id < $2 or e.number < $3
                order by o.id desc, e.number desc
                limit $4
                "#,
                code,
                operation,
                number,
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            Ok(AccountEntry {
                version: row.version,
                operation: row.id,
                number: row.number,
                code: ledger_code(&row.code)?,
                other: row.other,
                amount: Coins::from_hundredths(row.amount),
                balance_before: row.balance_before.map(Coins::from_hundredths),
                balance_after: row.balance_after.map(Coins::from_hundredths),
                game: row.game,
                booked_at: from_sql(row.created_at).into(),
            })
        });
        let rows = rows.collect::<Result<Vec<_>, ReportError>>()?;
        Ok(Page::from_rows(rows, limit, |last| (last.operation, last.number)))
    }

    /// Returns a page of operations with their transfers, newest first.
    pub async fn newest_operations(
        &self,
        below: Option<i64>,
        limit: u32,
    ) -> Result<Page<OperationRow, i64>, ReportError> {
        let limit = limit.clamp(1, PAGE_MAX);
        let once = || {
            sqlx::query_scalar!(
                "select o.id from operations o where o.id < $1 order by o.id desc limit $2",
                below.unwrap_or(i64::MAX),
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let ids = db::retry(once).await?;
        let rows = self.operations_of(&ids).await?;
        Ok(Page::from_rows(rows, limit, |last| last.operation.id))
    }

    /// Returns an operation by its id.
    pub async fn operation(&self, id: i64) -> Result<Option<OperationRow>, ReportError> {
        Ok(self.operations_of(&[id]).await?.pop())
    }

    /// Returns these operations, newest first.
    pub(super) async fn operations_of(
        &self,
        ids: &[i64],
    ) -> Result<Vec<OperationRow>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select o.id, o.key, o.kind, o.game, o.answer,
                    o.created_at as "created_at: SqlTimestamp",
                    (
                        select k.operation from operation_keys k where k.key = 'reverse:' || o.id
                    ) as "reversed_by?",
                    (
                        select c.id
                        from corrections c
                        where c.reversed_operation = o.id and c.state = 'open'
                    ) as "requested?",
                    o.codes, o.amounts,
                    array(
                        select coalesce(a.code, 'account ' || s.id)
                        from unnest(o.sources) with ordinality as s (id, number)
                        left join accounts a on a.id = s.id
                        order by s.number
                    ) as "sources!",
                    array(
                        select coalesce(a.code, 'account ' || d.id)
                        from unnest(o.destinations) with ordinality as d (id, number)
                        left join accounts a on a.id = d.id
                        order by d.number
                    ) as "destinations!"
                from operations o
                where o.id = any($1)
                order by o.id desc
                "#,
                ids
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            let ends = row.sources.into_iter().zip(row.destinations);
            let transfers = (1..).zip(row.codes).zip(ends).zip(row.amounts);
            let transfers = transfers.map(|(((number, code), (source, destination)), amount)| {
                let code = ledger_code(&code)?;
                let amount = Coins::from_hundredths(amount);
                Ok(Transfer { number, code, source, destination, amount })
            });
            let transfers = transfers.collect::<Result<Vec<_>, ReportError>>()?;
            let reversibility = match (row.reversed_by, row.requested.map(CorrectionId)) {
                (Some(by), _) => Reversibility::Reversed { by },
                (None, Some(correction)) => Reversibility::Requested { correction },
                (None, None) => {
                    let codes = transfers.iter().map(|transfer| transfer.code);
                    match ledger::check_reversible(&row.kind, codes) {
                        Ok(()) => Reversibility::Possible,
                        Err(Irreversible::PaidPot) => Reversibility::PaidPot,
                        Err(Irreversible::Kind(_) | Irreversible::MovedNothing) => {
                            Reversibility::Impossible
                        }
                    }
                }
            };
            let operation = Operation {
                id: row.id,
                key: row.key,
                kind: row.kind,
                game: row.game,
                booked_at: from_sql(row.created_at).into(),
                answer: row.answer,
                transfers,
                is_reversible: reversibility == Reversibility::Possible,
                reversed_by: row.reversed_by,
            };
            Ok(OperationRow { operation, reversibility })
        });
        rows.collect()
    }

    /// Returns the newest checks of the ledger.
    pub async fn checks(&self, limit: u32) -> Result<Vec<LedgerCheckReport>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select c.extent, c.started_at as "started_at: SqlTimestamp",
                    c.finished_at as "finished_at: SqlTimestamp",
                    coalesce(c.differences, '{}') as "differences!"
                from ledger_checks c
                order by c.slot desc
                limit $1
                "#,
                i64::from(limit.clamp(1, PAGE_MAX))
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| LedgerCheckReport {
            everything: row.extent == "everything",
            started_at: from_sql(row.started_at).into(),
            finished_at: row.finished_at.map(|at| from_sql(at).into()),
            differences: row.differences,
        });
        Ok(rows.collect())
    }
}

/// A row of the queries of accounts.
struct AccountRow {
    code: String,
    kind: String,
    player: Option<uuid::Uuid>,
    balance: i64,
    version: i64,
}

fn to_account(row: AccountRow) -> Account {
    Account {
        code: row.code,
        kind: row.kind,
        player: row.player,
        balance: Coins::from_hundredths(row.balance),
        version: row.version,
    }
}

/// Returns the code of a transfer by its name.
pub(super) fn ledger_code(text: &str) -> Result<Code, ReportError> {
    let unknown = |_| sqlx::Error::Decode(format!("unknown transfer code: {text}").into());
    text.parse().map_err(unknown)
}
