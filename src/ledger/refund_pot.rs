//! POTs given back to those who paid the antes in them: of tables that are gone, of private tables
//! that have come to their end, and the part of a player who was sent away from one (rule 7.4).
//!
//! What is in a POT are the antes of the games since it was last empty. Each player gets back what
//! that player paid of them, less what came back before. Should the POT hold another sum than these
//! antes, each gets a part of the whole in proportion, rounded down to the hundredth; the hundredths
//! that are left over go one each to those who paid most, of equals to the one with the lower id.
//!
//! Who has paid is read without locks; it is booked only if the POT is still as it was read. What a
//! table asks for is done once, because its key names the last game that was opened there, and the
//! player; the POT of a table that is gone, because its key names the version of its account.
//! Whether a table is gone is not known here: see `tables`.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, Share, TableId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};

use super::Ledger;
use super::books::{Books, Move};
use super::chart::{Account, Code};
use super::error::LedgerError;
use super::operation::Operation;
use crate::db;

/// What a private table asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PotRefundRequest {
    pub table: TableId,
    /// The last game that was opened there.
    pub game: GameId,
    /// Whose part goes back; everybody's, where there is none.
    pub player: Option<PlayerId>,
}

/// Coins of a POT given back. Its key is `pot_refund:<table>:<version>` or `pot_refund:<table>:<game>`, with
/// `:<player>` after it where it is one player's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct RefundPot {
    table: TableId,
    since: RefundPoint,
    player: Option<PlayerId>,
}

/// What makes it one return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum RefundPoint {
    /// Of the POT's account before it.
    Version(i64),
    Game(GameId),
}

impl RefundPot {
    pub(super) fn key(&self) -> String {
        let Self { table, since, player } = self;
        let since = match since {
            RefundPoint::Version(version) => version.to_string(),
            RefundPoint::Game(game) => game.to_string(),
        };
        let player = player.map_or_else(String::new, |player| format!(":{player}"));
        format!("pot_refund:{table}:{since}{player}")
    }
}

/// What giving a POT back comes to.
#[derive(Clone, Debug)]
pub(super) struct PlannedPotRefund {
    pub(super) input: RefundPot,
    /// That of the POT's account when it was read; `None`, if there was no such account.
    version: Option<i64>,
    shares: Vec<Share>,
}

/// A POT that was given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PotRefundOutcome {
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

impl PlannedPotRefund {
    pub(super) fn accounts(&self) -> impl Iterator<Item = Account> {
        let wallets = self.shares.iter().map(|share| Account::Wallet(share.player));
        wallets.chain([Account::Pot(self.input.table)])
    }
}

impl Ledger {
    /// Gives the POT of a table back to those who paid the antes in it, and tells them by a
    /// notice. For a table that is gone: one that plays on would find its POT empty.
    pub async fn refund_pot(&self, table: TableId) -> Result<PotRefundOutcome, LedgerError> {
        let mut tx = self.pool.begin().await?;
        let RefundPreconditions { open_game, .. } = read_preconditions(&mut tx, table, "").await?;
        if let Some(game) = open_game {
            return Err(LedgerError::TableBusy { table, game });
        }
        let Some(pot) = read_contributions(&mut tx, table).await?.filter(|pot| !pot.paid.is_empty()) else {
            return Err(LedgerError::PotEmpty { table });
        };
        let shares = split_pot(pot.balance, &pot.paid).ok_or_else(share_overflow)?;
        let input = RefundPot { table, since: RefundPoint::Version(pot.version), player: None };
        let planned = PlannedPotRefund { input, version: Some(pot.version), shares };
        let returned = self.book_pot_refund(&mut tx, planned).await?;
        tx.commit().await?;
        Ok(returned)
    }

    /// Gives back what a private table asks for, and tells who gets something by a notice. Asked
    /// again, it answers the same; what is left in the POT is that of now.
    pub async fn perform_pot_refund(&self, asked: PotRefundRequest) -> Result<(PotRefundOutcome, Coins), LedgerError> {
        let PotRefundRequest { table, game, player } = asked;
        let input = RefundPot { table, since: RefundPoint::Game(game), player };
        let mut tx = self.pool.begin().await?;
        // Of one moment: where this was done before, another game may be open by now.
        let RefundPreconditions { open_game, answer } = read_preconditions(&mut tx, table, &input.key()).await?;
        let returned = match (answer, open_game) {
            (Some(answer), _) => serde_json::from_value(answer)
                .map_err(|error| LedgerError::broken(error.to_string()))?,
            (None, Some(game)) => return Err(LedgerError::TableBusy { table, game }),
            (None, None) => {
                let pot = read_contributions(&mut tx, table).await?;
                let version = pot.as_ref().map(|pot| pot.version);
                let shares = match (pot, player) {
                    (None, _) => Vec::new(),
                    (Some(pot), None) => split_pot(pot.balance, &pot.paid).ok_or_else(share_overflow)?,
                    (Some(pot), Some(player)) => {
                        let amount = pot.paid.get(&player).copied();
                        amount.map(|amount| Share { player, amount }).into_iter().collect()
                    }
                };
                self.book_pot_refund(&mut tx, PlannedPotRefund { input, version, shares }).await?
            }
        };
        tx.commit().await?;
        let pot = db::retry(|| read_pot_balance(&self.pool, table)).await?;
        Ok((returned, pot))
    }

