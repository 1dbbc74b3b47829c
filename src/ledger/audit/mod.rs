//! The audit: reads all books in one snapshot and reports every inconsistency.
//!
//! The audit relies on no constraint and no code of the ledger: every check is a query over the
//! rows alone. The balances of house accounts lack the operations in `pending_house_entries`; the
//! audit adds these, so it can run at any time while games settle.
//!
//! The hash chain is the exception: it is computed with the ledger's own code (see `chain`).
//!
//! Deliberately absent: the recomputation of settlements from records (see
//! [`crate::verify::ledger`]).

mod chain;

use bahay_engine::coins::Coins;
use bahay_engine::table::GameId;
use sqlx::{PgConnection, PgPool};

use super::error::LedgerError;
use super::seal::SealHead;
use crate::db;

/// The maximum number of listed differences of one kind, which bounds the memory of a report.
const LISTED_MAX: i64 = 10_000;

/// The row counts of the books and the differences found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub accounts: i64,
    pub operations: i64,
    pub transfers: i64,
    pub entries: i64,
    /// The number of closed months, whose entries have been removed.
    pub closed_months: i64,
    pub games: i64,
    /// The number of operations whose house entries are pending.
    pub pending_house_entries: i64,
    /// The newest seal. A copy kept elsewhere proves later that nothing before it was changed: the
    /// seal must still be in the chain.
    pub head: Option<SealHead>,
    pub differences: Vec<Difference>,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.differences.is_empty()
    }
}

/// One inconsistency of the books.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    #[error("all balances together are {sum}, not 0.00")]
    SumNotZero { sum: Coins },
    #[error("suspense holds {balance}")]
    SuspenseInUse { balance: Coins },
    #[error("{account} has {balance} at version {version}; its entries sum to {sum} at {count}")]
    BalanceDiffers { account: String, balance: Coins, version: i64, sum: Coins, count: i64 },
    #[error("entry {version} of account {account} does not continue the one before")]
    EntryBroken { account: i64, version: i64 },
    #[error("transfer {operation}.{number} and its entries differ on account {account}")]
    EntriesDiffer { operation: i64, number: i16, account: i64 },
    #[error("transfer {operation}.{number} names an operation or account that does not exist")]
    DanglingTransfer { operation: i64, number: i16 },
    #[error("operation {operation} and its key do not refer to each other")]
    KeyMismatch { operation: i64 },
    #[error("a seat or record of game {game} names a game or player that does not exist")]
    DanglingGameReference { game: GameId },
    #[error("{account} holds {balance}; its game requires {expected}")]
    StakeDiffers { account: String, balance: Coins, expected: Coins },
    #[error("{account} holds {balance}; antes less payouts and refunds are {expected}")]
    PotDiffers { account: String, balance: Coins, expected: Coins },
    #[error("operation {operation} leaves {left} of a player's payments in {account}, not 0.00")]
    PotRefundDiffers { account: String, operation: i64, left: Coins },
    #[error("seal {number} is missing")]
    SealMissing { number: i64 },
    #[error("the hash of seal {number} does not match its operations and the seal before")]
    SealBroken { number: i64 },
    #[error("operation {operation} does not match its digest in seal {seal}")]
    OperationDiffers { operation: i64, seal: i64 },
    #[error("operation {operation} is in {seals} seals and pending {notes} times")]
    NotSealedOnce { operation: i64, seals: i64, notes: i64 },
    #[error(
        "the operations, transfers or seals of {month} differ from those that it was closed with"
    )]
    ClosedMonthDiffers { month: String },
}

/// Audits all books as of one snapshot.
pub async fn audit(pool: &PgPool) -> Result<Report, LedgerError> {
    Ok(db::retry(|| audit_once(pool)).await?)
}

async fn audit_once(pool: &PgPool) -> Result<Report, sqlx::Error> {
    let mut tx = pool.begin().await?;
    sqlx::query!("set transaction isolation level repeatable read, read only")
        .execute(&mut *tx)
        .await?;
    // The duration grows with the books.
    sqlx::query!("set local statement_timeout = 0").execute(&mut *tx).await?;
    let report = audit_in_tx(&mut tx).await?;
    tx.commit().await?;
    Ok(report)
}

