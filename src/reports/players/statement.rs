//! The statement of a wallet: its operations within a period, each with the changes by their
//! reasons and the balance after it.

use std::fmt::Display;

use bahay_api::csv::{SpreadsheetText, begin_file, write_line};
use bahay_api::operator::statements::{
    Statement, StatementAmounts, StatementItem, StatementLine, StatementPayment,
};
use bahay_api::{Coins, Time};
use bahay_engine::coins;
use jiff::tz::TimeZone;
use jiff_sqlx::Timestamp as SqlTimestamp;
use uuid::Uuid;

use crate::clock;
use crate::db;
use crate::ids::PlayerId;
use crate::ledger::Code;
use crate::reports::books::ledger_code;
use crate::reports::titles::describe_item;
use crate::reports::{Interval, ReportError, Reports, from_sql, to_sql};

/// The maximum number of lines of a statement.
const LINES_MAX: usize = 10_000;

/// The header line of the file. Amounts are in coins; times are in the house's time zone.
const COLUMNS: [&str; 14] = [
    "booked_at",
    "operation",
    "kind",
    "game",
    "ante",
    "stake",
    "payments",
    "fee",
    "pot",
    "other",
    "change",
    "balance",
    "items",
    "reason",
];

/// The bookings of a period are more than a statement lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyBookings;

impl Reports {
    /// Returns the statement of a player's wallet, whose name is given, without the explanations of
    /// its lines.
    pub async fn statement(
        &self,
        player: PlayerId,
        name: String,
        period: Interval,
    ) -> Result<Result<Statement, TooManyBookings>, ReportError> {
        let lines = self.statement_lines(player, period).await?;
        if lines.len() > LINES_MAX {
            return Ok(Err(TooManyBookings));
        }
        let mut sums = StatementAmounts::default();
        for line in &lines {
            add(&mut sums, line.amounts)?;
        }
        let opening = match lines.first() {
            Some(first) => subtract(first.balance, first.amounts.change)?,
            None => self.balance_at(player, period).await?,
        };
        let closing = lines.last().map_or(opening, |last| last.balance);
        let [from, to] = [period.from, period.to].map(Time::from);
        Ok(Ok(Statement { player: player.0, name, from, to, opening, sums, closing, lines }))
    }

    async fn statement_lines(
        &self,
        player: PlayerId,
        period: Interval,
    ) -> Result<Vec<StatementLine>, ReportError> {
        let code = format!("wallet:{player}");
        let once = || {
            sqlx::query!(
                r#"
                select o.id, o.kind, o.game, o.created_at as "created_at: SqlTimestamp",
                    s.balance as "balance_before!", t.codes as "codes!", t.amounts as "amounts!"
                from account_operations m
                cross join lateral (
                    select o.id, o.kind, o.game, o.created_at, o.codes, o.sources, o.destinations,
                        o.amounts, o.accounts, o.balances
                    from operations o
                    where o.id = m.operation
                    offset 0
                ) o
                cross join lateral unnest(o.accounts, o.balances) as s (account, balance)
                cross join lateral (
                    select array_agg(t.code order by t.number) as codes,
                        array_agg(
                            case t.source when m.account then -t.amount else t.amount end
                            order by t.number
                        ) as amounts
                    from unnest(o.codes, o.sources, o.destinations, o.amounts)
                        with ordinality as t (code, source, destination, amount, number)
                    where m.account in (t.source, t.destination)
                ) t
                where m.account = (select a.id from accounts a where a.code = $1)
                    and m.operation >= first_operation_of($2)
                    and m.operation < first_operation_of($3::timestamptz + interval '1 month')
                    and o.created_at >= $2 and o.created_at < $3
                    and s.account = m.account and t.codes is not null
                order by m.operation
                limit $4
                "#,
                code,
                to_sql(period.from) as _,
                to_sql(period.to) as _,
                i64::try_from(LINES_MAX).unwrap_or(i64::MAX) + 1
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            let mut amounts = StatementAmounts::default();
            for (code, amount) in row.codes.iter().zip(&row.amounts) {
                add_transfer(&mut amounts, ledger_code(code)?, Coins::from_hundredths(*amount))?;
            }
            let balance = sum(Coins::from_hundredths(row.balance_before), amounts.change)?;
            Ok(StatementLine {
                operation: row.id,
                kind: row.kind,
                game: row.game,
                booked_at: from_sql(row.created_at).into(),
                amounts,
                balance,
                payments: Vec::new(),
                reason: None,
            })
        });
        rows.collect()
    }

    /// Returns the balance of a wallet at the beginning of a period without bookings: that before
    /// its first later operation, or the present one.
    async fn balance_at(&self, player: PlayerId, period: Interval) -> Result<Coins, ReportError> {
        let code = format!("wallet:{player}");
        let once = || {
            sqlx::query_scalar!(
                r#"
                select coalesce(
                    (
                        select s.balance
                        from account_operations m
                        cross join lateral (
                            select o.created_at, o.accounts, o.balances
                            from operations o
                            where o.id = m.operation
                            offset 0
                        ) o
                        cross join lateral unnest(o.accounts, o.balances) as s (account, balance)
                        where m.account = a.id and m.operation >= first_operation_of($2)
                            and o.created_at >= $2 and s.account = a.id
                        order by m.operation
                        limit 1
                    ),
                    a.balance
                ) as "balance!"
                from accounts a
                where a.code = $1
                "#,
                code,
                to_sql(period.from) as _
            )
            .fetch_optional(&self.pool)
        };
        Ok(Coins::from_hundredths(db::retry(once).await?.unwrap_or(0)))
    }
}

