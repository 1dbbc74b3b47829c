//! POT refunds: the coins of a POT return to those who paid the antes in it. A refund pays the
//! whole POT when a table is gone or a private table has ended, and one player's part when the
//! player was removed from a private table (rule 7.4).
//!
//! A POT consists of the antes of the games since it was last empty. Each player gets back what
//! that player paid, less earlier refunds. If the POT ever holds another sum than these antes, each
//! player gets a proportional part of the whole, rounded down to the hundredth; the remaining
//! hundredths go one each to those who paid most, in case of a tie to the lower id.
//!
//! Contributions are read without locks, and the refund is booked only if the POT still has the
//! version that was read. A refund requested by a table is idempotent, because its key names the
//! last game opened there and the player; the key of a refund of a deleted table names the version
//! of the POT's account. The module `tables` decides whether a table is gone.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, Share, TableId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};

use crate::Ledger;
use crate::books::{Books, Move};
use crate::chart::{Account, Code};
use crate::error::LedgerError;
use crate::operation::{Accounts, Kind, NEVER_REVERSED, Operation};

/// A POT refund that a private table requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PotRefundRequest {
    pub table: TableId,
    /// The last game that was opened at the table.
    pub game: GameId,
    /// The player whose part is refunded; `None` for all players.
    pub player: Option<PlayerId>,
}

/// The input of a POT refund. Its key is `pot_refund:<table>:<version>` or
/// `pot_refund:<table>:<game>`, followed by `:<player>` for one player's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct RefundPot {
    table: TableId,
    since: RefundPoint,
    player: Option<PlayerId>,
}

/// The part of the key that makes a refund unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum RefundPoint {
    /// The version of the POT's account before the refund.
    Version(i64),
    Game(GameId),
}

impl RefundPot {
    fn key(&self) -> String {
        let Self { table, since, player } = self;
        let since = match since {
            RefundPoint::Version(version) => version.to_string(),
            RefundPoint::Game(game) => game.to_string(),
        };
        let player = player.map_or_else(String::new, |player| format!(":{player}"));
        format!("pot_refund:{table}:{since}{player}")
    }
}

/// A POT refund with its computed shares.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct PlannedPotRefund {
    input: RefundPot,
    /// The version of the POT's account as read; `None` if there is no such account.
    #[serde(skip)]
    version: Option<i64>,
    #[serde(skip)]
    shares: Vec<Share>,
}

/// A booked POT refund.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PotRefundOutcome {
    /// The refunded amount of each player.
    pub shares: Vec<Share>,
}

/// A POT with coins at a table without an open game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdlePot {
    pub table: TableId,
    pub pot: Coins,
    /// The end of the table's last game.
    pub finished_at_ms: i64,
}

impl Operation for PlannedPotRefund {
    const KIND: Kind = Kind { name: "pot_refund", irreversible: Some(NEVER_REVERSED) };

    type Outcome = PotRefundOutcome;

    fn key(&self) -> String {
        self.input.key()
    }

    fn accounts(&self) -> Accounts {
        let wallets = self.shares.iter().map(|share| Account::Wallet(share.player));
        let used = wallets.chain([Account::Pot(self.input.table)]).collect();
        Accounts { used, ..Accounts::default() }
    }

    fn decide(&self, books: &mut Books) -> Result<PotRefundOutcome, LedgerError> {
        let Self { input: RefundPot { table, player, .. }, version, shares } = self;
        let pot = Account::Pot(*table);
        let sum = Coins::checked_sum(shares.iter().map(|share| share.amount));
        let is_all = player.is_some() || sum == Some(books.balance(&pot));
        if books.version(&pot) != *version || !is_all {
            let reason = "the POT has changed concurrently".to_owned();
            return Err(LedgerError::Unavailable { reason });
        }
        let moves: Vec<_> = shares
            .iter()
            .map(|share| Move {
                code: Code::PotRefund,
                source: pot.clone(),
                destination: Account::Wallet(share.player),
                amount: share.amount,
            })
            .collect();
        books.post(&moves)?;
        Ok(PotRefundOutcome { shares: shares.clone() })
    }
}

