//! The export of settlements as a CSV file that spreadsheets open. Rows are read in pages by a
//! cursor, so memory does not grow with the export and no transaction stays open. Settlements that
//! are booked during an export are newer than its beginning, so an export from the newest on does
//! not contain them.

use std::fmt::Display;

use bahay_api::csv::{ExportedTime, SpreadsheetText, begin_file, write_line};
use bahay_api::operator::settlements::{Settled, SettledSeat, SettlementFilter};
use bahay_api::{Coins, Time};
use bahay_engine::coins;
use futures_util::stream::{self, Stream, StreamExt as _};
use jiff::tz::TimeZone;

use crate::reports::{ReportError, Reports};

/// The number of rows per page.
const ROWS_AT_ONCE: u32 = 2_000;

/// The columns of every file. `date` and `time` are those of the end of the game in the house's
/// zone, with the offset of that time; `finished_at` is the same instant as RFC 3339 in UTC. Amounts
/// are coins with two decimal places. All amounts of a reversed settlement but the ante are 0.
const COLUMNS: [&str; 18] = [
    "date",
    "time",
    "utc_offset",
    "finished_at",
    "game",
    "table",
    "kind",
    "room",
    "ending",
    "winner_id",
    "winner_name",
    "paid",
    "fee",
    "pot",
    "pot_taken",
    "ante",
    "ai_played",
    "reversed",
];

/// The columns of the reversal, in a file with reversed settlements: times as those of the game.
const REVERSAL_COLUMNS: [&str; 4] =
    ["reversed_date", "reversed_time", "reversed_utc_offset", "reversed_at"];

/// The settlements whose columns a file needs.
#[derive(Clone, Debug)]
struct ExportLayout {
    /// The number of seats of the largest settlement.
    seats: usize,
    has_reversed: bool,
    has_totals: bool,
    zone: TimeZone,
}

/// The totals of the exported settlements.
#[derive(Clone, Copy, Debug, Default)]
struct ExportTotals {
    games: u64,
    paid: coins::Coins,
    fee: coins::Coins,
    pot: coins::Coins,
}

impl ExportTotals {
    /// Adds a settlement. Returns `None` if a sum does not fit 64 bits.
    fn with_settlement(self, row: &Settled) -> Option<Self> {
        Some(Self {
            games: self.games + 1,
            paid: self.paid.checked_add(*row.gross)?,
            fee: self.fee.checked_add(*row.fee)?,
            pot: self.pot.checked_add(*row.pot.unwrap_or_default())?,
        })
    }
}

impl Reports {
    /// Exports every settlement that matches the filter, in its order, in chunks of some hundred
    /// kilobytes, with times in the zone. The last line has the totals if `has_totals` is true.
    pub fn export(
        self,
        filter: SettlementFilter,
        zone: TimeZone,
        has_totals: bool,
    ) -> impl Stream<Item = Result<String, ReportError>> + Send + 'static {
        let head = {
            let reports = self.clone();
            let filter = filter.clone();
            async move {
                let (totals, seats) = reports.totals_with_seats(&filter).await?;
                let has_reversed = totals.reversed > 0;
                let layout = ExportLayout { seats, has_reversed, has_totals, zone };
                Ok((reports, filter, layout))
            }
        };
        stream::once(head).flat_map(|head| match head {
            Ok((reports, filter, layout)) => export_rows(reports, filter, layout).left_stream(),
            Err(error) => stream::iter([Err(error)]).right_stream(),
        })
    }
}

