//! Corrections of the books, and passes for tournaments: requested on one page, decided by another
//! operator on a second one.

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::corrections::{
    Correction, CorrectionFilter, CorrectionKind, CorrectionPreview, CorrectionState,
    PreviewedWallet, RejectCorrection, RequestCorrection,
};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::query;
use crate::entropy;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, FilterForm, HouseZone, OperatorForm, OperatorSession, badge, button, coins,
    facts, field, game_link, page, pager, parse_amount, select, table, table_of, text_area,
    text_area_of,
};
use crate::http::operator::ledger::desk::{operation_link, transfer_account};
use crate::http::operator::players::find_one;
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{
    Code, CodeExt as _, Cursors, PageQuery, PageRequest, Path, Problem, Query, Services,
};
use crate::ids::CorrectionId;
use crate::operators::Corrections;
use crate::reason::Reason;
use crate::reports::Reports;

const HERE: &str = "/desk/corrections";

const AMOUNT_INVALID: &str =
    "an amount has at most two decimal places, such as 12.50, and is not zero";

/// The number of corrections on one page.
const PAGE: u32 = 50;

pub(crate) async fn list(
    State(services): State<Services>,
    State(corrections): State<Corrections>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(query): FilterForm<PageQuery<CorrectionFilter>>,
) -> Result<Response, ErrorPage> {
    let state = query.filter.state.map_or("", CorrectionState::as_str);
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let listed = query::list(&corrections, &request).await?;
    let previews = query::preview_open(&corrections, &session.operator, &listed.items).await?;
    let named = listed.items.iter().filter_map(|correction| correction.player);
    let named = NamedPlayers::load(&services, named).await?;
    let rows = listed
        .items
        .iter()
        .map(|correction| row(&session.zone, &named, correction, previews.get(&correction.id)));
    let columns = "Requested at | #Coins | #Balance now | #Balance after | Kind | \
        Player or game | State | Requested by | Reason";
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
        @if session.operator.require_corrections_role().is_ok() {
            p { a class="button" href="/desk/corrections/new" { "Request a correction" } }
        }
        (table("Corrections, newest first", columns, rows))
        (pager(HERE, &[("state", state)], listed.next_cursor.as_deref()))
    };
    Ok(page(&session, "Corrections", body))
}

/// Returns the preview of an open correction; `None` if it is closed.
async fn load_preview(
    corrections: &Corrections,
    session: &OperatorSession,
    correction: &Correction,
) -> Result<Option<CorrectionPreview>, ErrorPage> {
    if correction.state != CorrectionState::Open {
        return Ok(None);
    }
    match query::preview(corrections, &session.operator, CorrectionId(correction.id)).await {
        Ok(preview) => Ok(Some(preview)),
        // It was decided in the meantime.
        Err(Problem { code: Code::CorrectionDecided, .. }) => Ok(None),
        Err(problem) => Err(problem.into()),
    }
}

fn row(
    zone: &HouseZone,
    named: &NamedPlayers,
    correction: &Correction,
    preview: Option<&CorrectionPreview>,
) -> Vec<Markup> {
    let link = format!("{HERE}/{}", correction.id);
    let refusal = preview.and_then(|preview| preview.refusal.as_ref());
    // A reversal may change several wallets, which its page lists.
    let wallet = preview.filter(|_| correction.player.is_some());
    let wallet = wallet.and_then(|preview| preview.wallets.first());
    vec![
        zone.time(correction.requested_at),
        html! { @if let Some(amount) = correction.amount { (coins(amount)) } },
        html! { @if let Some(wallet) = wallet { (coins(wallet.balance)) } },
        html! { @if let Some(wallet) = wallet { (coins(wallet.balance_after)) } },
        html! { a href=(link) { (kind(correction)) } },
        subject(named, correction),
        html! {
            (stage(correction.state))
            @if refusal.is_some() { " " (badge("bad", "not possible now")) }
        },
        html! { (correction.requested_by) },
        html! { (correction.reason) },
    ]
}

/// Draws the links to the player whose wallet is adjusted or whose pass is granted or revoked, or to
/// the reversed operation.
fn subject(named: &NamedPlayers, correction: &Correction) -> Markup {
    let Correction { player, player_name, reversed_operation, game, .. } = correction;
    html! {
        @if let (Some(player), Some(name)) = (player, player_name) { (named.link(*player, name)) }
        @if let Some(operation) = reversed_operation { "operation " (operation_link(*operation)) }
        @if let Some(game) = game { " of a " (game_link(game, "game")) }
    }
}