/// Audits the books like [`audit`], as the caller's transaction sees them. Unless that is a single
/// snapshot, operations that are posted meanwhile appear as differences.
pub async fn audit_in_tx(connection: &mut PgConnection) -> Result<Report, sqlx::Error> {
    let mut report = count_rows(connection).await?;
    let differences = &mut report.differences;
    check_sum(connection, differences).await?;
    run_checks(connection, differences).await?;
    report.head = chain::check_chain(connection, differences).await?;
    Ok(report)
}

async fn count_rows(connection: &mut PgConnection) -> Result<Report, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select (select count(*) from accounts) as "accounts!",
            (select count(*) from operations) as "operations!",
            (select count(*) from transfers) as "transfers!",
            (select count(*) from entries) as "entries!",
            (select count(*) from closed_months) as "closed_months!",
            (select count(*) from games) as "games!",
            (select count(*) from pending_house_entries) as "pending_house_entries!"
        "#
    )
    .fetch_one(connection)
    .await?;
    Ok(Report {
        accounts: row.accounts,
        operations: row.operations,
        transfers: row.transfers,
        entries: row.entries,
        closed_months: row.closed_months,
        games: row.games,
        pending_house_entries: row.pending_house_entries,
        head: None,
        differences: Vec::new(),
    })
}

/// Checks that all balances, together with the pending house entries, sum to zero.
async fn check_sum(
    connection: &mut PgConnection,
    differences: &mut Vec<Difference>,
) -> Result<(), sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select (
                coalesce((select sum(a.balance) from accounts a), 0)
                + coalesce((
                    select sum(t.amount)
                    from pending_house_entries u
                    join transfers t on t.operation = u.operation
                    join accounts a on a.id = t.destination and a.kind in ('fee', 'issue')
                ), 0)
                - coalesce((
                    select sum(t.amount)
                    from pending_house_entries u
                    join transfers t on t.operation = u.operation
                    join accounts a on a.id = t.source and a.kind in ('fee', 'issue')
                ), 0)
            )::bigint as "sum!",
            coalesce((
                select sum(a.balance) from accounts a where a.kind = 'suspense'
            ), 0)::bigint as "suspense!"
        "#
    )
    .fetch_one(connection)
    .await?;
    let sum = Coins::from_hundredths(row.sum);
    let suspense = Coins::from_hundredths(row.suspense);
    if !sum.is_zero() {
        differences.push(Difference::SumNotZero { sum });
    }
    if !suspense.is_zero() {
        differences.push(Difference::SuspenseInUse { balance: suspense });
    }
    Ok(())
}

/// Declares the checks: queries that find differences, each with the difference of a row.
macro_rules! checks {
    ($($query:tt => |$row:ident| $difference:expr;)+) => {
        async fn run_checks(
            connection: &mut PgConnection,
            differences: &mut Vec<Difference>,
        ) -> Result<(), sqlx::Error> {
            $(
                let rows = sqlx::query!($query, LISTED_MAX).fetch_all(&mut *connection).await?;
                differences.extend(rows.into_iter().map(|$row| $difference));
            )+
            Ok(())
        }
    };
}