impl Ledger {
    /// Refunds the POT of a deleted table to those who paid the antes in it, and writes them
    /// notices. A table that still exists would find its POT empty.
    pub async fn refund_pot(&self, table: TableId) -> Result<PotRefundOutcome, LedgerError> {
        let mut tx = bahay_db::begin(&self.pool).await?;
        if let (Some(game), _) = read_preconditions(&mut tx, table, "").await? {
            return Err(LedgerError::TableBusy { table, game });
        }
        let Some(pot) =
            read_contributions(&mut tx, table).await?.filter(|pot| !pot.paid.is_empty())
        else {
            return Err(LedgerError::PotEmpty { table });
        };
        let shares = split_pot(pot.balance, &pot.paid).ok_or_else(share_overflow)?;
        let input = RefundPot { table, since: RefundPoint::Version(pot.version), player: None };
        let planned = PlannedPotRefund { input, version: Some(pot.version), shares };
        let returned = self.book_pot_refund(&mut tx, planned).await?;
        tx.commit().await?;
        Ok(returned)
    }

    /// Refunds what a private table requests, and writes a notice to each player who gets coins.
    /// Returns the outcome and the current balance of the POT. A repeated request returns the same
    /// outcome.
    pub async fn perform_pot_refund(
        &self,
        request: PotRefundRequest,
    ) -> Result<(PotRefundOutcome, Coins), LedgerError> {
        let PotRefundRequest { table, game, player } = request;
        let input = RefundPot { table, since: RefundPoint::Game(game), player };
        let mut tx = bahay_db::begin(&self.pool).await?;
        // Both values are of one snapshot: if the refund was booked before, another game may be
        // open by now.
        let returned = match read_preconditions(&mut tx, table, &input.key()).await? {
            (_, Some(answer)) => serde_json::from_value(answer)
                .map_err(|error| LedgerError::broken(error.to_string()))?,
            (Some(game), None) => return Err(LedgerError::TableBusy { table, game }),
            (None, None) => {
                let pot = read_contributions(&mut tx, table).await?;
                let version = pot.as_ref().map(|pot| pot.version);
                let shares = match (pot, player) {
                    (None, _) => Vec::new(),
                    (Some(pot), None) => {
                        split_pot(pot.balance, &pot.paid).ok_or_else(share_overflow)?
                    }
                    (Some(pot), Some(player)) => {
                        let amount = pot.paid.get(&player).copied();
                        amount.map(|amount| Share { player, amount }).into_iter().collect()
                    }
                };
                self.book_pot_refund(&mut tx, PlannedPotRefund { input, version, shares }).await?
            }
        };
        tx.commit().await?;
        let pot = bahay_db::retry(|| read_pot_balance(&self.pool, table)).await?;
        Ok((returned, pot))
    }

    /// Books the refund and writes the notices, in the caller's transaction.
    async fn book_pot_refund(
        &self,
        tx: &mut PgConnection,
        planned: PlannedPotRefund,
    ) -> Result<PotRefundOutcome, LedgerError> {
        let key = planned.key();
        let returned = self.run_in_tx(tx, planned).await?;
        let shares = returned.shares.iter().map(|share| (share.player, Some(share.amount)));
        bahay_notices::insert_in_tx(tx, "pot_refunded", &key, &shares.collect::<Vec<_>>()).await?;
        Ok(returned)
    }

    /// Returns the POTs with coins at tables without an open game, in order of the end of the last
    /// game. They include tables that wait for players.
    pub async fn idle_pots(&self) -> Result<Vec<IdlePot>, LedgerError> {
        Ok(bahay_db::retry(|| read_idle_pots(&self.reads)).await?)
    }
}