fn kind(correction: &Correction) -> &'static str {
    match correction.kind {
        CorrectionKind::Adjustment => "Adjustment",
        CorrectionKind::Reversal => "Reversal",
        CorrectionKind::Pass => "Pass",
        CorrectionKind::PassRevocation => "Revocation of a pass",
    }
}

fn stage(state: CorrectionState) -> Markup {
    match state {
        CorrectionState::Open => badge("waiting", "open"),
        CorrectionState::Approved => badge("good", "approved"),
        CorrectionState::Rejected => badge("bad", "rejected"),
        CorrectionState::Withdrawn => badge("bad", "withdrawn"),
    }
}

/// The initial values of the request form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CorrectionPrefill {
    player: String,
    operation: String,
    pass: String,
}

pub(crate) async fn form(
    session: OperatorSession,
    Query(CorrectionPrefill { player, operation, pass }): Query<CorrectionPrefill>,
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
                value: &player, hint: "The whole name or the id.", is_player: true,
                ..Field::required("player", "Player")
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
        h2 { "Pass for a tournament" }
        form method="post" action=(HERE) {
            (session.form_token())
            input type="hidden" name="attempt" value=(attempt);
            input type="hidden" name="kind" value="pass";
            (field(Field {
                value: &player, hint: "The whole name or the id.", is_player: true,
                ..Field::required("holder", "Player")
            }))
            (field(Field {
                hint: "The largest buy-in that the pass pays, such as 50; the house pays it when the registration of the tournament closes.",
                inputmode: "decimal",
                ..Field::required("buy_in", "Buy-in up to")
            }))
            (text_area_of("pass-reason", "reason", "Reason", hint))
            button class="main" { "Request the pass" }
        }
        h2 { "Revocation of a pass" }
        form method="post" action=(HERE) {
            (session.form_token())
            input type="hidden" name="attempt" value=(attempt);
            input type="hidden" name="kind" value="pass_revocation";
            (field(Field {
                value: &pass,
                hint: "The id of the pass; the page of its player leads here. No entry may hold it.",
                ..Field::required("pass", "Pass")
            }))
            (text_area_of("revocation-reason", "reason", "Reason", hint))
            button class="main" { "Request the revocation" }
        }
        p {
            "Nothing moves before another operator has approved it. Until a decision, the same "
            "amount for the same player, the same reversal and the same revocation cannot be "
            "requested again."
        }
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
    /// The player of a pass.
    #[serde(default)]
    holder: String,
    /// The largest buy-in that a pass pays.
    #[serde(default)]
    buy_in: String,
    /// The pass that is revoked.
    #[serde(default)]
    pass: String,
    reason: Reason,
}

impl CorrectionForm {
    /// Converts the fields into the request of the API.
    async fn into_request(self, reports: &Reports) -> Result<RequestCorrection, Problem> {
        let invalid = |detail: &'static str| Code::BodyInvalid.with_detail(detail);
        let reason = self.reason;
        match self.kind.as_str() {
            "adjustment" => {
                let amount = parse_amount(&self.amount).filter(|amount| !amount.is_zero());
                let amount = amount.ok_or_else(|| invalid(AMOUNT_INVALID))?.hundredths();
                let player = find_one(reports, self.player.trim()).await?.0;
                Ok(RequestCorrection::Adjustment { player, amount, reason })
            }
            "pass" => {
                let buy_in_max = parse_amount(&self.buy_in);
                let buy_in_max = buy_in_max.ok_or_else(|| invalid(AMOUNT_INVALID))?.hundredths();
                let player = find_one(reports, self.holder.trim()).await?.0;
                Ok(RequestCorrection::Pass { player, buy_in_max, reason })
            }
            "reversal" => {
                let operation = self.operation.trim().parse();
                Ok(RequestCorrection::Reversal {
                    operation: operation
                        .map_err(|_| invalid("an operation is denoted by its number"))?,
                    reason,
                })
            }
            "pass_revocation" => {
                let pass = self.pass.trim().parse();
                let pass = pass.map_err(|_| invalid("a pass is denoted by its id"))?;
                Ok(RequestCorrection::PassRevocation { pass, reason })
            }
            _ => {
                Err(invalid("a correction is an adjustment, a reversal, a pass or its revocation"))
            }
        }
    }
}

pub(crate) async fn request(
    State(corrections): State<Corrections>,
    State(reports): State<Reports>,
    OperatorForm { session, input }: OperatorForm<CorrectionForm>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_corrections_role()?.require_session()?;
    let attempt = input.attempt;
    let (content, reason) = query::content(input.into_request(&reports).await?)?;
    let correction = corrections.request(&by, content, &reason, attempt).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", correction.id)))
}

