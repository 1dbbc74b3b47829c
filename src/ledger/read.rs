//! The queries of a player's coins.

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, Timestamp};
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::{PgConnection, PgExecutor};

use super::Ledger;
use super::chart::{Account, Code};
use super::error::LedgerError;
use crate::db::{self, Page};

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
        Ok(db::retry(|| read_wallet(&self.reads, player)).await?)
    }

    /// Returns a player's wallet like [`Ledger::wallet`], as the caller's transaction sees it.
    pub async fn wallet_in_tx(
        &self,
        connection: &mut PgConnection,
        player: PlayerId,
    ) -> Result<Wallet, LedgerError> {
        Ok(read_wallet(connection, player).await?)
    }

    /// Returns a page of the wallet's entries that match the filter, newest first, starting below a
    /// version.
    pub async fn entries(
        &self,
        player: PlayerId,
        filter: &EntryFilter,
        below: Option<i64>,
        limit: u32,
    ) -> Result<Page<Entry, i64>, LedgerError> {
        let limit = limit.clamp(1, PAGE_MAX);
        let code = Account::Wallet(player).to_string();
        let codes: Vec<_> = filter.codes.iter().map(|code| code.as_str().to_owned()).collect();
        let from = filter.from.map(db::to_sql);
        let to = filter.to.map(db::to_sql);
        let query = || {
            sqlx::query!(
                r#"
            select e.version, t.code, e.amount, e.balance_before, e.balance_after, o.game,
                exists (
                    select from games g where g.id = o.game and g.state = 'settled'
                ) as "has_record!",
                o.created_at as "created_at: SqlTimestamp"
            from entries e
            join transfers t on t.operation = e.operation and t.number = e.number
            join operations o on o.id = e.operation
            where e.account = (select w.id from accounts w where w.code = $1) and e.version < $2
                and (t.code = any($4) or cardinality($4) = 0)
                and ($5::timestamptz is null or o.created_at >= $5)
                and ($6::timestamptz is null or o.created_at < $6)
                and e.operation >= coalesce(first_operation_of($5), 0)
            order by e.version desc
            limit $3
            "#,
                code,
                below.unwrap_or(i64::MAX),
                i64::from(limit) + 1,
                &codes,
                from as _,
                to as _
            )
            .fetch_all(&self.reads)
        };
        let rows = db::retry(query).await?;
        let unknown = |code: &str| LedgerError::broken(format!("unknown transfer code: {code}"));
        let entries = rows.into_iter().map(|row| {
            Ok(Entry {
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
        Ok(Page::from_rows(entries, limit, |last| last.version))
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