/// Returns the game that is open at the table and the answer stored under the key, from one
/// snapshot.
async fn read_preconditions(
    connection: &mut PgConnection,
    table: TableId,
    key: &str,
) -> Result<(Option<GameId>, Option<Value>), sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select
            (select g.id from games g where g.table_id = $1 and g.state = 'open') as "open_game?",
            (
                select o.answer
                from operation_keys k
                join operations o on o.id = k.operation
                where k.key = $2
            ) as "answer?"
        "#,
        table.0,
        key
    )
    .fetch_one(connection)
    .await?;
    Ok((row.open_game.map(GameId), row.answer))
}

/// A POT with coins and the contributions of each player.
pub(crate) struct PotContributions {
    pub(crate) balance: Coins,
    version: i64,
    pub(crate) paid: BTreeMap<PlayerId, Coins>,
}

/// Reads the contributions to a POT. Returns `None` if there is no such account.
pub(crate) async fn read_contributions(
    connection: &mut PgConnection,
    table: TableId,
) -> Result<Option<PotContributions>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with pot as (
            select a.id, a.balance, a.version
            from accounts a
            where a.code = $1
        ),
        -- The newest operation before which the POT was empty, found from the newest backwards:
        -- a POT may have a long history, and contributions end there.
        first as materialized (
            select p.id as account, (
                select m.operation
                from account_operations m
                cross join lateral (
                    select o.balances[array_position(o.accounts, p.id)] as balance
                    from operations o
                    where o.id = m.operation
                    offset 0
                ) o
                where m.account = p.id and o.balance = 0
                order by m.operation desc
                limit 1
            ) as operation
            from pot p
        ),
        -- `offset 0` looks up each operation by its id, in every plan.
        history as materialized (
            select e.operation, e.number, e.amount, e.version, e.balance_after
            from first f
            join account_operations m on m.account = f.account and m.operation >= f.operation
            cross join lateral (
                select e.operation, e.number, e.amount, e.version, e.balance_after
                from entries e
                where e.operation = m.operation and e.account = m.account
                offset 0
            ) e
        ),
        shares as (
            select w.player, sum(h.amount)::bigint as paid
            from history h
            cross join lateral (
                select t.source, t.destination
                from transfers t
                where t.operation = h.operation and t.number = h.number
                offset 0
            ) t
            join accounts w on w.id in (t.source, t.destination) and w.kind = 'wallet'
            -- Contributions before the POT was last empty have been paid out.
            where h.version > coalesce(
                (select max(b.version) from history b where b.balance_after = 0), 0
            )
            group by w.player
            having sum(h.amount) > 0
        )
        select p.balance as "balance!", p.version as "version!", s.player as "player?",
            s.paid as "paid?"
        from pot p
        left join shares s on true
        "#,
        Account::Pot(table).to_string()
    )
    .fetch_all(connection)
    .await?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let balance = Coins::from_hundredths(first.balance);
    let version = first.version;
    let paid = rows.iter().filter_map(|row| row.player.zip(row.paid));
    let paid = paid.map(|(player, paid)| (PlayerId(player), Coins::from_hundredths(paid)));
    Ok(Some(PotContributions { balance, version, paid: paid.collect() }))
}

async fn read_pot_balance(pool: &PgPool, table: TableId) -> Result<Coins, sqlx::Error> {
    let balance = sqlx::query_scalar!(
        "select a.balance from accounts a where a.code = $1",
        Account::Pot(table).to_string()
    )
    .fetch_optional(pool)
    .await?;
    Ok(balance.map_or(Coins::ZERO, Coins::from_hundredths))
}

fn share_overflow() -> LedgerError {
    LedgerError::broken("a share does not fit 64 bits")
}