    /// With the notices, in the caller's transaction.
    async fn book_pot_refund(
        &self,
        tx: &mut PgConnection,
        planned: PlannedPotRefund,
    ) -> Result<PotRefundOutcome, LedgerError> {
        let key = planned.input.key();
        let returned: PotRefundOutcome = self.run_in_tx(tx, Operation::RefundPot(planned)).await?;
        let players: Vec<_> = returned.shares.iter().map(|share| share.player.0).collect();
        let amounts: Vec<_> =
            returned.shares.iter().map(|share| share.amount.hundredths()).collect();
        // Named after what they are about, so that they are written once, like what they tell.
        sqlx::query!(
            r#"
            insert into notices (id, player, kind, amount)
            select md5($1 || ':' || s.player)::uuid, s.player, 'pot_refunded', s.amount
            from unnest($2::uuid[], $3::bigint[]) as s (player, amount)
            on conflict (id) do nothing
            "#,
            key,
            &players,
            &amounts
        )
        .execute(tx)
        .await?;
        Ok(returned)
    }

    /// POTs with coins at tables where no game is open, longest forgotten first. A table that
    /// waits for players is among them.
    pub async fn idle_pots(&self) -> Result<Vec<IdlePot>, LedgerError> {
        Ok(db::retry(|| read_idle_pots(&self.reads)).await?)
    }
}

pub(super) fn decide(
    input: &PlannedPotRefund,
    operation: i64,
    books: &mut Books,
) -> Result<PotRefundOutcome, LedgerError> {
    let PlannedPotRefund { input: RefundPot { table, player, .. }, version, shares } = input;
    let pot = Account::Pot(*table);
    let sum = Coins::checked_sum(shares.iter().map(|share| share.amount));
    let is_all = player.is_some() || sum == Some(books.balance(&pot));
    if books.version(&pot) != *version || !is_all {
        let reason = "the POT has changed in this moment".to_owned();
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
    books.post(operation, &moves)?;
    Ok(PotRefundOutcome { shares: shares.clone() })
}

/// How things stand at a table, all of one moment.
struct RefundPreconditions {
    /// The game that is open there.
    open_game: Option<GameId>,
    /// What was answered under the key.
    answer: Option<Value>,
}

async fn read_preconditions(
    connection: &mut PgConnection,
    table: TableId,
    key: &str,
) -> Result<RefundPreconditions, sqlx::Error> {
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
    Ok(RefundPreconditions { open_game: row.open_game.map(GameId), answer: row.answer })
}

/// A POT with coins, and who has paid how much of it.
struct PotContributions {
    balance: Coins,
    version: i64,
    paid: BTreeMap<PlayerId, Coins>,
}

/// `None`, if there is no such account.
async fn read_contributions(connection: &mut PgConnection, table: TableId) -> Result<Option<PotContributions>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with pot as (
            select a.id, a.balance, a.version
            from accounts a
            where a.code = $1
        ),
        history as (
            -- An empty POT holds nobody's coins, so what was before does not matter.
            select e.amount, t.source, t.destination
            from pot p
            join entries e on e.account = p.id and e.version > coalesce(
                (
                    select max(b.version)
                    from entries b
                    where b.account = p.id and b.balance_after = 0
                ), 0
            )
            join transfers t on t.operation = e.operation and t.number = e.number
        ),
        shares as (
            select w.player, sum(h.amount)::bigint as paid
            from history h
            join accounts w on w.id in (h.source, h.destination) and w.kind = 'wallet'
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
    let (balance, version) = (Coins::from_hundredths(first.balance), first.version);
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

/// A POT in proportion to what was paid, to the hundredth; nothing of an empty one. `None` when
/// something does not fit, or when nobody has paid anything.
fn split_pot(pot: Coins, paid: &BTreeMap<PlayerId, Coins>) -> Option<Vec<Share>> {
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

async fn read_idle_pots(pool: &PgPool) -> Result<Vec<IdlePot>, sqlx::Error> {
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
        assert_eq!(split_pot(Coins::from_hundredths(100), &[].into()), None);
    }
}
