//! The audit: reads all books in one snapshot and reports every inconsistency.
//!
//! The audit relies on no constraint and no code of the ledger: every check is a query over the
//! rows alone. Sums are numeric and clamped to the type of a difference, so that forged rows do not
//! stop it. The balances of house accounts lack the operations in `unsealed_operations`; the
//! audit takes these into account, so it can run at any time while games settle.
//!
//! The hash chain is the exception: it is computed with the ledger's own code (see `chain`).
//!
//! Deliberately absent: the recomputation of settlements from records, which the service has
//! (`src/verify/ledger.rs`).

mod chain;

use bahay_engine::coins::Coins;
use bahay_engine::table::GameId;
use sqlx::{PgConnection, PgPool};

use super::error::LedgerError;
use super::seal::SealHead;

/// The maximum number of listed differences of one kind, which bounds the memory of a report.
const LISTED_MAX: i64 = 10_000;

/// The row counts of the books and the differences found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub accounts: i64,
    pub operations: i64,
    pub transfers: i64,
    pub games: i64,
    pub unsealed_operations: i64,
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
    #[error("operation {operation} does not continue the entries of account {account}")]
    EntryBroken { operation: i64, account: i64 },
    #[error("operation {operation} has {states} states of account {account}, not {expected}")]
    StateDiffers { operation: i64, account: i64, states: i64, expected: i64 },
    #[error("operation {operation} is listed {listed} times for account {account}, not {expected}")]
    ListingDiffers { operation: i64, account: i64, listed: i64, expected: i64 },
    #[error("operation {operation} moves coins of {account}, though its key is not of that game")]
    ForeignStake { operation: i64, account: String },
    #[error("transfer {operation}.{number} moves no amount above 0.00 between two accounts")]
    InvalidTransfer { operation: i64, number: i16 },
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
    #[error("{account} holds {balance}, and is of no tournament, or of one that is over")]
    TournamentDiffers { account: String, balance: Coins },
    #[error("seal {number} is missing")]
    SealMissing { number: i64 },
    #[error("the hash of seal {number} does not match its operations and the seal before")]
    SealBroken { number: i64 },
    #[error("operation {operation} does not match its digest in seal {seal}")]
    OperationDiffers { operation: i64, seal: i64 },
    #[error("operation {operation} is in {seals} seals and {unsealed} times unsealed")]
    NotSealedOnce { operation: i64, seals: i64, unsealed: i64 },
}

/// Audits all books as of one snapshot.
pub async fn audit(pool: &PgPool) -> Result<Report, LedgerError> {
    Ok(bahay_db::retry(|| audit_once(pool)).await?)
}

async fn audit_once(pool: &PgPool) -> Result<Report, sqlx::Error> {
    let mut tx = bahay_db::begin(pool).await?;
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
            (
                select coalesce(sum(cardinality(o.codes)), 0) from operations o
            ) as "transfers!",
            (select count(*) from games) as "games!",
            (select count(*) from unsealed_operations) as "unsealed_operations!"
        "#
    )
    .fetch_one(connection)
    .await?;
    Ok(Report {
        accounts: row.accounts,
        operations: row.operations,
        transfers: row.transfers,
        games: row.games,
        unsealed_operations: row.unsealed_operations,
        head: None,
        differences: Vec::new(),
    })
}

