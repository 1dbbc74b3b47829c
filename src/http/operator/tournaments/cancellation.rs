//! The cancellation of a tournament at the desk, with the amounts by player shown before, and the
//! file of its results.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Redirect, Response};
use bahay_engine::coins::Coins;
use bahay_engine::hex::Hex;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::Refund;
use futures_util::stream;
use maud::html;
use serde::Deserialize;
use uuid::Uuid;

use super::desk::HERE;
use crate::http::operator::desk_ui::{
    ErrorPage, OperatorForm, OperatorSession, coins, facts, page, select, table_of, text_area,
};
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Path, Problem, Services};
use crate::reason::Reason;
use crate::tournaments::{CancellationRefunds, TournamentError, Tournaments};

/// The number of players whose amounts the page lists.
const PLAYERS_MAX: usize = 500;

/// The choice that pays other amounts than those that were shown.
const ACCEPT: &str = "accept";

/// The choices for amounts that change again.
const CHANGES: [(&str, &str); 2] =
    [("", "Cancel nothing and show them"), (ACCEPT, "Cancel and pay the changed amounts")];

/// The number of versions that are read at once for the file of results.
const VERSIONS: u32 = 100;

pub(crate) async fn preview(
    State(services): State<Services>,
    session: OperatorSession,
    Path(tournament): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    session.operator.require_administrator()?;
    let amounts = services.tournaments.preview_cancellation(TournamentId(tournament)).await?;
    Ok(draw_preview(&services, &session, tournament, &amounts, false).await?)
}

/// Draws the amounts by player with the form that cancels the tournament. If they have changed since
/// the operator saw them, the form can accept further changes: games that end meanwhile may change
/// them faster than they can be read.
async fn draw_preview(
    services: &Services,
    session: &OperatorSession,
    tournament: Uuid,
    amounts: &CancellationRefunds,
    have_changed: bool,
) -> Result<Response, Problem> {
    let refunds = amounts.refunds.as_slice();
    let here = format!("{HERE}/{tournament}");
    let shown = &refunds[..refunds.len().min(PLAYERS_MAX)];
    let named = NamedPlayers::load(services, shown.iter().map(|refund| refund.player.0)).await?;
    let name = services.tournaments.read(TournamentId(tournament)).await?.terms().name.clone();
    let body = html! {
        @if have_changed {
            p class="alert" role="alert" {
                "Nothing was cancelled: the amounts have changed meanwhile. These are the present ones."
            }
        }
        (facts(&[
            ("Tournament", html! { a href=(here) { (name) } }),
            ("Players", html! { (refunds.len()) }),
            ("Paid to them", coins(total(refunds))),
        ]))
        p {
            "Its tables end, running games are void, and the players receive the amounts below. A fee "
            "and a guarantee that were booked go back first, by the rules on cancellations."
        }
        (table_of("Amounts by player", shown, &[
            ("Player", &|refund| named.name_link(refund.player.0)),
            ("#Coins", &|refund| coins(refund.amount)),
        ]))
        @if refunds.len() > shown.len() { p { "And " (refunds.len() - shown.len()) " more players." } }
        form method="post" action={ (here) "/cancellation" } {
            (session.form_token())
            input type="hidden" name="shown" value=(amounts.digest());
            (text_area("reason", "Reason", "10 to 500 characters, recorded in the audit log."))
            @if have_changed {
                (select("changes", "If the amounts change again", &CHANGES, ""))
            }
            button class="main" { "Cancel the tournament and pay " (coins(total(refunds))) }
        }
    };
    Ok(page(session, "Cancel a tournament", body))
}

fn total(refunds: &[Refund]) -> Coins {
    Coins::checked_sum(refunds.iter().map(|refund| refund.amount)).unwrap_or_default()
}

/// The form that cancels a tournament.
#[derive(Debug, Deserialize)]
pub(crate) struct CancellationForm {
    reason: Reason,
    /// The digest of the amounts that the page has shown.
    shown: Hex<32>,
    /// `accept` if other amounts than those are paid as well.
    #[serde(default)]
    changes: String,
}

pub(crate) async fn cancel(
    State(services): State<Services>,
    Path(tournament): Path<Uuid>,
    OperatorForm { session, input }: OperatorForm<CancellationForm>,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_administrator()?;
    let key = TournamentId(tournament);
    let CancellationForm { reason, shown, changes } = input;
    let shown = Some(shown).filter(|_| changes != ACCEPT);
    let tournaments = &services.tournaments;
    match tournaments.cancel(key, by.actor(), &reason, shown).await {
        Ok(_) => Ok(Redirect::to(&format!("{HERE}/{tournament}")).into_response()),
        Err(TournamentError::AmountsChanged) => {
            let amounts = tournaments.preview_cancellation(key).await?;
            let preview = draw_preview(&services, &session, tournament, &amounts, true).await?;
            Ok((StatusCode::CONFLICT, preview).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the list of results as a file of JSON lines, which `docs/verify_tournament.py` checks.
pub(crate) async fn export_results(
    State(tournaments): State<Tournaments>,
    _session: OperatorSession,
    Path(tournament): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    let id = TournamentId(tournament);
    tournaments.read(id).await?;
    let pages = stream::try_unfold(Some(None), move |next: Option<Option<i64>>| {
        let tournaments = tournaments.clone();
        async move {
            let Some(after) = next else { return Ok::<_, TournamentError>(None) };
            let page = tournaments.results(id, after, VERSIONS).await?;
            let results = page.items.iter().flat_map(|version| &version.results);
            let lines: String = results.map(|result| format!("{result}\n")).collect();
            Ok(Some((Bytes::from(lines), page.next.map(Some))))
        }
    });
    let disposition = format!("attachment; filename=\"tournament_{tournament}.jsonl\"");
    let headers =
        [(CONTENT_TYPE, "application/jsonl"), (CONTENT_DISPOSITION, disposition.as_str())];
    Ok((headers, Body::from_stream(pages)).into_response())
}