checks! {
    // Each balance is the sum of the account's entries and each version their number. In
    // closed months the sides of transfers stand for the removed entries.
    r#"
        select coalesce(a.code, 'account ' || e.account) as "account!",
            coalesce(a.balance, 0) as "balance!", coalesce(a.version, 0) as "version!",
            coalesce(e.sum, 0)::bigint as "sum!", coalesce(e.count, 0) as "count!"
        from accounts a
        full join (
            select s.account, sum(s.amount) as sum, count(*) as count
            from (
                select e.account, e.amount from entries e
                union all
                select t.source, -t.amount
                from transfers t
                where t.operation < (select max(c.closed_before) from closed_months c)
                union all
                select t.destination, t.amount
                from transfers t
                where t.operation < (select max(c.closed_before) from closed_months c)
            ) s
            group by s.account
        ) e on e.account = a.id
        where a.id is null
            or a.balance <> coalesce(e.sum, 0)
            or a.version <> coalesce(e.count, 0)
        order by a.id
        limit $1
        "# => |row| Difference::BalanceDiffers {
        account: row.account,
        balance: Coins::from_hundredths(row.balance),
        version: row.version,
        sum: Coins::from_hundredths(row.sum),
        count: row.count,
    };

    // Each entry has the next number and continues the balance of the entry before. An
    // account's first entry continues the sum of its closed months.
    r#"
        with closed as (
            select s.account, sum(s.amount) as balance, count(*) as version
            from (
                select t.source as account, -t.amount as amount
                from transfers t
                where t.operation < (select max(c.closed_before) from closed_months c)
                union all
                select t.destination, t.amount
                from transfers t
                where t.operation < (select max(c.closed_before) from closed_months c)
            ) s
            group by s.account
        )
        select e.account, e.version
        from (
            select e.account, e.version, e.amount, e.balance_before, e.balance_after,
                lag(e.version) over account as version_last,
                lag(e.balance_after) over account as balance_last
            from entries e
            window account as (partition by e.account order by e.version)
        ) e
        left join closed c on c.account = e.account and e.version_last is null
        where e.version <> coalesce(e.version_last, c.version, 0) + 1
            or e.balance_before <> coalesce(e.balance_last, c.balance, 0)
            or e.balance_after <> e.balance_before + e.amount
        order by e.account, e.version
        limit $1
        "# => |row| Difference::EntryBroken { account: row.account, version: row.version };

    // Each transfer has one entry on its source and one on its destination, and each entry has a
    // transfer. Exceptions: house sides of pending operations have no entry yet, and no
    // entry of a closed month is left.
    r#"
        with sides as (
            select t.operation, t.number, t.source as account, -t.amount as amount
            from transfers t
            union all
            select t.operation, t.number, t.destination, t.amount
            from transfers t
        ),
        due as (
            select s.operation, s.number, s.account, s.amount
            from sides s
            left join pending_house_entries u on u.operation = s.operation
            left join accounts a on a.id = s.account and a.kind in ('fee', 'issue')
            where (u.operation is null or a.id is null)
                and s.operation >= coalesce(
                    (select max(c.closed_before) from closed_months c), 0
                )
        ),
        found as (
            select e.operation, e.number, e.account, sum(e.amount) as amount, count(*) as count
            from entries e
            group by e.operation, e.number, e.account
        )
        select coalesce(d.operation, f.operation) as "operation!",
            coalesce(d.number, f.number) as "number!",
            coalesce(d.account, f.account) as "account!"
        from due d
        full join found f
            on f.operation = d.operation and f.number = d.number and f.account = d.account
        where d.operation is null or f.operation is null
            or f.count <> 1 or f.amount <> d.amount
        order by 1, 2, 3
        limit $1
        "# => |row| Difference::EntriesDiffer {
        operation: row.operation,
        number: row.number,
        account: row.account,
    };

    // References that foreign keys would check.
    r#"
        select t.operation, t.number
        from transfers t
        left join operations o on o.id = t.operation
        left join accounts s on s.id = t.source
        left join accounts d on d.id = t.destination
        where o.id is null or s.id is null or d.id is null
        order by t.operation, t.number
        limit $1
        "# => |row| Difference::DanglingTransfer { operation: row.operation, number: row.number };

    // The uniqueness of keys is a constraint of `operation_keys`, by which operations are found.
    r#"
        select coalesce(o.id, k.operation) as "operation!"
        from operations o
        full join operation_keys k on k.operation = o.id and k.key = o.key
        where o.id is null or k.operation is null
        order by 1
        limit $1
        "# => |row| Difference::KeyMismatch { operation: row.operation };

    // Seats and records of games and players that do not exist.
    r#"
        select p.game as "game!"
        from game_players p
        left join games g on g.id = p.game
        left join players w on w.id = p.player
        where g.id is null or w.id is null
        union
        select r.game
        from game_records r
        left join games g on g.id = r.game
        where g.id is null
        order by 1
        limit $1
        "# => |row| Difference::DanglingGameReference { game: GameId(row.game) };

    // The stakes of open games are held in full, and every other stake account is empty.
    r#"
        with stakes as (
            select 'stake:' || p.game || ':' || p.seat as code, p.stake
            from game_players p
            join games g on g.id = p.game
            where g.state = 'open'
        )
        select coalesce(a.code, s.code) as "account!", coalesce(a.balance, 0) as "balance!",
            coalesce(s.stake, 0) as "expected!"
        from (select a.code, a.balance from accounts a where a.kind = 'stake') a
        full join stakes s on s.code = a.code
        where coalesce(a.balance, 0) <> coalesce(s.stake, 0)
        order by 1
        limit $1
        "# => |row| Difference::StakeDiffers {
        account: row.account,
        balance: Coins::from_hundredths(row.balance),
        expected: Coins::from_hundredths(row.expected),
    };

    // Each POT holds the antes of its games, less payouts and refunds, by the rows of
    // games and not by entries.
    r#"
        with changes as (
            select 'pot:' || g.table_id as code, g.ante * (
                    select count(*) from game_players p where p.game = g.id
                ) - coalesce((r.settlement -> 'pot' ->> 'amount')::bigint, 0) as amount
            from games g
            left join game_records r on r.game = g.id
            where g.state <> 'voided'
            union all
            select s.code, -t.amount
            from transfers t
            join accounts s on s.id = t.source
            where t.code = 'pot_refund'
        ),
        pots as (
            select c.code, sum(c.amount) as amount
            from changes c
            group by c.code
        )
        select coalesce(a.code, p.code) as "account!", coalesce(a.balance, 0) as "balance!",
            coalesce(p.amount, 0)::bigint as "expected!"
        from (select a.code, a.balance from accounts a where a.kind = 'pot') a
        full join pots p on p.code = a.code
        where coalesce(a.balance, 0) <> coalesce(p.amount, 0)
        order by 1
        limit $1
        "# => |row| Difference::PotDiffers {
        account: row.account,
        balance: Coins::from_hundredths(row.balance),
        expected: Coins::from_hundredths(row.expected),
    };

    // Each POT refund pays exactly what the player had paid into the POT since it was last
    // empty. Payments in closed months are unknown; the POT has been empty since.
    r#"
        with sides as (
            select a.code as account, e.version, e.operation, e.amount, t.code, w.player,
                coalesce(sum((e.balance_after = 0)::int) over before, 0) as times_empty
            from accounts a
            join entries e on e.account = a.id
            join transfers t on t.operation = e.operation and t.number = e.number
            join accounts w on w.id in (t.source, t.destination) and w.kind = 'wallet'
            where a.kind = 'pot'
                and a.id in (select r.source from transfers r where r.code = 'pot_refund')
                and e.version >= (
                    select min(b.version)
                    from entries b
                    where b.account = a.id and b.balance_before = 0
                )
            window before as (
                partition by a.id order by e.version
                rows between unbounded preceding and 1 preceding
            )
        ),
        sums as (
            select s.account, s.version, s.operation, s.code, sum(s.amount) over (
                    partition by s.account, s.times_empty, s.player order by s.version
                ) as sum
            from sides s
        )
        select s.account, s.operation, s.sum::bigint as "sum!"
        from sums s
        where s.code = 'pot_refund' and s.sum <> 0
        order by s.operation, s.version
        limit $1
        "# => |row| Difference::PotRefundDiffers {
        account: row.account,
        operation: row.operation,
        left: Coins::from_hundredths(row.sum),
    };

    // Closed months still have the operations and transfers that they were closed with,
    // and that the chain still has the seal that was the newest at that time.
    r#"
        select to_char(m.month, 'YYYY-MM') as "month!"
        from closed_months m
        cross join lateral (
            select count(*) as count
            from operations o
            where o.id >= first_operation_of(m.month::timestamp at time zone 'UTC')
                and o.id < m.closed_before
        ) o
        cross join lateral (
            select count(*) as count, coalesce(sum(t.amount), 0) as sum
            from transfers t
            where t.operation >= first_operation_of(m.month::timestamp at time zone 'UTC')
                and t.operation < m.closed_before
        ) t
        where o.count <> m.operations or t.count <> m.transfers or t.sum <> m.moved
            or not exists (
                select from seals s where s.number = m.seal and s.hash = m.seal_hash
            )
        order by m.month
        limit $1
        "# => |row| Difference::ClosedMonthDiffers { month: row.month };

    // Each operation is either in exactly one seal or pending.
    r#"
        with sealed as (
            select m.operation, count(*) as count
            from seals s
            cross join unnest(s.operations) as m (operation)
            group by m.operation
        )
        select coalesce(o.id, s.operation, u.operation) as "operation!",
            coalesce(s.count, 0) as "seals!",
            (u.operation is not null)::int::bigint as "notes!"
        from operations o
        full join sealed s on s.operation = o.id
        full join pending_house_entries u on u.operation = coalesce(o.id, s.operation)
        where o.id is null or coalesce(s.count, 0) + (u.operation is not null)::int <> 1
        order by 1
        limit $1
        "# => |row| Difference::NotSealedOnce {
        operation: row.operation,
        seals: row.seals,
        notes: row.notes,
    };
}
