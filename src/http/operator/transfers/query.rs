//! The part of the sums of transfers that the API and the desk share: the period, the sums and
//! their file; and the file of single transfers.

use axum::body::Body;
use axum::response::Response;
use bahay_api::operator::transfers::{TransferPeriod, TransferReport, TransferSum};
use futures_util::TryStreamExt as _;
use serde_json::json;

use crate::clock::{self, Timestamp};
use crate::http::core::csv_file::{csv_response, name_csv_file};
use crate::http::core::extractors::check_period;
use crate::http::{Problem, Services, Time};
use crate::operators::Operator;
use crate::operators::audit::Action;
use crate::reports::{Interval, TransferTotals, write_transfers};

/// Returns the bounds of a period, by default from the beginning of the month until now.
fn bounds(services: &Services, period: TransferPeriod) -> Result<Interval, Problem> {
    check_period(period.from, period.to)?;
    let zone = services.standings.calendar().time_zone();
    let from = period.from.map(Timestamp::from);
    let now = || services.clock.now().max(from.unwrap_or_default());
    let to = period.to.map_or_else(now, Timestamp::from);
    let from = match from {
        Some(from) => from,
        None => {
            let month = clock::to_jiff(to).to_zoned(zone.clone()).date().first_of_month();
            let begins = month.to_zoned(zone.clone()).map_err(|error| Problem::internal(&error))?;
            clock::from_jiff(begins.timestamp())
        }
    };
    Ok(Interval { from, to })
}

/// Returns the sums of a period, by purpose.
pub(super) async fn load_report(
    services: &Services,
    period: TransferPeriod,
) -> Result<TransferReport, Problem> {
    let Interval { from, to } = bounds(services, period)?;
    let totals = services.reports.transfer_totals(Interval { from, to }, false).await?;
    let mut sums: Vec<TransferSum> = totals.into_iter().map(to_sum).collect();
    sums.sort_by(|one, other| (one.code, &one.room).cmp(&(other.code, &other.room)));
    Ok(TransferReport { from: from.into(), to: to.into(), sums })
}

fn to_sum(totals: TransferTotals) -> TransferSum {
    let TransferTotals { room, code, source, destination, transfers, amount, .. } = totals;
    TransferSum { code, room, source, destination, transfers, amount: amount.into() }
}

/// Returns the sums as a CSV file, after recording the export in the audit log.
pub(super) async fn export(
    services: &Services,
    operator: &Operator,
    period: TransferPeriod,
) -> Result<Response, Problem> {
    let report = load_report(services, period).await?;
    let detail = json!({ "from": report.from, "to": report.to });
    services.audit.record(&operator.actor(), Action::Exported, "transfers", detail).await?;
    let zone = services.standings.calendar().time_zone();
    let [from, to] = [report.from, report.to].map(|at| Some(Timestamp::from(at)));
    let name = name_csv_file("transfers", from, to, zone);
    Ok(csv_response(&name, write_transfers(&report.sums)))
}

/// Streams the single transfers apart from those of settled games as a CSV file, after recording
/// the export in the audit log.
pub(super) async fn export_bookings(
    services: &Services,
    operator: &Operator,
    period: TransferPeriod,
) -> Result<Response, Problem> {
    let period = bounds(services, period)?;
    let [from, to] = [period.from, period.to].map(Time::from);
    let detail = json!({ "from": from, "to": to });
    services.audit.record(&operator.actor(), Action::Exported, "bookings", detail).await?;
    let zone = services.standings.calendar().time_zone();
    let name = name_csv_file("bookings", Some(period.from), Some(period.to), zone);
    let lines = services.reports.clone().export_bookings(period, zone.clone());
    let lines = lines.inspect_err(|error| {
        tracing::warn!(%error, "an export of bookings was interrupted");
    });
    Ok(csv_response(&name, Body::from_stream(lines)))
}
