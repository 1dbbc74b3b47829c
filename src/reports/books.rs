//! The books: the trial balance, accounts with their entries, operations with their transfers, and
//! the results of the ledger's checks.

use std::collections::BTreeMap;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId};
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::Value;

use super::{PAGE_MAX, ReportError, Reports, from_sql};
use crate::clock::Timestamp;
use crate::db::{self, Page};
use crate::ids::CorrectionId;
use crate::ledger::{self, Code, Irreversible};

/// The coins of all accounts of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    pub kind: String,
    /// The sum of the balances, including the pending entries of house accounts.
    pub amount: Coins,
    /// The sum of all transfers to and from the accounts.
    pub transferred: Coins,
}

impl Balance {
    /// Returns whether the balances of all kinds are consistent: they sum to zero, and each equals
    /// the transferred sum.
    pub fn add_up(all: &[Self]) -> bool {
        let sum = Coins::checked_sum(all.iter().map(|one| one.amount));
        sum == Some(Coins::ZERO) && all.iter().all(|one| one.amount == one.transferred)
    }
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

/// The current state of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRow {
    pub code: String,
    pub kind: String,
    pub player: Option<PlayerId>,
    /// The balance; that of a house account lacks the pending entries.
    pub balance: Coins,
    /// The number of the newest entry.
    pub version: i64,
}

/// One change of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountEntry {
    pub version: i64,
    pub operation: i64,
    pub code: Code,
    /// The account on the other side of the transfer.
    pub other: String,
    pub amount: Coins,
    pub balance_before: Coins,
    pub balance_after: Coins,
    pub game: Option<GameId>,
    pub booked_at: Timestamp,
}

/// An operation with its transfers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationRow {
    pub id: i64,
    pub key: String,
    pub kind: String,
    pub game: Option<GameId>,
    pub answer: Value,
    pub booked_at: Timestamp,
    pub transfers: Vec<TransferRow>,
    pub reversibility: Reversibility,
}

impl Reversibility {
    /// Returns the reversibility of an operation without a reversal or a request for one.
    fn from_transfers(kind: &str, transfers: &[TransferRow]) -> Self {
        match ledger::check_reversible(kind, transfers.iter().map(|transfer| transfer.code)) {
            Ok(()) => Self::Possible,
            Err(Irreversible::PaidPot) => Self::PaidPot,
            Err(Irreversible::Kind(_) | Irreversible::MovedNothing) => Self::Impossible,
        }
    }
}

/// A transfer of coins from one account to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferRow {
    pub number: i16,
    pub code: Code,
    pub source: String,
    pub destination: String,
    pub amount: Coins,
}

/// A check of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRow {
    pub slot: Timestamp,
    /// True if all games were replayed.
    pub everything: bool,
    pub started_at: Timestamp,
    /// The end of the check; `None` while it runs, or if it was interrupted.
    pub finished_at: Option<Timestamp>,
    pub differences: Vec<String>,
}

macro_rules! numbered {
    ($($(#[$meta:meta])* $name:ident;)*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name(i64);

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(f, "{}", self.0)
                }
            }

            impl FromStr for $name {
                type Err = ParseIntError;

                fn from_str(text: &str) -> Result<Self, ParseIntError> {
                    text.parse().map(Self)
                }
            }
        )*
    };
}

numbered! {
    /// A cursor of an account's entries.
    AccountCursor;
    /// A cursor of operations.
    OperationCursor;
}

