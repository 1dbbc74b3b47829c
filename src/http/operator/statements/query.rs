//! The part of statements that the API and the desk share: the period, the statement and its file.

use std::time::Duration;

use axum::response::Response;
use bahay_api::operator::statements::{Statement, StatementPeriod};
use serde_json::json;

use crate::clock::{self, Timestamp};
use crate::http::core::csv_file::{csv_response, name_csv_file};
use crate::http::core::extractors::check_period;
use crate::http::operator::players::find_report;
use crate::http::{Code, CodeExt as _, Problem, Services};
use crate::ids::PlayerId;
use crate::operators::Operator;
use crate::operators::audit::Action;
use crate::reports::{Interval, TooManyBookings, write_statement};

/// The period of a statement without a beginning.
const PERIOD: Duration = Duration::from_hours(24);

/// Returns the statement of an existing player, without the explanations of its lines.
pub(super) async fn load_statement(
    services: &Services,
    player: PlayerId,
    period: StatementPeriod,
) -> Result<Statement, Problem> {
    let reports = &services.reports;
    let invalid = |detail| Code::QueryInvalid.with_detail(detail);
    check_period(period.from, period.to)?;
    let from = period.from.map(Timestamp::from);
    let now = || services.clock.now().max(from.unwrap_or_default());
    let to = period.to.map_or_else(now, Timestamp::from);
    let from = from.unwrap_or_else(|| clock::subtract(to, PERIOD));
    let name = find_report(reports, player).await?.name;
    let statement = reports.statement(player, name, Interval { from, to }).await?;
    statement.map_err(|TooManyBookings| {
        invalid("the period has more than 10000 bookings: choose a shorter one")
    })
}

/// Returns the statement of an existing player.
pub(super) async fn load_explained(
    services: &Services,
    player: PlayerId,
    period: StatementPeriod,
) -> Result<Statement, Problem> {
    let mut statement = load_statement(services, player, period).await?;
    services.reports.explain_lines(player, &mut statement.lines).await?;
    Ok(statement)
}

/// Returns the statement as a CSV file, after recording the export in the audit log.
pub(super) async fn export(
    services: &Services,
    operator: &Operator,
    player: PlayerId,
    period: StatementPeriod,
) -> Result<Response, Problem> {
    let statement = load_explained(services, player, period).await?;
    let subject = format!("player:{player}");
    let detail = json!({ "from": statement.from, "to": statement.to });
    services.audit.record(&operator.actor(), Action::Exported, &subject, detail).await?;
    let zone = services.standings.calendar().time_zone();
    let [from, to] = [statement.from, statement.to].map(|at| Some(Timestamp::from(at)));
    let name = name_csv_file(&format!("statement_{player}"), from, to, zone);
    Ok(csv_response(&name, write_statement(&statement, zone)))
}
