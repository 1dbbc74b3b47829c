//! POTs of tables that are gone, given back to those who paid the antes in them.
//!
//! What is in a POT are the antes of the games since it was last paid out or given back. Each
//! player gets back what that player paid of them. Should the POT hold another sum than these
//! antes, each gets a part in proportion, rounded down to the hundredth; the hundredths that are
//! left over go one each to those who paid most, of equals to the one with the lower id.
//!
//! Who has paid is read without locks; it is booked only if the POT is still as it was read. A
//! POT is given back once, because its key names the version of its account. Whether a table is
//! gone is not known here: see `tables`.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TableId};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};

use super::Ledger;
use super::books::{Books, Move};
use super::chart::{Account, Code};
use super::error::LedgerError;
use super::operation::Operation;
use crate::db;

/// A POT given back. Its key is `return:<table>:<version>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ReturnPot {
    pub(super) table: TableId,
    /// That of the POT's account before it.
    pub(super) version: i64,
}

/// What giving a POT back comes to.
#[derive(Clone, Debug)]
pub(super) struct PotReturn {
    pub(super) input: ReturnPot,
    shares: Vec<Share>,
}

/// What a player gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub player: PlayerId,
    pub amount: Coins,
}

/// A POT that was given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    /// Who got what.
    pub shares: Vec<Share>,
}

/// A POT with coins at a table where no game is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdlePot {
    pub table: TableId,
    pub pot: Coins,
    /// When the last game there came to its end.
    pub finished_at_ms: i64,
}

impl PotReturn {
    pub(super) fn accounts(&self) -> impl Iterator<Item = Account> {
        let wallets = self.shares.iter().map(|share| Account::Wallet(share.player));
        wallets.chain([Account::Pot(self.input.table)])
    }
}

impl Ledger {
    /// Gives the POT of a table back to those who paid the antes in it, and tells them by a
    /// notice. For a table that is gone: one that plays on would find its POT empty.
    pub async fn return_pot(&self, table: TableId) -> Result<Returned, LedgerError> {
        let mut tx = self.pool.begin().await?;
        let planned = plan(&mut tx, table).await?;
        let ReturnPot { version, .. } = planned.input;
        let returned: Returned = self.run_in_tx(&mut tx, Operation::Return(planned)).await?;
        let players: Vec<_> = returned.shares.iter().map(|share| share.player.0).collect();
        let amounts: Vec<_> =
            returned.shares.iter().map(|share| share.amount.hundredths()).collect();
        // Named after what they are about, so that they are written once, like what they tell.
        sqlx::query!(
            r#"
            insert into notices (id, player, kind, amount)
            select md5('return:' || $1 || ':' || $2::bigint || ':' || s.player)::uuid, s.player,
                'pot_returned', s.amount
            from unnest($3::uuid[], $4::bigint[]) as s (player, amount)
            on conflict (id) do nothing
            "#,
            table.to_string(),
            version,
            &players,
            &amounts
        )
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(returned)
    }

    /// POTs with coins at tables where no game is open, longest forgotten first. A table that
    /// waits for players is among them.
    pub async fn idle_pots(&self) -> Result<Vec<IdlePot>, LedgerError> {
        Ok(db::retry(|| idle(&self.pool)).await?)
    }
}

pub(super) fn decide(
    input: &PotReturn,
    operation: i64,
    books: &mut Books,
) -> Result<Returned, LedgerError> {
    let PotReturn { input: ReturnPot { table, version }, shares } = input;
    let pot = Account::Pot(*table);
    let sum = Coins::checked_sum(shares.iter().map(|share| share.amount));
    if books.version(&pot) != Some(*version) || sum != Some(books.balance(&pot)) {
        let reason = "the POT has changed in this moment".to_owned();
        return Err(LedgerError::Unavailable { reason });
    }
    let moves: Vec<_> = shares
        .iter()
        .map(|share| Move {
            code: Code::Return,
            source: pot.clone(),
            destination: Account::Wallet(share.player),
            amount: share.amount,
        })
        .collect();
    books.post(operation, &moves)?;
    Ok(Returned { shares: shares.clone() })
}

