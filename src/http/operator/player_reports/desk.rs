//! Players' reports: the open ones with a form that decides on each, and the closed ones.

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::player_reports::{
    DecideReport, PlayerReport, ReportFilter, ReportOutcome, ReportState,
};
use maud::{Markup, html};
use uuid::Uuid;

use super::query;
use crate::clock::Timestamp;
use crate::http::operator::desk_ui::{
    ErrorPage, FilterForm, OperatorForm, OperatorSession, badge, game_link, page, pager, select,
    table,
};
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Cursors, PageQuery, PageRequest, Path, Services};
use crate::operators::Moderation;
use crate::social::Social;

const HERE: &str = "/desk/reports";

/// The number of reports on one page.
const PAGE: u32 = 50;

pub(crate) async fn list(
    State(services): State<Services>,
    State(social): State<Social>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(mut query): FilterForm<PageQuery<ReportFilter>>,
) -> Result<Response, ErrorPage> {
    let state = *query.filter.state.get_or_insert(ReportState::Open);
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let listed = query::list(&social, &request).await?;
    let players = listed.items.iter().flat_map(|report| [report.reporter, report.reported]);
    let named = NamedPlayers::load(&services, players).await?;
    let rows = listed.items.iter().map(|report| row(&session, report, &named));
    let columns = "Reported | Game | Reporter | Reported player | Reason | Description | Decision";
    let states = [("open", "Open"), ("closed", "Closed")];
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (select("state", "State", &states, state.as_str()))
            button { "Show" }
        }
        p { "A decision changes nothing but the report. After an upheld one, the page of the player follows, where the player is banned or muted. Each view of a replay is recorded in the audit log." }
        (table("Reports by players, newest first", columns, rows))
        (pager(HERE, &[("state", state.as_str())], listed.next_cursor.as_deref()))
    };
    Ok(page(&session, "Reports", body))
}

fn row(session: &OperatorSession, report: &PlayerReport, named: &NamedPlayers) -> Vec<Markup> {
    vec![
        session.zone.time(report.created_at),
        game_links(session, report),
        named.name_link(report.reporter),
        named.name_link(report.reported),
        html! { (report.reason) },
        html! { (report.words.as_deref().unwrap_or("")) },
        decision(session, report),
    ]
}

/// Draws links to the reported game and, for operators who may see all hands, to its replay at the
/// moment of the report.
fn game_links(session: &OperatorSession, report: &PlayerReport) -> Markup {
    let at_ms = Timestamp::from(report.created_at).ms();
    let replay = format!("/desk/games/{}/replay?at_ms={at_ms}", report.game);
    html! {
        (game_link(report.game, "game"))
        @if session.operator.require_moderator().is_ok() { ", " a href=(replay) { "replay" } }
    }
}

/// Draws the decision on a report, or the form that decides for operators who may moderate.
fn decision(session: &OperatorSession, report: &PlayerReport) -> Markup {
    let Some(decision) = &report.decision else {
        return html! {
            @if session.operator.require_moderator().is_ok() {
                form class="inline" method="post" action={ (HERE) "/" (report.id) "/decision" }
                    data-confirm="Decide on this report? A decision is final." {
                    (session.form_token())
                    input name="note" required autocomplete="off" aria-label="Note, 10 to 500 characters"
                        placeholder="Note, 10 to 500 characters";
                    // The first button is also that of the Enter key.
                    @for (outcome, label) in [(ReportOutcome::Dismissed, "Dismiss"), (ReportOutcome::Upheld, "Uphold")] {
                        button name="outcome" value=(outcome) { (label) }
                    }
                }
            }
        };
    };
    html! {
        @match decision.outcome {
            ReportOutcome::Upheld => (badge("bad", "upheld")),
            ReportOutcome::Dismissed => (badge("good", "dismissed")),
        }
        " " (session.zone.time(decision.decided_at)) ": " (decision.note)
    }
}

pub(crate) async fn decide(
    State(moderation): State<Moderation>,
    Path(report): Path<Uuid>,
    OperatorForm { session, input }: OperatorForm<DecideReport>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_moderator()?;
    let DecideReport { outcome, note } = input;
    let decided = moderation.decide_report(&by, report, outcome, &note).await?;
    Ok(match outcome {
        ReportOutcome::Dismissed => Redirect::to(HERE),
        ReportOutcome::Upheld => Redirect::to(&format!("/desk/players/{}", decided.reported)),
    })
}