fn add_transfer(
    amounts: &mut StatementAmounts,
    code: Code,
    amount: Coins,
) -> Result<(), ReportError> {
    let reason = match code {
        Code::Ante | Code::Refund | Code::PotRefund => &mut amounts.ante,
        Code::Hold | Code::Release => &mut amounts.stake,
        Code::Payment => &mut amounts.payments,
        Code::Fee => &mut amounts.fee,
        Code::Pot => &mut amounts.pot,
        Code::Welcome
        | Code::Daily
        | Code::Relief
        | Code::Adjustment
        | Code::Reversal
        | Code::HouseBot
        | Code::Sweep
        | Code::TournamentEntry
        | Code::TournamentReturn
        | Code::TournamentFee
        | Code::TournamentFeeReturn
        | Code::Guarantee
        | Code::GuaranteeReturn
        | Code::Prize
        | Code::TournamentRefund => &mut amounts.other,
    };
    *reason = sum(*reason, amount)?;
    amounts.change = sum(amounts.change, amount)?;
    Ok(())
}

fn add(sums: &mut StatementAmounts, more: StatementAmounts) -> Result<(), ReportError> {
    let StatementAmounts { ante, stake, payments, fee, pot, other, change } = more;
    *sums = StatementAmounts {
        ante: sum(sums.ante, ante)?,
        stake: sum(sums.stake, stake)?,
        payments: sum(sums.payments, payments)?,
        fee: sum(sums.fee, fee)?,
        pot: sum(sums.pot, pot)?,
        other: sum(sums.other, other)?,
        change: sum(sums.change, change)?,
    };
    Ok(())
}

/// Adds amounts. Fails if the sum does not fit 64 bits.
fn sum(one: Coins, other: Coins) -> Result<Coins, ReportError> {
    in_range(one.checked_add(*other))
}

fn subtract(one: Coins, other: Coins) -> Result<Coins, ReportError> {
    in_range(one.checked_sub(*other))
}

fn in_range(sum: Option<coins::Coins>) -> Result<Coins, ReportError> {
    sum.map(Coins::from).ok_or_else(|| sqlx::Error::Decode("a sum does not fit 64 bits".into()))
}

/// Describes a payment by the other player, its amount and its items.
fn describe_payment(payment: &StatementPayment) -> String {
    let StatementPayment { name, amount, items, .. } = payment;
    let side = if amount.is_negative() { "to" } else { "from" };
    let paid = coins::Coins::from_hundredths(amount.hundredths().abs());
    format!("{side} {name} {paid}: {}", describe_items(items))
}

/// Describes the items of a payment.
pub fn describe_items(items: &[StatementItem]) -> String {
    let items = items.iter().map(|item| describe_item(&item.name, &item.rule, item.counts));
    items.collect::<Vec<_>>().join(", ")
}

/// A line of the file.
#[derive(Default)]
struct FileLine<'a> {
    operation: Option<i64>,
    kind: &'a str,
    game: Option<Uuid>,
    amounts: StatementAmounts,
    items: &'a str,
    reason: &'a str,
}

/// Writes a statement as CSV: the opening balance, a line for each operation, the sums, and the
/// closing balance.
pub fn write_statement(statement: &Statement, zone: &TimeZone) -> String {
    let mut out = begin_file(&COLUMNS);
    let mut write = |at: Time, line: FileLine<'_>, balance: Coins| {
        let at = clock::to_jiff(at.into()).to_zoned(zone.clone());
        let at = at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
        let FileLine { operation, kind, game, amounts, items, reason } = line;
        let operation = operation.map(|operation| operation.to_string()).unwrap_or_default();
        let game = game.map(|game| game.to_string()).unwrap_or_default();
        let StatementAmounts { ante, stake, payments, fee, pot, other, change } = amounts;
        let amounts: [coins::Coins; 8] =
            [ante, stake, payments, fee, pot, other, change, balance].map(coins::Coins::from);
        let head: [&dyn Display; 4] = [&at, &operation, &kind, &game];
        let texts = [items, reason].map(SpreadsheetText);
        let fields = head.into_iter().chain(amounts.iter().map(|amount| amount as &dyn Display));
        write_line(&mut out, fields.chain(texts.iter().map(|text| text as &dyn Display)));
    };
    let Statement { from, to, opening, sums, closing, lines, .. } = statement;
    let begin = FileLine { kind: "opening balance", ..FileLine::default() };
    write(*from, begin, *opening);
    for line in lines {
        let items: Vec<String> = line.payments.iter().map(describe_payment).collect();
        let items = items.join("; ");
        let booked = FileLine {
            operation: Some(line.operation),
            kind: &line.kind,
            game: line.game,
            amounts: line.amounts,
            items: &items,
            reason: line.reason.as_deref().unwrap_or_default(),
        };
        write(line.booked_at, booked, line.balance);
    }
    let end = FileLine { kind: "closing balance", amounts: *sums, ..FileLine::default() };
    write(*to, end, *closing);
    out
}