impl Reports {
    /// Sums the balances of all accounts by kind, as the audit does, with the transferred sums for
    /// comparison.
    ///
    /// It reads every account, so a node runs one call at a time.
    pub async fn trial_balance(&self) -> Result<Vec<Balance>, ReportError> {
        let _turn = self.trial_balance_turn.lock().await;
        let once = || {
            sqlx::query!(
                r#"
                with late as (
                    select s.kind as source, d.kind as destination, t.amount
                    from late_operations l
                    join transfers t on t.operation = l.operation
                    join accounts s on s.id = t.source
                    join accounts d on d.id = t.destination
                ),
                pending_house as (
                    select s.kind as source, d.kind as destination, t.amount
                    from pending_house_entries u
                    join transfers t on t.operation = u.operation
                    join accounts s on s.id = t.source
                    join accounts d on d.id = t.destination
                ),
                counted as (
                    select a.kind, a.balance as amount, 0 as transferred from accounts a
                    union all
                    select h.source, -h.amount, 0
                    from pending_house h
                    where h.source in ('fee', 'issue')
                    union all
                    select h.destination, h.amount, 0
                    from pending_house h
                    where h.destination in ('fee', 'issue')
                    union all
                    select h.account_kind, 0, h.amount from held_by_kind h
                    union all
                    select l.source, 0, -l.amount from late l
                    union all
                    select l.destination, 0, l.amount from late l
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

    /// Returns the coins of all accounts by kind from the transferred sums, without reading the
    /// accounts.
    pub(super) async fn held_coins(&self) -> Result<BTreeMap<String, Coins>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                with moved as (
                    select s.kind as source, d.kind as destination, t.amount
                    from late_operations l
                    join transfers t on t.operation = l.operation
                    join accounts s on s.id = t.source
                    join accounts d on d.id = t.destination
                )
                select a.kind as "kind!", sum(a.amount)::bigint as "amount!"
                from (
                    select h.account_kind as kind, h.amount from held_by_kind h
                    union all
                    select m.source, -m.amount from moved m
                    union all
                    select m.destination, m.amount from moved m
                ) a
                group by a.kind
                "#
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?;
        Ok(rows.into_iter().map(|row| (row.kind, Coins::from_hundredths(row.amount))).collect())
    }

    /// Returns the house accounts: the issued coins, the fees by room, and the suspense account.
    pub async fn house_accounts(&self) -> Result<Vec<AccountRow>, ReportError> {
        let once = || {
            sqlx::query_as!(
                StoredAccountRow,
                "
                select a.code, a.kind, a.player, a.balance, a.version
                from accounts a
                where a.kind in ('fee', 'issue') or a.code = 'suspense'
                order by a.code
                "
            )
            .fetch_all(&self.pool)
        };
        Ok(db::retry(once).await?.into_iter().map(AccountRow::from).collect())
    }

    /// Returns an account by its code.
    pub async fn account(&self, code: &str) -> Result<Option<AccountRow>, ReportError> {
        let once = || {
            sqlx::query_as!(
                StoredAccountRow,
                "
                select a.code, a.kind, a.player, a.balance, a.version
                from accounts a
                where a.code = $1
                ",
                code
            )
            .fetch_optional(&self.pool)
        };
        Ok(db::retry(once).await?.map(AccountRow::from))
    }

    /// Returns a page of an account's entries, newest first.
    pub async fn account_entries(
        &self,
        code: &str,
        cursor: Option<AccountCursor>,
        limit: u32,
    ) -> Result<Page<AccountEntry, AccountCursor>, ReportError> {
        let limit = limit.clamp(1, PAGE_MAX);
        let once = || {
            sqlx::query!(
                r#"
                select e.version, e.operation, t.code, c.code as other, e.amount,
                    e.balance_before, e.balance_after, o.game,
                    o.created_at as "created_at: SqlTimestamp"
                from entries e
                join operations o on o.id = e.operation
                join transfers t on t.operation = e.operation and t.number = e.number
                join accounts c
                    on c.id = case when t.source = e.account then t.destination else t.source end
                where e.account = (select a.id from accounts a where a.code = $1)
                    and e.version < $2
                order by e.version desc
                limit $3
                "#,
                code,
                cursor.map_or(i64::MAX, |cursor| cursor.0),
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            Ok(AccountEntry {
                version: row.version,
                operation: row.operation,
                code: parse_code(&row.code)?,
                other: row.other,
                amount: Coins::from_hundredths(row.amount),
                balance_before: Coins::from_hundredths(row.balance_before),
                balance_after: Coins::from_hundredths(row.balance_after),
                game: row.game.map(GameId),
                booked_at: from_sql(row.created_at),
            })
        });
        let rows = rows.collect::<Result<Vec<_>, ReportError>>()?;
        Ok(Page::from_rows(rows, limit, |last| AccountCursor(last.version)))
    }

    /// Returns a page of operations with their transfers, newest first.
    pub async fn newest_operations(
        &self,
        cursor: Option<OperationCursor>,
        limit: u32,
    ) -> Result<Page<OperationRow, OperationCursor>, ReportError> {
        let limit = limit.clamp(1, PAGE_MAX);
        let once = || {
            sqlx::query_scalar!(
                "select o.id from operations o where o.id < $1 order by o.id desc limit $2",
                cursor.map_or(i64::MAX, |cursor| cursor.0),
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let ids = db::retry(once).await?;
        let rows = self.operations_of(&ids).await?;
        Ok(Page::from_rows(rows, limit, |last| OperationCursor(last.id)))
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
                    t.numbers as "numbers!", t.codes as "codes!", t.sources as "sources!",
                    t.destinations as "destinations!", t.amounts as "amounts!"
                from operations o
                cross join lateral (
                    select coalesce(array_agg(t.number order by t.number), '{}') as numbers,
                        coalesce(array_agg(t.code order by t.number), '{}') as codes,
                        coalesce(array_agg(s.code order by t.number), '{}') as sources,
                        coalesce(array_agg(d.code order by t.number), '{}') as destinations,
                        coalesce(array_agg(t.amount order by t.number), '{}') as amounts
                    from transfers t
                    join accounts s on s.id = t.source
                    join accounts d on d.id = t.destination
                    where t.operation = o.id
                ) t
                where o.id = any($1)
                order by o.id desc
                "#,
                ids
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            let ends = row.sources.into_iter().zip(row.destinations);
            let transfers = row.numbers.iter().zip(&row.codes).zip(ends).zip(&row.amounts);
            let transfers: Result<Vec<_>, ReportError> = transfers
                .map(|(((number, code), (source, destination)), amount)| {
                    Ok(TransferRow {
                        number: *number,
                        code: parse_code(code)?,
                        source,
                        destination,
                        amount: Coins::from_hundredths(*amount),
                    })
                })
                .collect();
            let transfers = transfers?;
            let reversibility = match (row.reversed_by, row.requested.map(CorrectionId)) {
                (Some(by), _) => Reversibility::Reversed { by },
                (None, Some(correction)) => Reversibility::Requested { correction },
                (None, None) => Reversibility::from_transfers(&row.kind, &transfers),
            };
            Ok(OperationRow {
                id: row.id,
                key: row.key,
                kind: row.kind,
                game: row.game.map(GameId),
                answer: row.answer,
                booked_at: from_sql(row.created_at),
                transfers,
                reversibility,
            })
        });
        rows.collect()
    }

    /// Returns the newest checks of the ledger.
    pub async fn checks(&self, limit: u32) -> Result<Vec<CheckRow>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select c.slot as "slot: SqlTimestamp", c.extent,
                    c.started_at as "started_at: SqlTimestamp",
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
        let rows = db::retry(once).await?.into_iter().map(|row| CheckRow {
            slot: from_sql(row.slot),
            everything: row.extent == "everything",
            started_at: from_sql(row.started_at),
            finished_at: row.finished_at.map(from_sql),
            differences: row.differences,
        });
        Ok(rows.collect())
    }
}

struct StoredAccountRow {
    code: String,
    kind: String,
    player: Option<uuid::Uuid>,
    balance: i64,
    version: i64,
}

impl From<StoredAccountRow> for AccountRow {
    fn from(row: StoredAccountRow) -> Self {
        Self {
            code: row.code,
            kind: row.kind,
            player: row.player.map(PlayerId),
            balance: Coins::from_hundredths(row.balance),
            version: row.version,
        }
    }
}

fn parse_code(text: &str) -> Result<Code, ReportError> {
    let unknown = || sqlx::Error::Decode(format!("unknown transfer code: {text}").into());
    Code::parse(text).ok_or_else(unknown)
}
