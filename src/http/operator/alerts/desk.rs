//! The alerts below the navigation of every page, which the script requests every second.

use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use bahay_api::operator::alerts::HouseAlerts;
use maud::{Markup, html};

use super::query;
use crate::http::Services;
use crate::http::operator::desk_ui::{ErrorPage, OperatorSession};

/// Returns the list of alerts, empty if all is well.
pub(crate) async fn refresh(
    State(services): State<Services>,
    session: OperatorSession,
) -> Result<Response, ErrorPage> {
    let alerts = query::read_alerts(&services).await?;
    let is_administrator = session.operator.require_administrator().is_ok();
    Ok(Html(draw(&alerts, is_administrator).into_string()).into_response())
}

/// Draws each condition as a link to the page on which it is handled. Failures precede waiting work.
fn draw(alerts: &HouseAlerts, is_administrator: bool) -> Markup {
    let differences = ["difference in the ledger", "differences in the ledger"];
    let dead = ["server died within the hour", "servers died within the hour"];
    let silent = ["server does not respond", "servers do not respond"];
    let halted = ["table halted", "tables halted"];
    let corrections = ["correction to decide", "corrections to decide"];
    let requests = ["tournament to approve", "tournaments to approve"];
    let stuck = ["tournament stuck", "tournaments stuck"];
    let reports = ["report to decide", "reports to decide"];
    let pairs = ["pair with signs of collusion", "pairs with signs of collusion"];
    html! {
        ul {
            @if !alerts.is_live_store_writable {
                (alert("bad", "/desk/tables", "The live store does not respond: no table can play"))
            }
            (counted("bad", "/desk/tables", alerts.silent_nodes, silent))
            (counted("bad", "/desk/tables", alerts.dead_nodes, dead))
            (counted("bad", "/desk/ledger#checks", alerts.ledger_differences, differences))
            (counted("bad", "/desk/tables#halted", alerts.tables_halted, halted))
            @if !alerts.is_house_open { (alert("bad", "/desk/switches", "The house is closed")) }
            (counted("bad", "/desk/tournaments?state=running", alerts.tournaments_stuck, stuck))
            (counted("waiting", "/desk/tournament-requests?state=open", alerts.tournament_requests_open, requests))
            (counted("waiting", "/desk/corrections?state=open", alerts.corrections_open, corrections))
            (counted("waiting", "/desk/reports?state=open", alerts.reports_open, reports))
            @match alerts.pairs_suspected {
                Some(suspected) => (counted("waiting", "/desk/collusion", suspected, pairs)),
                None => (alert("bad", "/desk/collusion", "Pairs of players could not be ranked")),
            }
            @if is_administrator {
                (counted("waiting", "/desk/jobs", alerts.jobs_dead, ["failed job", "failed jobs"]))
            }
        }
    }
}

/// Draws an alert unless the number is zero. `names` are the singular and the plural of its subject.
fn counted(kind: &str, path: &str, number: i64, names: [&str; 2]) -> Markup {
    let name = names[usize::from(number != 1)];
    html! { @if number != 0 { (alert(kind, path, &format!("{number} {name}"))) } }
}

fn alert(kind: &str, path: &str, text: &str) -> Markup {
    html! { li { a class={ "badge " (kind) } href=(path) { (text) } } }
}