/// Exports the header line and the rows.
fn export_rows(
    reports: Reports,
    filter: SettlementFilter,
    layout: ExportLayout,
) -> impl Stream<Item = Result<String, ReportError>> + Send + 'static {
    let head = begin_export(&layout);
    let first = Some((None, ExportTotals::default()));
    let pages = stream::try_unfold(first, move |state| {
        let reports = reports.clone();
        let filter = filter.clone();
        let layout = layout.clone();
        async move {
            let Some((after, mut totals)) = state else {
                return Ok(None);
            };
            let page = reports.settlements_up_to(&filter, after, ROWS_AT_ONCE).await?;
            let mut text = String::new();
            for row in &page.items {
                write_row(&mut text, row, &layout);
                let overflow = || sqlx::Error::Decode("a sum does not fit 64 bits".into());
                totals = totals.with_settlement(row).ok_or_else(overflow)?;
            }
            let next = page.next.map(|next| (Some(next), totals));
            if next.is_none() && layout.has_totals {
                write_totals(&mut text, totals, &layout);
            }
            Ok(Some((text, next)))
        }
    });
    stream::iter([Ok(head)]).chain(pages)
}

/// Writes the beginning of the file. Each seat, from 1, has the player's id, the current name, and
/// the change by the game without the ante and after the fee.
fn begin_export(layout: &ExportLayout) -> String {
    let reversal: &[&str] = if layout.has_reversed { &REVERSAL_COLUMNS } else { &[] };
    let seats: Vec<String> = (1..=layout.seats)
        .flat_map(|seat| ["id", "name", "net"].map(|field| format!("seat_{seat}_{field}")))
        .collect();
    let seats: Vec<&str> = seats.iter().map(String::as_str).collect();
    begin_file(COLUMNS.iter().chain(reversal).chain(&seats))
}

/// Writes the line of a settlement. The line of a settlement with more seats than the header, which
/// was booked after it, is longer.
fn write_row(out: &mut String, row: &Settled, layout: &ExportLayout) {
    let time = |at: Time| ExportedTime::new(at, &layout.zone);
    let yes_or_no = |is_true| if is_true { "yes" } else { "no" };
    let finished = time(row.finished_at);
    let reversed = row.reversed_at.map(time).unwrap_or_default();
    let ending = row.ending.as_deref().unwrap_or_default();
    let winner_id = row.winner.map(|winner| winner.to_string()).unwrap_or_default();
    let winner = row.seats.iter().find(|seat| Some(seat.player) == row.winner);
    let winner_name = SpreadsheetText(winner.map_or("", |winner| &winner.name));
    let [paid, fee, pot, ante] =
        [row.gross, row.fee, row.pot.unwrap_or_default(), row.ante].map(to_decimal);
    let mut fields: Vec<&dyn Display> = vec![
        &finished.date,
        &finished.time,
        &finished.utc_offset,
        &finished.instant,
        &row.game,
        &row.table,
        &row.kind,
        &row.room,
        &ending,
        &winner_id,
        &winner_name,
        &paid,
        &fee,
        &pot,
    ];
    let pot_taken = yes_or_no(row.pot.is_some());
    let ai_played = yes_or_no(row.taken_over);
    let is_reversed = yes_or_no(row.reversed_at.is_some());
    fields.extend([&pot_taken as &dyn Display, &ante, &ai_played, &is_reversed]);
    if layout.has_reversed {
        let ExportedTime { date, time, utc_offset, instant } = &reversed;
        fields.extend([date as &dyn Display, time, utc_offset, instant]);
    }
    let names: Vec<_> = row.seats.iter().map(|seat| SpreadsheetText(&seat.name)).collect();
    let nets: Vec<_> = row.seats.iter().map(|seat| to_decimal(seat.net)).collect();
    for ((SettledSeat { player, .. }, name), net) in row.seats.iter().zip(&names).zip(&nets) {
        fields.extend([player as &dyn Display, name, net]);
    }
    let missing = 3 * layout.seats.saturating_sub(row.seats.len());
    fields.extend((0..missing).map(|_| &"" as &dyn Display));
    write_line(out, fields);
}