async fn plan(connection: &mut PgConnection, table: TableId) -> Result<PotReturn, LedgerError> {
    let open = sqlx::query_scalar!(
        "select g.id from games g where g.table_id = $1 and g.state = 'open'",
        table.0
    )
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(game) = open.map(GameId) {
        return Err(LedgerError::TableBusy { table, game });
    }
    let rows = sqlx::query!(
        r#"
        with pot as (
            select a.id, a.balance, a.version
            from accounts a
            where a.code = $1 and a.balance > 0
        ),
        history as (
            select e.version, e.amount, t.code, t.source, t.destination
            from pot p
            join entries e on e.account = p.id
            join transfers t on t.operation = e.operation and t.number = e.number
        )
        select p.balance as "balance!", p.version as "version!", w.player as "player!",
            sum(h.amount)::bigint as "paid!"
        from pot p
        cross join history h
        join accounts w on w.id in (h.source, h.destination) and w.kind = 'wallet'
        where h.version > coalesce(
            (select max(b.version) from history b where b.code in ('pot', 'return')), 0
        )
        group by p.balance, p.version, w.player
        having sum(h.amount) > 0
        "#,
        Account::Pot(table).to_string()
    )
    .fetch_all(&mut *connection)
    .await?;
    let Some(first) = rows.first() else {
        return Err(LedgerError::PotEmpty { table });
    };
    let (pot, version) = (Coins::from_hundredths(first.balance), first.version);
    let paid = rows.iter().map(|row| (PlayerId(row.player), Coins::from_hundredths(row.paid)));
    let shares = shares(pot, &paid.collect())
        .ok_or_else(|| LedgerError::broken("a share does not fit 64 bits"))?;
    Ok(PotReturn { input: ReturnPot { table, version }, shares })
}

/// A POT in proportion to what was paid, to the hundredth. `None` when something does not fit, or
/// when nobody has paid anything.
fn shares(pot: Coins, paid: &BTreeMap<PlayerId, Coins>) -> Option<Vec<Share>> {
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
    // Stable, so that of equals the lower id stays first.
    shares.sort_by_key(|(paid, _)| std::cmp::Reverse(*paid));
    let given = Coins::checked_sum(shares.iter().map(|(_, share)| share.amount))?;
    let left = usize::try_from(pot.checked_sub(given)?.hundredths()).ok()?;
    // Rounding leaves less than one for each.
    if left > shares.len() {
        return None;
    }
    for (_, share) in shares.iter_mut().take(left) {
        share.amount = share.amount.checked_add(Coins::from_hundredths(1))?;
    }
    let shares = shares.into_iter().map(|(_, share)| share);
    Some(shares.filter(|share| !share.amount.is_zero()).collect())
}

async fn idle(pool: &PgPool) -> Result<Vec<IdlePot>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with candidates as (
            -- There is an account for every table that there ever was, so those with coins are taken
            -- from what was counted, and from what was not counted yet.
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
    use super::{Share, shares};
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
        assert_eq!(shares(Coins::from_hundredths(pot), &paid.collect()), Some(expected));
    }

    #[test]
    fn everybody_gets_back_what_was_paid() {
        check(900, &[300, 500, 100], &[(2, 500), (1, 300), (3, 100)]);
        check(300, &[100, 100, 100], &[(1, 100), (2, 100), (3, 100)]);
    }

    #[test]
    fn what_is_left_over_goes_to_those_who_paid_most() {
        check(100, &[100, 100, 100], &[(1, 34), (2, 33), (3, 33)]);
        check(101, &[100, 300, 300], &[(2, 44), (3, 43), (1, 14)]);
        check(1, &[100, 100], &[(1, 1)]);
        check(1_001, &[100, 100], &[(1, 501), (2, 500)]);
    }

    #[test]
    fn a_pot_that_nobody_paid_is_nobodys() {
        assert_eq!(shares(Coins::from_hundredths(100), &[].into()), None);
    }
}
