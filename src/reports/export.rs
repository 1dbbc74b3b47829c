//! The export of settlements as CSV (RFC 4180). Rows are read in pages by a cursor, so memory does
//! not grow with the export and no transaction stays open. Settlements that are booked during an
//! export are newer than its beginning, so an export in the order of time does not contain them.

use std::fmt::{Display, Write as _};

use bahay_api::Time;
use bahay_api::operator::settlements::{Settled, SettlementFilter};
use futures_util::stream::{self, Stream, StreamExt as _};

use super::{ReportError, Reports};
use crate::clock;

/// The number of rows per page.
const ROWS_AT_ONCE: u32 = 2_000;

/// The header line. Amounts are integers in hundredths of a coin, times are RFC 3339 in UTC.
/// `seat_N` is a player's id and `net_N` the player's change by the game without the ante and after
/// the fee; both are empty if the game had fewer seats. All amounts of a reversed settlement are 0,
/// and `reversed_at` is the time of the reversal.
pub const COLUMNS: [&str; 29] = [
    "finished_at",
    "game",
    "table",
    "kind",
    "room",
    "ending",
    "winner",
    "gross_hundredths",
    "fee_hundredths",
    "pot_hundredths",
    "pot_taken",
    "taken_over",
    "seat_0",
    "net_0_hundredths",
    "seat_1",
    "net_1_hundredths",
    "seat_2",
    "net_2_hundredths",
    "seat_3",
    "net_3_hundredths",
    "seat_4",
    "net_4_hundredths",
    "seat_5",
    "net_5_hundredths",
    "seat_6",
    "net_6_hundredths",
    "seat_7",
    "net_7_hundredths",
    "reversed_at",
];

impl Reports {
    /// Exports every settlement that matches the filter, in its order, in chunks of some hundred
    /// kilobytes.
    pub fn export(
        self,
        filter: SettlementFilter,
    ) -> impl Stream<Item = Result<String, ReportError>> + Send + 'static {
        let mut head = String::new();
        write_line(&mut head, COLUMNS.iter().map(|name| name as &dyn Display));
        let pages = stream::try_unfold(Some(None), move |below| {
            let reports = self.clone();
            let filter = filter.clone();
            async move {
                let Some(below) = below else {
                    return Ok(None);
                };
                let page = reports.settlements_up_to(&filter, below, ROWS_AT_ONCE).await?;
                let mut text = String::new();
                for row in &page.items {
                    write_row(&mut text, row);
                }
                Ok(Some((text, page.next.map(Some))))
            }
        });
        stream::iter([Ok(head)]).chain(pages)
    }
}

fn write_row(out: &mut String, row: &Settled) {
    let time = |at: Time| format!("{:.3}", clock::to_jiff(at.into()));
    let finished_at = time(row.finished_at);
    let reversed_at = row.reversed_at.map(time).unwrap_or_default();
    let ending = row.ending.as_deref().unwrap_or_default();
    let winner = row.winner.map(|winner| winner.to_string()).unwrap_or_default();
    let pot = row.pot.map(|pot| pot.hundredths().to_string()).unwrap_or_default();
    let gross = row.gross.hundredths();
    let fee = row.fee.hundredths();
    let pot_taken = row.pot.is_some();
    let mut fields: Vec<&dyn Display> = vec![
        &finished_at,
        &row.game,
        &row.table,
        &row.kind,
        &row.room,
        &ending,
        &winner,
        &gross,
        &fee,
        &pot,
        &pot_taken,
        &row.taken_over,
    ];
    let nets: Vec<_> = row.seats.iter().map(|seat| seat.net.hundredths()).collect();
    for (seat, net) in row.seats.iter().zip(&nets) {
        fields.push(&seat.player);
        fields.push(net);
    }
    fields.resize(COLUMNS.len() - 1, &"");
    fields.push(&reversed_at);
    write_line(out, fields);
}

/// Writes a line. Fields are ids, words and numbers, but a field is quoted if necessary.
pub(super) fn write_line<'a>(out: &mut String, fields: impl IntoIterator<Item = &'a dyn Display>) {
    for (index, field) in fields.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        let start = out.len();
        write!(out, "{field}").expect("writing to a string succeeds");
        if out[start..].contains(['"', ',', '\n', '\r']) {
            let quoted = format!("\"{}\"", out[start..].replace('"', "\"\""));
            out.truncate(start);
            out.push_str(&quoted);
        }
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::write_line;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut out = String::new();
        write_line(&mut out, [&1 as &dyn std::fmt::Display, &"a,b", &"say \"no\"", &""]);
        assert_eq!(out, "1,\"a,b\",\"say \"\"no\"\"\",\r\n");
    }
}
