//! The cancellation of a tournament at the desk, with the amounts by player shown before, and the
//! file of its results.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Redirect, Response};
use bahay_engine::coins::Coins;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::Refund;
use futures_util::stream;
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::desk::HERE;
use crate::http::operator::desk_ui::{
    ErrorPage, OperatorForm, OperatorSession, coins, facts, page, table_of, text_area,
};
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Path, Problem, Services};
use crate::reason::Reason;
use crate::tournaments::{TournamentError, Tournaments};

/// The number of players whose amounts the page lists.
const PLAYERS_MAX: usize = 500;

/// The number of versions that are read at once for the file of results.
const VERSIONS: u32 = 100;

pub(crate) async fn preview(
    State(services): State<Services>,
    session: OperatorSession,
    Path(tournament): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    session.operator.require_administrator()?;
    let refunds = services.tournaments.preview_cancellation(TournamentId(tournament)).await?;
    Ok(draw_preview(&services, &session, tournament, &refunds, html! {}).await?)
}

/// Draws the amounts by player with the form that cancels the tournament. `notice` precedes them.
async fn draw_preview(
    services: &Services,
    session: &OperatorSession,
    tournament: Uuid,
    refunds: &[Refund],
    notice: Markup,
) -> Result<Response, Problem> {
    let here = format!("{HERE}/{tournament}");
    let shown = &refunds[..refunds.len().min(PLAYERS_MAX)];
    let named = NamedPlayers::load(services, shown.iter().map(|refund| refund.player.0)).await?;
    let name = services.tournaments.read(TournamentId(tournament)).await?.terms().name.clone();
    let body = html! {
        (notice)
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
            input type="hidden" name="shown" value=(fingerprint(refunds));
            (text_area("reason", "Reason", "10 to 500 characters, recorded in the audit log."))
            button class="main" { "Cancel the tournament and pay " (coins(total(refunds))) }
        }
    };
    Ok(page(session, "Cancel a tournament", body))
}

fn total(refunds: &[Refund]) -> Coins {
    Coins::checked_sum(refunds.iter().map(|refund| refund.amount)).unwrap_or_default()
}

/// Returns a text that differs if the number of players or the sum of their amounts does.
fn fingerprint(refunds: &[Refund]) -> String {
    format!("{}:{}", refunds.len(), total(refunds).hundredths())
}

/// The form that cancels a tournament.
#[derive(Debug, Deserialize)]
pub(crate) struct CancellationForm {
    reason: Reason,
    /// The fingerprint of the amounts that the page has shown.
    shown: Option<String>,
}

pub(crate) async fn cancel(
    State(services): State<Services>,
    Path(tournament): Path<Uuid>,
    OperatorForm { session, input }: OperatorForm<CancellationForm>,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_administrator()?;
    let key = TournamentId(tournament);
    let CancellationForm { reason, shown } = input;
    let refunds = services.tournaments.preview_cancellation(key).await?;
    if shown.is_some_and(|shown| shown != fingerprint(&refunds)) {
        let notice = html! {
            p class="alert" role="alert" {
                "Nothing was cancelled: the amounts have changed meanwhile. These are the present ones."
            }
        };
        let preview = draw_preview(&services, &session, tournament, &refunds, notice).await?;
        return Ok((StatusCode::CONFLICT, preview).into_response());
    }
    services.tournaments.cancel(key, by.actor(), &reason).await?;
    Ok(Redirect::to(&format!("{HERE}/{tournament}")).into_response())
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
