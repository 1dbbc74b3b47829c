//! Sums of the transfers booked in an interval, by room, code and kinds of accounts. They are
//! exact, independently of the progress of the projection.
//!
//! Whole hours come from the projection. The partial hours at both ends, and operations that are
//! not projected yet, are read from the ledger, all in one statement and so in one snapshot.

use std::fmt::Display;

use bahay_api::csv::{begin_file, write_line};
use bahay_api::operator::transfers::TransferSum;
use bahay_engine::coins::Coins;
use jiff_sqlx::Timestamp as SqlTimestamp;

use super::books::ledger_code;
use super::{ReportError, Reports, from_sql, to_sql};
use crate::clock::Timestamp;
use crate::db;
use crate::ledger::Code;

pub(super) const HOUR_MS: i64 = 3_600_000;

/// A half-open interval of time: `from` is included, `to` is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Interval {
    /// Returns the bounds of the whole hours within the interval; twice the same instant if there
    /// is none.
    fn whole_hours(self) -> (Timestamp, Timestamp) {
        let first =
            self.from.ms().div_euclid(HOUR_MS) + i64::from(self.from.ms().rem_euclid(HOUR_MS) != 0);
        let last = self.to.ms().div_euclid(HOUR_MS);
        let hour = |number: i64| Timestamp::from_ms(number.saturating_mul(HOUR_MS));
        if first < last { (hour(first), hour(last)) } else { (self.from, self.from) }
    }
}

/// The sum of transfers with the same attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferTotals {
    /// The beginning of the hour, in UTC. `None` unless grouped by hour.
    pub hour: Option<Timestamp>,
    /// The room; `None` if the operation has none.
    pub room: Option<String>,
    pub code: Code,
    /// The kinds of the source and destination accounts, as in the chart of accounts.
    pub source: String,
    pub destination: String,
    pub transfers: i64,
    pub amount: Coins,
}

/// The number of operations of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationCount {
    /// The beginning of the hour, in UTC. `None` unless grouped by hour.
    pub hour: Option<Timestamp>,
    /// The room; `None` if the operation has none.
    pub room: Option<String>,
    /// The value of the column `kind` of `operations`.
    pub kind: String,
    pub operations: i64,
}

/// Runs a query of an interval ($1 to $2), whose whole hours are from $3 to $4. Between the two
/// texts stand the operations of the partial hours at both ends, and those of the whole hours that
/// are not projected yet. Groups by hour if $5 is true.
macro_rules! query_interval {
    ($pool:expr, $interval:expr, $by_hour:expr, $before:tt, $after:tt) => {{
        let (first, last) = $interval.whole_hours();
        // Without a whole hour the first part is the whole interval.
        let (first, last) =
            if first == last { ($interval.to, $interval.to) } else { (first, last) };
        let once = || {
            sqlx::query!(
                $before
                    + "
                    select o.*
                    from operations o
                    where o.created_at >= $1 and o.created_at < $3
                        and o.id >= first_operation_of($1)
                    union all
                    select o.*
                    from operations o
                    where o.created_at >= $4 and o.created_at < $2
                        and o.id >= first_operation_of($4)
                    union all
                    select o.*
                    from late_operations l
                    join operations o on o.id = l.operation
                    where o.created_at >= $3 and o.created_at < $4
                    "
                    + $after,
                to_sql($interval.from) as _,
                to_sql($interval.to) as _,
                to_sql(first) as _,
                to_sql(last) as _,
                $by_hour
            )
            .fetch_all($pool)
        };
        db::retry(once).await?
    }};
}

/// Writes the sums of transfers as CSV, in coins: a line for each, and one with the totals.
pub fn write_transfers(sums: &[TransferSum]) -> String {
    let mut out = begin_file(&["purpose", "room", "from", "to", "transfers", "coins"]);
    for TransferSum { code, room, source, destination, transfers, amount } in sums {
        let room = room.as_deref().unwrap_or_default();
        let amount = Coins::from(*amount);
        let fields: [&dyn Display; 6] = [code, &room, source, destination, transfers, &amount];
        write_line(&mut out, fields);
    }
    let transfers: i64 = sums.iter().map(|sum| sum.transfers).sum();
    let amount = Coins::checked_sum(sums.iter().map(|sum| *sum.amount));
    // The sum of several purposes may not fit; each of them does.
    let amount = amount.map(|amount| amount.to_string()).unwrap_or_default();
    write_line(&mut out, [&"total" as &dyn Display, &"", &"", &"", &transfers, &amount]);
    out
}