/// Splits a POT in proportion to the contributions, to the hundredth; an empty POT has no shares.
/// Returns `None` if an amount does not fit, or if nobody has paid anything.
pub(crate) fn split_pot(pot: Coins, paid: &BTreeMap<PlayerId, Coins>) -> Option<Vec<Share>> {
    if pot.is_zero() {
        return Some(Vec::new());
    }
    let total = i128::from(Coins::checked_sum(paid.values().copied())?.hundredths());
    let part = |paid: Coins| -> Option<Coins> {
        let scaled = i128::from(pot.hundredths()).checked_mul(i128::from(paid.hundredths()))?;
        let floor = scaled.checked_div_euclid(total)?;
        Some(Coins::from_hundredths(i64::try_from(floor).ok()?))
    };
    let shares: Option<Vec<_>> = paid
        .iter()
        .map(|(player, paid)| Some((*paid, Share { player: *player, amount: part(*paid)? })))
        .collect();
    let mut shares = shares?;
    // The sort is stable, so the lower id stays first in a tie.
    shares.sort_by_key(|(paid, _)| std::cmp::Reverse(*paid));
    let given = Coins::checked_sum(shares.iter().map(|(_, share)| share.amount))?;
    let left = usize::try_from(pot.checked_sub(given)?.hundredths()).ok()?;
    // Rounding leaves less than one hundredth for each share.
    if left > shares.len() {
        return None;
    }
    for (_, share) in shares.iter_mut().take(left) {
        share.amount = share.amount.checked_add(Coins::from_hundredths(1))?;
    }
    let shares = shares.into_iter().map(|(_, share)| share);
    Some(shares.filter(|share| !share.amount.is_zero()).collect())
}

async fn read_idle_pots(pool: &PgPool) -> Result<Vec<IdlePot>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with candidates as (
            -- Every former table has an account, so the candidates with coins come from the
            -- projection and from the operations that are not projected yet.
            select h.table_id from held_pots h where h.amount > 0
            union
            select substring(c.code from 5)::uuid
            from late_operations l
            join transfers t on t.operation = l.operation
            join accounts c on c.id = t.destination and c.kind = 'pot'
        )
        select g.table_id, a.balance,
            (extract(epoch from max(g.finished_at)) * 1000)::bigint as "finished_at_ms!"
        from candidates c
        join accounts a on a.code = 'pot:' || c.table_id and a.balance > 0
        join games g on g.table_id = c.table_id
        group by g.table_id, a.balance
        having count(*) filter (where g.state = 'open') = 0
        order by 3, g.table_id
        "#
    )
    .fetch_all(pool)
    .await?;
    let pots = rows.into_iter().map(|row| IdlePot {
        table: TableId(row.table_id),
        pot: Coins::from_hundredths(row.balance),
        finished_at_ms: row.finished_at_ms,
    });
    Ok(pots.collect())
}

#[cfg(test)]
mod tests {
    use super::{Share, split_pot};
    use bahay_engine::coins::Coins;
    use bahay_engine::table::PlayerId;
    use uuid::Uuid;

    fn player(number: u128) -> PlayerId {
        PlayerId(Uuid::from_u128(number))
    }

    fn check(pot: i64, paid: &[i64], expected: &[(u128, i64)]) {
        let paid = (1..).zip(paid).map(|(id, paid)| (player(id), Coins::from_hundredths(*paid)));
        let expected = expected.iter().map(|(id, amount)| Share {
            player: player(*id),
            amount: Coins::from_hundredths(*amount),
        });
        let expected: Vec<_> = expected.collect();
        assert_eq!(split_pot(Coins::from_hundredths(pot), &paid.collect()), Some(expected));
    }

    #[test]
    fn a_pot_refund_returns_each_contribution() {
        check(900, &[300, 500, 100], &[(2, 500), (1, 300), (3, 100)]);
        check(300, &[100, 100, 100], &[(1, 100), (2, 100), (3, 100)]);
    }

    #[test]
    fn remaining_hundredths_go_to_the_largest_contributions() {
        check(100, &[100, 100, 100], &[(1, 34), (2, 33), (3, 33)]);
        check(101, &[100, 300, 300], &[(2, 44), (3, 43), (1, 14)]);
        check(1, &[100, 100], &[(1, 1)]);
        check(1_001, &[100, 100], &[(1, 501), (2, 500)]);
    }

    #[test]
    fn a_pot_without_contributions_has_no_shares() {
        assert_eq!(split_pot(Coins::from_hundredths(100), &[].into()), None);
    }
}
