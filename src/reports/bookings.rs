//! The single transfers of a period as a CSV file for accounting, apart from those by which games
//! open and settle: grants, adjustments, reversals, voids, POT refunds, and those of tournaments,
//! each with its time in the house's zone, its players by name, and its reason.
//!
//! Operations are read by their ids, a number of them at once, so memory does not grow with the
//! file and no transaction stays open.

use std::collections::BTreeMap;
use std::fmt::Display;

use bahay_api::csv::{ExportedTime, SpreadsheetText, begin_file, write_line};
use bahay_engine::coins::Coins;
use futures_util::stream::{self, Stream, StreamExt as _};
use jiff::tz::TimeZone;
use jiff_sqlx::Timestamp as SqlTimestamp;

use super::booked::{HOUR_MS, Interval};
use super::books::ledger_code;
use super::titles::{account_title, operation_title, purpose_title};
use super::{ReportError, Reports, from_sql, to_sql};
use crate::clock::Timestamp;
use crate::db;
use crate::ledger::Code;

/// The number of operations that one statement reads.
const OPERATIONS_AT_ONCE: i64 = 20_000;

/// The header line. `date` and `time` are in the house's zone, with the offset of that time;
/// `booked_at` is the same instant as RFC 3339 in UTC.
const COLUMNS: [&str; 17] = [
    "date",
    "time",
    "utc_offset",
    "booked_at",
    "operation",
    "kind",
    "purpose",
    "room",
    "game",
    "from",
    "from_id",
    "from_name",
    "to",
    "to_id",
    "to_name",
    "coins",
    "reason",
];

/// A transfer of the file.
struct BookedTransfer {
    at: Timestamp,
    operation: i64,
    kind: String,
    code: Code,
    room: String,
    game: String,
    from: AccountSide,
    to: AccountSide,
    amount: Coins,
    reason: String,
}

/// The kind of an account and, if it is a wallet, its player.
struct AccountSide {
    kind: String,
    player: String,
    name: String,
}

/// The sums of the transfers by purpose.
type Totals = BTreeMap<Code, Coins>;