impl Reports {
    /// Sums the transfers of an interval by room, and by hour if requested.
    pub async fn transfer_totals(
        &self,
        interval: Interval,
        by_hour: bool,
    ) -> Result<Vec<TransferTotals>, ReportError> {
        let rows = query_interval!(
            &self.pool,
            interval,
            by_hour,
            r#"
            select case when $5 then a.hour end as "hour?: SqlTimestamp", a.room as "room!",
                a.code as "code!", a.source_kind as "source!",
                a.destination_kind as "destination!", sum(a.transfers)::bigint as "transfers!",
                sum(a.amount)::bigint as "amount!"
            from (
                select h.hour, h.room, h.code, h.source_kind, h.destination_kind, h.transfers,
                    h.amount
                from booked_hours h
                where h.hour >= $3 and h.hour < $4
                union all
                select date_trunc('hour', o.created_at, 'UTC'),
                    coalesce(
                        (select g.room from games g where g.id = o.game),
                        case when s.kind = 'fee' then split_part(s.code, ':', 2)
                            when d.kind = 'fee' then split_part(d.code, ':', 2)
                            else '' end
                    ),
                    t.code, s.kind, d.kind, 1, t.amount
                from (
            "#,
            "
                ) o
                cross join lateral unnest(o.codes, o.sources, o.destinations, o.amounts)
                    as t (code, source, destination, amount)
                join accounts s on s.id = t.source
                join accounts d on d.id = t.destination
            ) a
            group by 1, 2, 3, 4, 5
            order by 1, 2, 3, 4, 5
            "
        );
        let rows = rows.into_iter().map(|row| {
            Ok(TransferTotals {
                hour: row.hour.map(from_sql),
                code: ledger_code(&row.code)?,
                room: Some(row.room).filter(|room| !room.is_empty()),
                source: row.source,
                destination: row.destination,
                transfers: row.transfers,
                amount: Coins::from_hundredths(row.amount),
            })
        });
        rows.collect()
    }

    /// Counts the operations of an interval by kind and room, and by hour if requested.
    pub async fn operation_counts(
        &self,
        interval: Interval,
        by_hour: bool,
    ) -> Result<Vec<OperationCount>, ReportError> {
        let rows = query_interval!(
            &self.pool,
            interval,
            by_hour,
            r#"
            select case when $5 then a.hour end as "hour?: SqlTimestamp", a.kind as "kind!",
                a.room as "room!", sum(a.operations)::bigint as "operations!"
            from (
                select h.hour, h.operation_kind as kind, h.room, h.operations
                from operation_hours h
                where h.hour >= $3 and h.hour < $4
                union all
                select date_trunc('hour', o.created_at, 'UTC'), o.kind,
                    coalesce((select g.room from games g where g.id = o.game), ''), 1
                from (
            "#,
            "
                ) o
            ) a
            group by 1, 2, 3
            order by 1, 2, 3
            "
        );
        let rows = rows.into_iter().map(|row| OperationCount {
            hour: row.hour.map(from_sql),
            room: Some(row.room).filter(|room| !room.is_empty()),
            kind: row.kind,
            operations: row.operations,
        });
        Ok(rows.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{HOUR_MS, Interval};
    use crate::clock::Timestamp;

    #[test]
    fn parts_of_hours_are_at_both_ends() {
        let hours = |from: i64, to: i64| {
            let interval = Interval { from: Timestamp::from_ms(from), to: Timestamp::from_ms(to) };
            let (first, last) = interval.whole_hours();
            (first.ms(), last.ms())
        };
        assert_eq!(hours(0, HOUR_MS), (0, HOUR_MS));
        assert_eq!(hours(1, 3 * HOUR_MS - 1), (HOUR_MS, 2 * HOUR_MS));
        assert_eq!(hours(1, HOUR_MS + 5), (1, 1));
        assert_eq!(hours(-HOUR_MS, 0), (-HOUR_MS, 0));
    }
}
