//! Requests for tournaments at the desk: requested by one operator, decided by another one.

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::tournament_requests::{
    RejectTournament, TournamentRequest, TournamentRequestFilter, TournamentRequestState,
};
use bahay_engine::tournament::TournamentTerms;
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::query;
use crate::http::operator::desk_ui::{
    ErrorPage, FilterForm, OperatorForm, OperatorSession, badge, button, coins, facts, page, pager,
    select, table_of, text_area,
};
use crate::http::operator::tournaments::{AnnouncementForm, draw_terms, to_draft};
use crate::http::{Cursors, PageQuery, PageRequest, Path, Problem};
use crate::reason::Reason;
use crate::tournaments::{TournamentRequests, Tournaments};

const HERE: &str = "/desk/tournament-requests";

/// The number of requests on one page.
const PAGE: u32 = 50;

pub(crate) async fn list(
    State(requests): State<TournamentRequests>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(query): FilterForm<PageQuery<TournamentRequestFilter>>,
) -> Result<Response, ErrorPage> {
    let state = query.filter.state.map_or("", TournamentRequestState::as_str);
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let listed = query::list(&requests, &request).await?;
    let states = [
        ("", "All"),
        ("open", "Open"),
        ("approved", "Approved"),
        ("rejected", "Rejected"),
        ("withdrawn", "Withdrawn"),
    ];
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (select("state", "State", &states, state))
            button { "Show" }
        }
        p {
            "Guarantees that one operator announces on one day require, above "
            (coins(requests.limit().above())) ", the approval of another one."
        }
        (table_of("Requests, newest first", &listed.items, &[
            ("Requested at", &|one| html! {
                a href={ (HERE) "/" (one.id) } { (session.zone.time(one.requested_at)) }
            }),
            ("Name", &|one| html! { (one.terms["name"].as_str().unwrap_or_default()) }),
            ("#Guarantee", &|one| match read_terms(one) {
                Some(terms) => coins(terms.guarantee),
                None => html! { "–" },
            }),
            ("Requested by", &|one| html! { (one.requested_by) }),
            ("State", &|one| draw_state(one.state)),
            ("Reason", &|one| html! { (one.reason) }),
        ]))
        (pager(HERE, &[("state", state)], listed.next_cursor.as_deref()))
        p { a href="/desk/tournaments" { "All tournaments" } }
    };
    Ok(page(&session, "Requests for tournaments", body))
}

fn read_terms(request: &TournamentRequest) -> Option<TournamentTerms> {
    serde_json::from_value(request.terms.clone()).ok()
}

fn draw_state(state: TournamentRequestState) -> Markup {
    match state {
        TournamentRequestState::Open => badge("waiting", "open"),
        TournamentRequestState::Approved => badge("good", "approved"),
        TournamentRequestState::Rejected => badge("bad", "rejected"),
        TournamentRequestState::Withdrawn => badge("bad", "withdrawn"),
    }
}

pub(crate) async fn show_request(
    State(requests): State<TournamentRequests>,
    session: OperatorSession,
    Path(request): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    let found = requests.find(request).await?;
    let mut properties = vec![
        ("State", draw_state(found.state)),
        ("Reason", html! { (found.reason) }),
        ("Requested by", html! { (found.requested_by) }),
        ("Requested at", session.zone.time(found.requested_at)),
    ];
    properties.extend(found.decided_by.as_ref().map(|by| ("Decided by", html! { (by) })));
    let ended = match found.state {
        TournamentRequestState::Withdrawn => "Withdrawn at",
        TournamentRequestState::Open
        | TournamentRequestState::Approved
        | TournamentRequestState::Rejected => "Decided at",
    };
    properties.extend(found.decided_at.map(|at| (ended, session.zone.time(at))));
    let reason = |reason: &String| ("Reason for rejection", html! { (reason) });
    properties.extend(found.rejection_reason.as_ref().map(reason));
    let announced =
        |id: Uuid| ("Announced as", html! { a href={ "/desk/tournaments/" (id) } { (id) } });
    properties.extend(found.tournament.map(announced));
    let body = html! {
        (facts(&properties))
        h2 { "Terms" }
        @if let Some(terms) = read_terms(&found) {
            (draw_terms(&session.zone, &terms, found.code.as_deref()))
        }
        @if found.state == TournamentRequestState::Open && session.operator.require_administrator().is_ok() {
            (decision_forms(&session, &found))
        }
        p { a href=(HERE) { "All requests for tournaments" } }
    };
    Ok(page(&session, "Request for a tournament", body))
}

/// Draws the forms that end an open request.
fn decision_forms(session: &OperatorSession, request: &TournamentRequest) -> Markup {
    let here = format!("{HERE}/{}", request.id);
    if request.requested_by == session.operator.name {
        return html! {
            p { "You requested this tournament: another operator decides." }
            (button(session, &format!("{here}/withdrawal"), "Withdraw this request", "Withdraw this request? Nothing is announced."))
        };
    }
    html! {
        h2 { "Decide" }
        (button(session, &format!("{here}/approval"), "Approve and announce", "Announce this tournament now?"))
        form method="post" action={ (here) "/rejection" } {
            (session.form_token())
            (text_area("reason", "Reason for rejecting", "10 to 500 characters, stored with the request."))
            button { "Reject" }
        }
    }
}

/// The form that requests a tournament, which its preview has shown.
#[derive(Debug, Deserialize)]
pub(crate) struct RequestForm {
    attempt: Uuid,
    reason: Reason,
    #[serde(flatten)]
    announcement: AnnouncementForm,
}

pub(crate) async fn request(
    State(tournaments): State<Tournaments>,
    State(requests): State<TournamentRequests>,
    OperatorForm { session, input }: OperatorForm<RequestForm>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?.require_session()?;
    let RequestForm { attempt, reason, announcement } = input;
    let wanted = announcement.to_request(&session.zone).map_err(Problem::from)?;
    let draft = to_draft(tournaments.now(), wanted).map_err(Problem::from)?;
    let requested = requests.request(&by, &draft, &reason, attempt).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", requested.id)))
}

pub(crate) async fn approve(
    State(requests): State<TournamentRequests>,
    Path(request): Path<Uuid>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?.require_session()?;
    let decided = requests.approve(&by, request).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", decided.id)))
}

pub(crate) async fn reject(
    State(requests): State<TournamentRequests>,
    Path(request): Path<Uuid>,
    OperatorForm { session, input: RejectTournament { reason } }: OperatorForm<RejectTournament>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?.require_session()?;
    let decided = requests.reject(&by, request, &reason).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", decided.id)))
}

pub(crate) async fn withdraw(
    State(requests): State<TournamentRequests>,
    Path(request): Path<Uuid>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?.require_session()?;
    let withdrawn = requests.withdraw(&by, request).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", withdrawn.id)))
}