impl Reports {
    /// Exports the transfers of a period, oldest first, and then their totals by purpose and
    /// altogether.
    pub fn export_bookings(
        self,
        period: Interval,
        zone: TimeZone,
    ) -> impl Stream<Item = Result<String, ReportError>> + Send + 'static {
        let parts = stream::try_unfold(Some((None, Totals::new())), move |state| {
            let reports = self.clone();
            let zone = zone.clone();
            async move {
                let Some((after, mut totals)) = state else {
                    return Ok(None);
                };
                let mut text = String::new();
                let last = reports.last_of_part(period, after).await?;
                let Some(last) = last else {
                    write_totals(&mut text, &totals)?;
                    return Ok(Some((text, None)));
                };
                for transfer in reports.booked_transfers(period, after, last).await? {
                    write_transfer(&mut text, &transfer, &zone);
                    let total = totals.entry(transfer.code).or_default();
                    *total = add(*total, transfer.amount)?;
                }
                Ok(Some((text, Some((Some(last), totals)))))
            }
        });
        stream::iter([Ok(begin_file(&COLUMNS))]).chain(parts)
    }

    /// Returns the last of the next operations; `None` behind the period.
    async fn last_of_part(
        &self,
        period: Interval,
        after: Option<i64>,
    ) -> Result<Option<i64>, ReportError> {
        // Operations are numbered nearly in the order of time.
        let end = Timestamp::from_ms(period.to.ms().saturating_add(HOUR_MS));
        let once = || {
            sqlx::query_scalar!(
                r#"
                select max(p.id)
                from (
                    select o.id, o.created_at
                    from operations o
                    where o.id >= first_operation_of($1) and ($2::bigint is null or o.id > $2)
                        and o.id < first_operation_of($3::timestamptz + interval '1 month')
                    order by o.id
                    limit $5
                ) p
                having min(p.created_at) < $4
                "#,
                to_sql(period.from) as _,
                after,
                to_sql(period.to) as _,
                to_sql(end) as _,
                OPERATIONS_AT_ONCE
            )
            .fetch_optional(&self.pool)
        };
        Ok(db::retry(once).await?.flatten())
    }

    async fn booked_transfers(
        &self,
        period: Interval,
        after: Option<i64>,
        last: i64,
    ) -> Result<Vec<BookedTransfer>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                select o.id, o.kind, o.created_at as "created_at: SqlTimestamp",
                    coalesce(o.game::text, '') as "game!", coalesce(g.room, '') as "room!",
                    t.code as "code!", t.amount as "amount!", s.kind as "from_kind!",
                    coalesce(f.id::text, '') as "from_player!",
                    coalesce(f.name, '') as "from_name!", d.kind as "to_kind!",
                    coalesce(r.id::text, '') as "to_player!", coalesce(r.name, '') as "to_name!",
                    coalesce(c.reason, g.void_reason, '') as "reason!"
                from operations o
                cross join lateral unnest(o.codes, o.sources, o.destinations, o.amounts)
                    with ordinality as t (code, source, destination, amount, number)
                join accounts s on s.id = t.source
                join accounts d on d.id = t.destination
                left join players f on f.id = s.player
                left join players r on r.id = d.player
                left join games g on g.id = o.game
                left join corrections c on c.operation = o.id
                where o.id >= first_operation_of($1) and ($2::bigint is null or o.id > $2)
                    and o.id <= $3 and o.created_at >= $1 and o.created_at < $4
                    and o.kind not in ('open', 'settle')
                order by o.id, t.number
                "#,
                to_sql(period.from) as _,
                after,
                last,
                to_sql(period.to) as _
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| {
            let side = |kind, player, name| AccountSide { kind, player, name };
            Ok(BookedTransfer {
                at: from_sql(row.created_at),
                operation: row.id,
                kind: row.kind,
                code: ledger_code(&row.code)?,
                room: row.room,
                game: row.game,
                from: side(row.from_kind, row.from_player, row.from_name),
                to: side(row.to_kind, row.to_player, row.to_name),
                amount: Coins::from_hundredths(row.amount),
                reason: row.reason,
            })
        });
        rows.collect()
    }
}

fn write_transfer(out: &mut String, transfer: &BookedTransfer, zone: &TimeZone) {
    let BookedTransfer { at, operation, kind, code, room, game, from, to, amount, reason } =
        transfer;
    let ExportedTime { date, time, utc_offset, instant } = ExportedTime::new((*at).into(), zone);
    let [kind, purpose] = [operation_title(kind), purpose_title(*code)];
    let [from_title, to_title] = [from, to].map(|side| account_title(&side.kind));
    let [from_name, to_name] = [from, to].map(|side| SpreadsheetText(&side.name));
    let reason = SpreadsheetText(reason);
    let fields: [&dyn Display; COLUMNS.len()] = [
        &date,
        &time,
        &utc_offset,
        &instant,
        operation,
        &kind,
        &purpose,
        room,
        game,
        &from_title,
        &from.player,
        &from_name,
        &to_title,
        &to.player,
        &to_name,
        amount,
        &reason,
    ];
    write_line(out, fields);
}

/// Writes a line with the total of each purpose, and one with that of all.
fn write_totals(out: &mut String, totals: &Totals) -> Result<(), ReportError> {
    let mut write = |purpose: &str, amount: Coins| {
        let field = |name: &str| match name {
            "date" => "total".to_owned(),
            "purpose" => purpose.to_owned(),
            "coins" => amount.to_string(),
            _ => String::new(),
        };
        let fields = COLUMNS.map(field);
        write_line(out, fields.iter().map(|field| field as &dyn Display));
    };
    let mut sum = Coins::ZERO;
    for (code, amount) in totals {
        write(purpose_title(*code), *amount);
        sum = add(sum, *amount)?;
    }
    write("", sum);
    Ok(())
}

fn add(sum: Coins, amount: Coins) -> Result<Coins, ReportError> {
    let overflow = || sqlx::Error::Decode("a sum does not fit 64 bits".into());
    sum.checked_add(amount).ok_or_else(overflow)
}
