//! The part of settlements that the API and the desk share: list, totals and export.

use axum::body::Body;
use axum::response::Response;
use bahay_api::operator::settlements::{Settled, SettledTotals, SettlementFilter};
use futures_util::TryStreamExt as _;

use crate::clock::Timestamp;
use crate::http::core::csv_file::{csv_response, name_csv_file};
use crate::http::core::extractors::check_period;
use crate::http::core::game_names::{check_ending, require_kind};
use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem, Services};
use crate::operators::Operator;
use crate::operators::audit::{Action, filter_detail};
use crate::reports::Reports;

/// Returns a page of settlements, in the order of the filter.
pub(crate) async fn list(
    reports: &Reports,
    request: &PageRequest<Operator, SettlementFilter>,
) -> Result<PageOf<Settled>, Problem> {
    let filter = &request.filter;
    check(filter)?;
    let list = format!("settlements {filter:?}");
    request.read(&list, |below, limit| reports.settlements(filter, below, limit)).await
}

/// Returns the totals of all settlements that match a filter.
pub(crate) async fn total(
    reports: &Reports,
    filter: &SettlementFilter,
) -> Result<SettledTotals, Problem> {
    check(filter)?;
    Ok(reports.totals(filter).await?)
}

/// Streams all settlements that match a filter as a CSV file, after recording the export in the
/// audit log.
pub(crate) async fn export(
    services: &Services,
    operator: &Operator,
    filter: SettlementFilter,
    has_totals: bool,
) -> Result<Response, Problem> {
    check(&filter)?;
    let detail = filter_detail(&filter);
    services.audit.record(&operator.actor(), Action::Exported, "settlements", detail).await?;
    let zone = services.standings.calendar().time_zone();
    let bounds = [filter.from, filter.to].map(|at| at.map(Timestamp::from));
    let name = name_csv_file("settlements", bounds[0], bounds[1], zone);
    let rows =
        services.reports.clone().export(filter, zone.clone(), has_totals).inspect_err(|error| {
            tracing::warn!(%error, "an export of settlements was interrupted");
        });
    Ok(csv_response(&name, Body::from_stream(rows)))
}

/// Rejects a filter that names no game or ending, or whose bounds contradict each other.
fn check(filter: &SettlementFilter) -> Result<(), Problem> {
    filter.kind.as_ref().map(require_kind).transpose()?;
    filter.ending.as_ref().map_or(Ok(()), check_ending)?;
    let &SettlementFilter { from, to, gross_min, gross_max, .. } = filter;
    check_period(from, to)?;
    let fault = if [gross_min, gross_max].into_iter().flatten().any(|gross| gross < 0) {
        "an amount is below zero"
    } else if gross_min.zip(gross_max).is_some_and(|(min, max)| min > max) {
        "`gross_min` is above `gross_max`"
    } else {
        return Ok(());
    };
    Err(Code::QueryInvalid.with_detail(fault))
}