/// Checks that all balances sum to zero, together with the house accounts' part of unsealed
/// operations.
async fn check_sum(
    connection: &mut PgConnection,
    differences: &mut Vec<Difference>,
) -> Result<(), sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select
            least(greatest(s.sum, -9223372036854775807), 9223372036854775807)::bigint as "sum!",
            least(greatest(s.suspense, -9223372036854775807), 9223372036854775807)::bigint
                as "suspense!"
        from (
            select coalesce((select sum(a.balance) from accounts a), 0)
                + coalesce((
                    select sum(t.amount)
                    from unsealed_operations u
                    join transfers t on t.operation = u.operation
                    join accounts a on a.id = t.destination and a.kind in ('fee', 'issue')
                ), 0)
                - coalesce((
                    select sum(t.amount)
                    from unsealed_operations u
                    join transfers t on t.operation = u.operation
                    join accounts a on a.id = t.source and a.kind in ('fee', 'issue')
                ), 0) as sum,
                coalesce((
                    select sum(a.balance) from accounts a where a.kind = 'suspense'
                ), 0) as suspense
        ) s
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
    // Each balance is the sum of the account's entries, and each version their number; those of
    // a house account lack the unsealed operations.
    r#"
        with sides as (
            select t.operation, t.source as account, -t.amount as amount from transfers t
            union all
            select t.operation, t.destination, t.amount from transfers t
        )
        select coalesce(a.code, concat('account ', e.account)) as "account!",
            coalesce(a.balance, 0) as "balance!", coalesce(a.version, 0) as "version!",
            least(greatest(coalesce(e.sum, 0), -9223372036854775807), 9223372036854775807)::bigint
                as "sum!",
            coalesce(e.count, 0) as "count!"
        from accounts a
        full join (
            select s.account, sum(s.amount) as sum, count(*) as count
            from sides s
            left join unsealed_operations u on u.operation = s.operation
            left join accounts h on h.id = s.account and h.kind in ('fee', 'issue')
            where u.operation is null or h.id is null
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

    // For each account of its transfers an operation states the version and balance before it,
    // unless it is a house account; they continue those of the account's operation before. The
    // operation is listed for the account, unless it is a stake account.
    r#"
        with moved as (
            select o.id as operation, p.account, p.entries, p.amount, p.states, p.version,
                p.balance
            from operations o
            cross join lateral (
                select a.account, count(a.amount) as entries, sum(a.amount) as amount,
                    count(a.version) as states, max(a.version) as version,
                    max(a.balance) as balance
                from (
                    select t.source as account, -t.amount as amount, null::bigint as version,
                        null::bigint as balance
                    from unnest(o.sources, o.amounts) as t (source, amount)
                    union all
                    select t.destination, t.amount, null, null
                    from unnest(o.destinations, o.amounts) as t (destination, amount)
                    union all
                    select s.account, null, s.version, s.balance
                    from unnest(o.accounts, o.versions, o.balances)
                        as s (account, version, balance)
                ) a
                where a.account is not null
                group by a.account
            ) p
        ),
        continued as (
            select m.operation, m.account, m.states, (m.entries > 0)::int as moved,
                m.version <> lag(m.version::numeric + m.entries, 1, 0::numeric) over operations
                    or m.balance <> lag(m.balance + m.amount, 1, 0::numeric) over operations
                    as is_broken
            from moved m
            window operations as (partition by m.account order by m.operation)
        ),
        compared as (
            select coalesce(c.operation, l.operation) as operation,
                coalesce(c.account, l.account) as account, c.is_broken,
                coalesce(c.states, 0) as states,
                case when a.kind in ('fee', 'issue') then 0 else coalesce(c.moved, 0) end::bigint
                    as states_due,
                (l.account is not null)::int::bigint as listed,
                case when a.kind = 'stake' then 0 else coalesce(c.moved, 0) end::bigint
                    as listed_due
            from continued c
            full join account_operations l on l.operation = c.operation and l.account = c.account
            left join accounts a on a.id = coalesce(c.account, l.account)
        )
        select c.operation as "operation!", c.account as "account!", c.states as "states!",
            c.states_due as "states_due!", c.listed as "listed!", c.listed_due as "listed_due!"
        from compared c
        where c.is_broken or c.states <> c.states_due or c.listed <> c.listed_due
        order by c.operation, c.account
        limit $1
        "# => |row| {
        if row.states != row.states_due {
            Difference::StateDiffers {
                operation: row.operation,
                account: row.account,
                states: row.states,
                expected: row.states_due,
            }
        } else if row.listed != row.listed_due {
            Difference::ListingDiffers {
                operation: row.operation,
                account: row.account,
                listed: row.listed,
                expected: row.listed_due,
            }
        } else {
            Difference::EntryBroken { operation: row.operation, account: row.account }
        }
    };

    // Only the operations of its game move a stake account: others are not listed for it.
    r#"
        select distinct o.id as "operation!", a.code as "account!"
        from operations o
        cross join lateral unnest(o.sources || o.destinations) as s (account)
        join accounts a on a.id = s.account and a.kind = 'stake'
        where o.key <> all(array[
                'open:' || split_part(a.code, ':', 2), 'settle:' || split_part(a.code, ':', 2),
                'void:' || split_part(a.code, ':', 2)
            ])
        order by 1, 2
        limit $1
        "# => |row| Difference::ForeignStake { operation: row.operation, account: row.account };

    // Each transfer has a code, moves a positive amount and leads from one account to another.
    r#"
        select t.operation as "operation!", t.number as "number!"
        from transfers t
        left join accounts s on s.id = t.source
        left join accounts d on d.id = t.destination
        where s.id is null or d.id is null or s.id = d.id or t.code is null
            or coalesce(t.amount, 0) <= 0
        order by t.operation, t.number
        limit $1
        "# => |row| Difference::InvalidTransfer { operation: row.operation, number: row.number };

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
        left join tournament_games t on t.game = r.game
        where g.id is null and t.game is null
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
            select 'pot:' || g.table_id as code, g.ante::numeric * (
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
            least(greatest(coalesce(p.amount, 0), -9223372036854775807), 9223372036854775807)::bigint
                as "expected!"
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

    // Each POT refund pays exactly what the player had paid into the POT since it was last empty.
    r#"
        with sides as (
            select a.code as account, t.operation, t.number, t.code, w.player,
                case when t.source = a.id then -t.amount else t.amount end as amount
            from accounts a
            join account_operations m on m.account = a.id
            join transfers t on t.operation = m.operation and a.id in (t.source, t.destination)
            join accounts w on w.id in (t.source, t.destination) and w.kind = 'wallet'
            where a.kind = 'pot'
                and a.id in (select r.source from transfers r where r.code = 'pot_refund')
        ),
        balances as (
            select s.account, s.operation, s.number, s.code, s.player, s.amount,
                sum(s.amount) over (partition by s.account order by s.operation, s.number)
                    as balance_after
            from sides s
        ),
        spans as (
            select b.account, b.operation, b.number, b.code, b.player, b.amount,
                count(*) filter (where b.balance_after = 0) over (
                    partition by b.account order by b.operation, b.number
                    rows between unbounded preceding and 1 preceding
                ) as times_empty
            from balances b
        ),
        sums as (
            select s.account, s.operation, s.number, s.code, sum(s.amount) over (
                    partition by s.account, s.times_empty, s.player
                    order by s.operation, s.number
                ) as sum
            from spans s
        )
        select s.account, s.operation as "operation!",
            least(greatest(s.sum, -9223372036854775807), 9223372036854775807)::bigint as "sum!"
        from sums s
        where s.code = 'pot_refund' and s.sum <> 0
        order by s.operation, s.number
        limit $1
        "# => |row| Difference::PotRefundDiffers {
        account: row.account,
        operation: row.operation,
        left: Coins::from_hundredths(row.sum),
    };

    // The account of a tournament that is over is closed and empty, and only tournaments have one.
    r#"
        select a.code as "account!", a.balance as "balance!"
        from accounts a
        left join tournaments t on a.code = 'tournament:' || t.id
        where a.kind = 'tournament'
            and (t.id is null or (t.closed_at is not null and (a.balance <> 0 or not a.is_closed)))
        order by a.code
        limit $1
        "# => |row| Difference::TournamentDiffers {
        account: row.account,
        balance: Coins::from_hundredths(row.balance),
    };

    // Each operation is either in exactly one seal or unsealed.
    r#"
        with sealed as (
            select m.operation, count(*) as count
            from seals s
            cross join unnest(s.operations) as m (operation)
            group by m.operation
        )
        select coalesce(o.id, s.operation, u.operation) as "operation!",
            coalesce(s.count, 0) as "seals!",
            (u.operation is not null)::int::bigint as "unsealed!"
        from operations o
        full join sealed s on s.operation = o.id
        full join unsealed_operations u on u.operation = coalesce(o.id, s.operation)
        where o.id is null or coalesce(s.count, 0) + (u.operation is not null)::int <> 1
        order by 1
        limit $1
        "# => |row| Difference::NotSealedOnce {
        operation: row.operation,
        seals: row.seals,
        unsealed: row.unsealed,
    };
}