/// Writes the line of the totals, with the number of games in the column of the game.
fn write_totals(out: &mut String, totals: ExportTotals, layout: &ExportLayout) {
    let ExportTotals { games, paid, fee, pot } = totals;
    let reversal: &[&str] = if layout.has_reversed { &REVERSAL_COLUMNS } else { &[] };
    let fixed = COLUMNS.iter().chain(reversal).map(|name| match *name {
        "date" => "total".to_owned(),
        "game" => format!("{games} games"),
        "paid" => paid.to_string(),
        "fee" => fee.to_string(),
        "pot" => pot.to_string(),
        _ => String::new(),
    });
    let fields: Vec<String> = fixed.chain(vec![String::new(); 3 * layout.seats]).collect();
    write_line(out, fields.iter().map(|field| field as &dyn Display));
}

/// Returns an amount that is displayed with two decimal places.
fn to_decimal(amount: Coins) -> coins::Coins {
    amount.into()
}

#[cfg(test)]
mod tests {
    use bahay_api::operator::settlements::{Settled, SettledSeat};
    use bahay_api::{Coins, Time};
    use jiff::tz::TimeZone;
    use uuid::Uuid;

    use super::{ExportLayout, ExportTotals, begin_export, write_row, write_totals};
    use crate::clock::Timestamp;

    fn settled(names: &[&str], is_reversed: bool) -> Settled {
        let at = Time::from(Timestamp::from_ms(1_772_366_400_123));
        let seats = names.iter().zip([1_250, -50, -1_200]).map(|(name, net)| SettledSeat {
            player: Uuid::nil(),
            name: (*name).to_owned(),
            net: Coins::from_hundredths(net),
        });
        Settled {
            game: Uuid::nil(),
            table: Uuid::nil(),
            kind: "tongits".into(),
            room: "newbie".into(),
            finished_at: at,
            ending: None,
            winner: Some(Uuid::nil()),
            gross: Coins::from_hundredths(123_405),
            fee: Coins::from_hundredths(5),
            pot: None,
            ante: Coins::from_hundredths(100),
            taken_over: true,
            reversed_at: is_reversed.then_some(at),
            seats: seats.collect(),
        }
    }

    #[test]
    fn a_settlement_is_a_line_with_the_columns_of_the_header() {
        let id = Uuid::nil();
        let zone = TimeZone::get("Asia/Manila").unwrap();
        let layout = ExportLayout { seats: 3, has_reversed: false, has_totals: true, zone };
        let mut out = String::new();
        write_row(&mut out, &settled(&["=Niña", "Luz, Jr."], false), &layout);
        let time = "2026-03-01,20:00:00,UTC+08:00,2026-03-01T12:00:00.123Z";
        assert_eq!(
            out,
            format!(
                "{time},{id},{id},tongits,newbie,,{id},'=Niña,1234.05,0.05,0.00,no,1.00,yes,no,\
                {id},'=Niña,12.50,{id},\"Luz, Jr.\",-0.50,,,\r\n"
            )
        );
        let reversed = ExportLayout { seats: 2, has_reversed: true, ..layout };
        let mut out = begin_export(&reversed);
        write_row(&mut out, &settled(&["a", "b"], true), &reversed);
        let [header, line] = out.lines().collect::<Vec<_>>().try_into().unwrap();
        assert!(header.ends_with(
            ",reversed_at,seat_1_id,seat_1_name,seat_1_net,seat_2_id,seat_2_name,seat_2_net"
        ));
        assert!(line.contains(&format!(",yes,yes,{time},")), "{line}");
        assert_eq!(header.split(',').count(), line.split(',').count());
        let totals = ExportTotals::default().with_settlement(&settled(&["a"], false)).unwrap();
        let totals = totals.with_settlement(&settled(&["a"], false)).unwrap();
        let mut out = String::new();
        write_totals(&mut out, totals, &reversed);
        assert_eq!(out, format!("total,,,,2 games,,,,,,,2468.10,0.10,0.00{}\r\n", ",".repeat(14)));
    }
}
