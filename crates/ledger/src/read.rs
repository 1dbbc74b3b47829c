//! The queries of a player's coins.

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, Timestamp};
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::{PgConnection, PgExecutor};

use super::Ledger;
use super::chart::{Account, Code};
use super::error::LedgerError;
use bahay_db::Page;

/// The maximum page size; a larger limit is reduced to it.
const PAGE_MAX: u32 = 100;

/// The coins of a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wallet {
    /// The balance that can be spent.
    pub available: Coins,
    /// The stakes held in open games.
    pub held: Coins,
    /// The number of the newest entry; 0 if there is none.
    pub version: i64,
}

/// One change of a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub operation: i64,
    /// The number of the transfer within the operation.
    pub number: i16,
    /// The number of the entry, from 1 without gaps.
    pub version: i64,
    pub code: Code,
    /// The change; negative if coins left the wallet.
    pub amount: Coins,
    pub balance_before: Coins,
    pub balance_after: Coins,
    /// The game of the operation, if any.
    pub game: Option<GameId>,
    /// True if that game is settled, so that it has a record.
    pub has_record: bool,
    pub booked_at_ms: i64,
}

/// A filter of entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// The accepted codes; empty for all.
    pub codes: Vec<Code>,
    /// The earliest time of booking, inclusive.
    pub from: Option<Timestamp>,
    /// The latest time of booking, exclusive.
    pub to: Option<Timestamp>,
}

impl Ledger {
    /// Returns a player's wallet. A player without one has a balance of zero.
    pub async fn wallet(&self, player: PlayerId) -> Result<Wallet, LedgerError> {
        Ok(bahay_db::retry(|| read_wallet(&self.reads, player)).await?)
    }

    /// Returns a player's wallet like [`Ledger::wallet`], as the caller's transaction sees it.
    pub async fn wallet_in_tx(
        &self,
        connection: &mut PgConnection,
        player: PlayerId,
    ) -> Result<Wallet, LedgerError> {
        Ok(read_wallet(connection, player).await?)
    }

    /// Returns a page of the wallet's entries that match the filter, newest first, starting below
    /// an operation and number.
    pub async fn entries(
        &self,
        player: PlayerId,
        filter: &EntryFilter,
        below: Option<(i64, i16)>,
        limit: u32,
    ) -> Result<Page<Entry, (i64, i16)>, LedgerError> {
        let limit = limit.clamp(1, PAGE_MAX);
        let code = Account::Wallet(player).to_string();
        let codes: Vec<_> = filter.codes.iter().map(|code| code.as_str().to_owned()).collect();
        let from = filter.from.map(bahay_db::to_sql);
        let to = filter.to.map(bahay_db::to_sql);
        let (operation, number) = below.unwrap_or((i64::MAX, i16::MAX));
        // The bounds contain the account, and so does the order: for an equality the planner may
        // expect few rows, and sort all operations of the wallet instead of walking the index.
        //
        // `offset 0` keeps the subquery apart, so that each operation is found by its id: for a rare
        // code the planner may prefer to hash all operations. The arrays of that row are expanded
        // like in the view `entries`, which would read the row again.
        let query = || {
            sqlx::query!(
                r#"
                with wallet as (select w.id from accounts w where w.code = $1)
                select m.operation, e.number as "number!", e.version as "version!",
                    e.code as "code!", e.amount as "amount!",
                    e.balance_after - e.amount as "balance_before!",
                    e.balance_after as "balance_after!", o.game as "game?",
                    exists (
                        select from games g where g.id = o.game and g.state = 'settled'
                    ) as "has_record!",
                    o.created_at as "created_at!: SqlTimestamp"
                from account_operations m
                cross join lateral (
                    select o.game, o.created_at, o.codes, o.sources, o.destinations, o.amounts,
                        o.accounts, o.versions, o.balances
                    from operations o
                    where o.id = m.operation
                    offset 0
                ) o
                cross join lateral (
                    select t.number::smallint as number, t.code, t.amount,
                        s.version + row_number() over numbers as version,
                        (s.balance + sum(t.amount) over numbers)::bigint as balance_after
                    from (
                        select t.number, t.code,
                            case t.source when m.account then -t.amount else t.amount end as amount
                        from unnest(o.codes, o.sources, o.destinations, o.amounts)
                            with ordinality as t (code, source, destination, amount, number)
                        where m.account in (t.source, t.destination)
                    ) t
                    left join unnest(o.accounts, o.versions, o.balances)
                        as s (account, version, balance) on s.account = m.account
                    window numbers as (order by t.number)
                ) e
                where m.account >= (select w.id from wallet w)
                    and (m.account, m.operation) <= ((select w.id from wallet w), $2)
                    and (m.operation < $2 or e.number < $3)
                    and m.operation >= coalesce(first_operation_of($6), 0)
                    and (o.codes && $5 or cardinality($5) = 0)
                    and (e.code = any($5) or cardinality($5) = 0)
                    and ($6::timestamptz is null or o.created_at >= $6)
                    and ($7::timestamptz is null or o.created_at < $7)
                order by m.account desc, m.operation desc, e.number desc
                limit $4
                "#,
                code,
                operation,
                number,
                i64::from(limit) + 1,
                &codes,
                from as _,
                to as _
            )
            .fetch_all(&self.reads)
        };
        let rows = bahay_db::retry(query).await?;
        let unknown = |code: &str| LedgerError::broken(format!("unknown transfer code: {code}"));
        let entries = rows.into_iter().map(|row| {
            Ok(Entry {
                operation: row.operation,
                number: row.number,
                version: row.version,
                code: row.code.parse().map_err(|_| unknown(&row.code))?,
                amount: Coins::from_hundredths(row.amount),
                balance_before: Coins::from_hundredths(row.balance_before),
                balance_after: Coins::from_hundredths(row.balance_after),
                game: row.game.map(GameId),
                has_record: row.has_record,
                booked_at_ms: row.created_at.to_jiff().as_millisecond(),
            })
        });
        let entries = entries.collect::<Result<Vec<_>, LedgerError>>()?;
        Ok(Page::from_rows(entries, limit, |last| (last.operation, last.number)))
    }
}

/// Reads a wallet in one statement, so that `available` and `held` are of one snapshot.
async fn read_wallet(
    executor: impl PgExecutor<'_>,
    player: PlayerId,
) -> Result<Wallet, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select w.balance, w.version,
            coalesce((
                select sum(s.balance)::bigint
                from game_players p
                join accounts s on s.code = 'stake:' || p.game || ':' || p.seat
                where p.player = $1 and p.finished_at is null
            ), 0) as "held!"
        from accounts w
        where w.code = $2
        "#,
        player.0,
        Account::Wallet(player).to_string()
    )
    .fetch_optional(executor)
    .await?;
    Ok(row.map_or_else(Wallet::default, |row| Wallet {
        available: Coins::from_hundredths(row.balance),
        held: Coins::from_hundredths(row.held),
        version: row.version,
    }))
}
