//! Corrections of the books: requested on one page, decided by another operator on a second one.

use std::str::FromStr as _;

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::corrections::{
    Correction, CorrectionFilter, CorrectionKind, CorrectionState, RejectCorrection,
    RequestCorrection,
};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::query;
use crate::entropy;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, FilterForm, HouseZone, OperatorForm, OperatorSession, badge, button, coins,
    facts, field, id, page, pager, parse_amount, player_link, select, table, text_area,
    text_area_of,
};
use crate::http::operator::ledger::desk::operation_link;
use crate::http::{Code, CodeExt as _, Cursors, PageQuery, PageRequest, Path, Problem, Query};
use crate::ids::{CorrectionId, PlayerId};
use crate::operators::Corrections;
use crate::reason::Reason;

const HERE: &str = "/desk/corrections";

const AMOUNT_INVALID: &str =
    "an amount has at most two decimal places, such as 12.50, and is not zero";

/// The number of corrections on one page.
const PAGE: u32 = 50;

pub(crate) async fn list(
    State(corrections): State<Corrections>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(query): FilterForm<PageQuery<CorrectionFilter>>,
) -> Result<Response, ErrorPage> {
    let state = query.filter.state.map_or("", CorrectionState::as_str);
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let listed = query::list(&corrections, &request).await?;
    let columns = "Requested at | Kind | #Coins | Requested by | State | Reason";
    let states =
        [("", "All"), ("open", "Open"), ("approved", "Approved"), ("rejected", "Rejected")];
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (select("state", "State", &states, state))
            button { "Show" }
        }
        @if session.operator.require_corrections_role().is_ok() {
            p { a class="button" href="/desk/corrections/new" { "Request a correction" } }
        }
        (table("Corrections, newest first", columns, listed.items.iter().map(|one| row(&session.zone, one))))
        (pager(HERE, &[("state", state)], listed.next_cursor.as_deref()))
    };
    Ok(page(&session, "Corrections", body))
}

fn row(zone: &HouseZone, correction: &Correction) -> Vec<Markup> {
    let link = format!("{HERE}/{}", correction.id);
    vec![
        zone.time(correction.requested_at),
        html! { a href=(link) { (kind(correction)) } },
        html! { @if let Some(amount) = correction.amount { (coins(amount)) } },
        html! { (correction.requested_by) },
        stage(correction.state),
        html! { (correction.reason) },
    ]
}

fn kind(correction: &Correction) -> &'static str {
    match correction.kind {
        CorrectionKind::Adjustment => "Adjustment",
        CorrectionKind::Reversal => "Reversal",
    }
}

fn stage(state: CorrectionState) -> Markup {
    match state {
        CorrectionState::Open => badge("waiting", "open"),
        CorrectionState::Approved => badge("good", "approved"),
        CorrectionState::Rejected => badge("bad", "rejected"),
    }
}

/// The initial values of the request form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CorrectionPrefill {
    player: String,
    operation: String,
}

pub(crate) async fn form(
    session: OperatorSession,
    Query(CorrectionPrefill { player, operation }): Query<CorrectionPrefill>,
) -> Result<Response, ErrorPage> {
    session.operator.require_corrections_role()?;
    // The idempotency key of the form: a form that is sent twice makes one request.
    let attempt = entropy::uuid();
    let hint = "10 to 500 characters, stored with the correction.";
    let body = html! {
        h2 { "Adjustment of a wallet" }
        form method="post" action=(HERE) {
            (session.form_token())
            input type="hidden" name="attempt" value=(attempt);
            input type="hidden" name="kind" value="adjustment";
            (field(Field {
                value: &player, hint: "The player's id.", ..Field::required("player", "Player")
            }))
            (field(Field {
                hint: "At most two decimal places, such as 12.50; a negative amount takes coins.", inputmode: "decimal",
                ..Field::required("amount", "Coins")
            }))
            (text_area("reason", "Reason", hint))
            button class="main" { "Request the adjustment" }
        }
        h2 { "Reversal of an operation" }
        form method="post" action=(HERE) {
            (session.form_token())
            input type="hidden" name="attempt" value=(attempt);
            input type="hidden" name="kind" value="reversal";
            (field(Field {
                value: &operation, hint: "The operation's number in the ledger.",
                inputmode: "numeric",
                ..Field::required("operation", "Operation")
            }))
            (text_area_of("reversal-reason", "reason", "Reason", hint))
            button class="main" { "Request the reversal" }
        }
        p { "Nothing moves before another operator has approved it." }
    };
    Ok(page(&session, "Request a correction", body))
}