pub(crate) async fn show_correction(
    State(services): State<Services>,
    State(corrections): State<Corrections>,
    session: OperatorSession,
    Path(correction): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    let correction = corrections.find(&session.operator, CorrectionId(correction)).await?;
    let preview = load_preview(&corrections, &session, &correction).await?;
    let wallets = preview.iter().flat_map(|preview| &preview.wallets).map(|wallet| wallet.player);
    let named = NamedPlayers::load(&services, wallets.chain(correction.player)).await?;
    let of = if correction.player.is_some() { "Player" } else { "Reverses" };
    let mut properties =
        vec![("Kind", html! { (kind(&correction)) }), (of, subject(&named, &correction))];
    let amount_of = match correction.kind {
        CorrectionKind::Pass | CorrectionKind::PassRevocation => "Pays a buy-in up to",
        CorrectionKind::Adjustment | CorrectionKind::Reversal => "Coins",
    };
    properties.extend(correction.amount.map(|amount| (amount_of, coins(amount))));
    properties.extend([
        ("State", stage(correction.state)),
        ("Reason", html! { (correction.reason) }),
        ("Requested by", html! { (correction.requested_by) }),
        ("Requested at", session.zone.time(correction.requested_at)),
    ]);
    let Correction { decided_by, decided_at, rejection_reason, .. } = &correction;
    properties.extend(decided_by.as_ref().map(|by| ("Decided by", html! { (by) })));
    let ended = match correction.state {
        CorrectionState::Withdrawn => "Withdrawn at",
        _ => "Decided at",
    };
    properties.extend(decided_at.map(|at| (ended, session.zone.time(at))));
    let reason = |reason| ("Reason for rejection", html! { (reason) });
    properties.extend(rejection_reason.as_ref().map(reason));
    let booked = correction.operation.map(operation_link);
    properties.extend(booked.map(|link| ("Booked as operation", link)));
    let body = html! {
        (facts(&properties))
        @if let Some(preview) = &preview { (outcome(&session, &named, preview)) }
        @if correction.state == CorrectionState::Open && session.operator.require_corrections_role().is_ok() {
            (decision_forms(&session, &correction))
        }
        p { a href=(HERE) { "All corrections" } }
    };
    Ok(page(&session, "Correction", body))
}

/// Draws the wallets and the transfers of a correction if it were approved now.
fn outcome(session: &OperatorSession, named: &NamedPlayers, preview: &CorrectionPreview) -> Markup {
    let CorrectionPreview { transfers, wallets, refusal } = preview;
    html! {
        h2 { "If it is approved now" }
        @if let Some(refusal) = refusal {
            p class="alert" role="status" { "Not possible now: " (name_wallets(&refusal.detail, wallets)) "." }
        }
        (table_of("Wallets", wallets, &[
            ("Player", &|wallet| named.link(wallet.player, &wallet.name)),
            ("#Balance now", &|wallet| coins(wallet.balance)),
            ("#Balance after", &|wallet| coins(wallet.balance_after)),
        ]))
        (table_of("Transfers", transfers, &[
            ("#Coins", &|transfer| coins(transfer.amount)),
            ("From", &|transfer| transfer_account(session, named, &transfer.source)),
            ("To", &|transfer| transfer_account(session, named, &transfer.destination)),
        ]))
    }
}

/// Replaces the codes of wallets by the names of their players.
fn name_wallets(text: &str, wallets: &[PreviewedWallet]) -> String {
    let mut text = text.to_owned();
    for PreviewedWallet { player, name, .. } in wallets {
        text = text.replace(&format!("wallet:{player}"), name);
    }
    text
}

/// Draws the forms that end an open request.
fn decision_forms(session: &OperatorSession, correction: &Correction) -> Markup {
    let here = format!("{HERE}/{}", correction.id);
    if correction.requested_by == session.operator.name {
        return html! {
            p { "You requested this correction: another operator decides." }
            (button(session, &format!("{here}/withdrawal"), "Withdraw this request", "Withdraw this request? Nothing moves."))
        };
    }
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

pub(crate) async fn withdraw(
    State(corrections): State<Corrections>,
    Path(correction): Path<Uuid>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_corrections_role()?.require_session()?;
    let withdrawn = corrections.withdraw(&by, CorrectionId(correction)).await?;
    Ok(Redirect::to(&format!("{HERE}/{}", withdrawn.id)))
}