#[derive(Debug, Deserialize)]
pub(crate) struct CorrectionForm {
    attempt: Uuid,
    kind: String,
    #[serde(default)]
    player: String,
    #[serde(default)]
    amount: String,
    #[serde(default)]
    operation: String,
    reason: Reason,
}

impl CorrectionForm {
    /// Converts what an operator typed into the request of the API.
    fn into_request(self) -> Result<RequestCorrection, Problem> {
        let invalid = |detail: &'static str| Code::BodyInvalid.with_detail(detail);
        let reason = self.reason;
        match self.kind.as_str() {
            "adjustment" => {
                let player = PlayerId::from_str(self.player.trim());
                let amount = parse_amount(&self.amount).filter(|amount| !amount.is_zero());
                Ok(RequestCorrection::Adjustment {
                    player: player.map_err(|_| invalid("a player's id is a UUID"))?.0,
                    amount: amount.ok_or_else(|| invalid(AMOUNT_INVALID))?.hundredths(),
                    reason,
                })
            }
            "reversal" => {
                let operation = self.operation.trim().parse();
                Ok(RequestCorrection::Reversal {
                    operation: operation
                        .map_err(|_| invalid("an operation is denoted by its number"))?,
                    reason,
                })
            }
            _ => Err(invalid("a correction is an adjustment or a reversal")),
        }
    }
}

pub(crate) async fn request(
    State(corrections): State<Corrections>,
    OperatorForm { session, input }: OperatorForm<CorrectionForm>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_corrections_role()?.require_session()?;
    let attempt = input.attempt;
    let (subject, reason) = query::subject(input.into_request()?)?;
    let correction = corrections.request(&by, subject, &reason, attempt).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", correction.id)))
}

pub(crate) async fn show_correction(
    State(corrections): State<Corrections>,
    session: OperatorSession,
    Path(correction): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    let correction = corrections.find(&session.operator, CorrectionId(correction)).await?;
    let mut properties = vec![("Kind", html! { (kind(&correction)) })];
    if let Some(player) = correction.player {
        properties.push(("Player", player_link(player, id(&player))));
    }
    properties.extend(correction.amount.map(|amount| ("Coins", coins(amount))));
    let link =
        |name, operation: Option<i64>| operation.map(|operation| (name, operation_link(operation)));
    properties.extend(link("Operation", correction.reversed_operation));
    properties.extend([
        ("State", stage(correction.state)),
        ("Reason", html! { (correction.reason) }),
        ("Requested by", html! { (correction.requested_by) }),
        ("Requested at", session.zone.time(correction.requested_at)),
    ]);
    let Correction { decided_by, decided_at, rejection_reason, .. } = &correction;
    properties.extend(decided_by.as_ref().map(|by| ("Decided by", html! { (by) })));
    properties.extend(decided_at.map(|at| ("Decided at", session.zone.time(at))));
    let reason = |reason| ("Reason for rejection", html! { (reason) });
    properties.extend(rejection_reason.as_ref().map(reason));
    properties.extend(link("Booked as operation", correction.operation));
    let body = html! {
        (facts(&properties))
        @if correction.state == CorrectionState::Open && session.operator.require_corrections_role().is_ok() {
            (decision_forms(&session, &correction))
        }
        p { a href=(HERE) { "All corrections" } }
    };
    Ok(page(&session, "Correction", body))
}

fn decision_forms(session: &OperatorSession, correction: &Correction) -> Markup {
    if correction.requested_by == session.operator.name {
        return html! { p { "You requested this correction: another operator decides." } };
    }
    let here = format!("{HERE}/{}", correction.id);
    html! {
        h2 { "Decide" }
        (button(session, &format!("{here}/approval"), "Approve and book", "Book this now?"))
        form method="post" action={ (here) "/rejection" } {
            (session.form_token())
            (text_area("reason", "Reason for rejecting", "10 to 500 characters, stored with the correction."))
            button { "Reject" }
        }
    }
}

pub(crate) async fn approve(
    State(corrections): State<Corrections>,
    Path(correction): Path<Uuid>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_corrections_role()?.require_session()?;
    let decided = corrections.approve(&by, CorrectionId(correction)).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", decided.id)))
}

pub(crate) async fn reject(
    State(corrections): State<Corrections>,
    Path(correction): Path<Uuid>,
    OperatorForm { session, input: RejectCorrection { reason } }: OperatorForm<RejectCorrection>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_corrections_role()?.require_session()?;
    let decided = corrections.reject(&by, CorrectionId(correction), &reason).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", decided.id)))
}
