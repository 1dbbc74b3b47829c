//! A game in full: its bookings, the result of verifying its record and, for operators with
//! the capability, a replay of the table step by step.

use axum::extract::State;
use axum::response::Response;
use bahay_engine::chance::Contribution;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Payment, Settlement};
use maud::{Markup, html};
use uuid::Uuid;

use super::query;
use super::replay::draw_replay;
use crate::archive::{GameDetail, GameState, SeatDetail};
use crate::clock::Timestamp;
use crate::http::Path;
use crate::http::operator::desk_ui::{
    ErrorPage, OperatorSession, badge, coins, facts, game_link, id, page, player_link, table,
    table_of, time,
};
use crate::http::operator::ledger::desk::operation_section;
use crate::ids::GameId;
use crate::operators::Audit;
use crate::replay::GameReplay;
use crate::reports::{Dossier, RecordVerdict, Reports};

pub(crate) async fn show_game(
    State(reports): State<Reports>,
    session: OperatorSession,
    Path(game): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    let dossier = query::find_dossier(&reports, GameId(game)).await?;
    Ok(page(&session, "Game", body(&session, &dossier)))
}

/// Shows the table step by step with all hands. Each view is recorded in the audit log before
/// anything is shown.
pub(crate) async fn show_replay(
    State(reports): State<Reports>,
    State(audit): State<Audit>,
    session: OperatorSession,
    Path(game): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    let (detail, record) =
        query::load_audited_record(&reports, &audit, &session.operator, GameId(game)).await?;
    let replayed = GameReplay::from_value(record);
    let body = match replayed.and_then(|replayed| draw_replay(&replayed, &detail.seats)) {
        Ok(drawn) => drawn,
        Err(error) => html! { p class="alert" role="alert" { (error) } },
    };
    let body = html! {
        p { (game_link(game, "The game's settlement")) }
        (body)
    };
    Ok(page(&session, "Replay", body))
}

fn body(session: &OperatorSession, dossier: &Dossier) -> Markup {
    let Dossier { game, void_reason, operations, verdict } = dossier;
    let at = |ms: i64| time(Timestamp::from_ms(ms));
    html! {
        (facts(&[
            ("Id", id(&game.game)),
            ("Room", html! { (game.room) }),
            ("Table", html! { a href={ "/desk/tables/" (game.table) } { (id(&game.table)) } }),
            ("State", state(game, void_reason.as_deref())),
            ("Opened (UTC)", at(game.opened_at_ms)),
            ("Finished (UTC)", html! { @if let Some(ms) = game.finished_at_ms { (at(ms)) } }),
            ("Ante per seat", coins(game.ante)),
        ]))
        (seats(&game.seats))
        h2 { "Fairness" }
        (verification(verdict))
        @if game.record.is_some() && session.operator.require_moderator().is_ok() {
            p {
                a class="button" href={ "/desk/games/" (game.game) "/replay" } { "Replay with all hands" }
                " Each view is recorded in the audit log."
            }
        }
        h2 { "Settlement" }
        @if let Some(ms) = game.reversed_at_ms {
            p { "The settlement was reversed at " (at(ms)) " UTC; its amounts do not count in lists and totals." }
        }
        (settlement(game, verdict))
        h2 { "Booked" }
        @for operation in operations { (operation_section(session, operation)) }
    }
}

fn state(game: &GameDetail, void_reason: Option<&str>) -> Markup {
    let kind = match game.state {
        GameState::Open => "waiting",
        GameState::Settled => "good",
        GameState::Voided => "bad",
    };
    html! {
        (badge(kind, game.state.as_str()))
        @if let Some(ending) = &game.ending { " by " (ending) }
        @if let Some(reason) = void_reason { ": " (reason) }
        @if game.reversed_at_ms.is_some() { " " (badge("bad", "reversed")) }
    }
}

fn seats(seats: &[SeatDetail]) -> Markup {
    table_of(
        "Players",
        seats,
        &[
            ("#Seat", &|seat| html! { (seat.seat.index()) }),
            ("Player", &|seat| player_link(seat.player, &seat.name)),
            ("#Stake", &|seat| coins(seat.stake)),
            ("#Net", &|seat| html! { @if let Some(net) = seat.net { (coins(net)) } }),
        ],
    )
}

fn verification(verdict: &RecordVerdict) -> Markup {
    match verdict {
        RecordVerdict::Holds { actions, clients, .. } => html! {
            p {
                (badge("good", "verified"))
                " The deal follows from the committed seeds, " (actions)
                " actions from the rules, and the settlement from both."
            }
            (contributions(clients))
        },
        RecordVerdict::Fails { fault } => html! {
            p class="alert" role="alert" { "The record failed verification: " (fault) }
        },
        RecordVerdict::NoRecord => html! { p { "There is no record of this game." } },
    }
}

/// Draws the clients' contributions to the deal (rule 9.1).
fn contributions(clients: &[Contribution]) -> Markup {
    let clients: Vec<(usize, &Contribution)> = clients.iter().enumerate().collect();
    table_of(
        "Contributions of the clients to the deal",
        &clients,
        &[
            ("#Seat", &|(seat, _)| html! { (seat) }),
            ("Committed to", &|(_, client)| match &client.commitment {
                commitment if commitment.is_none() => html! { "no commitment" },
                commitment => html! { (commitment.0) },
            }),
            ("Revealed", &|(_, client)| {
                html! { (client.text.as_deref().unwrap_or("none")) }
            }),
        ],
    )
}

/// Compares the settlement as booked with the recomputed one, item by item.
fn settlement(game: &GameDetail, verdict: &RecordVerdict) -> Markup {
    let stored = game.settlement.clone().map(serde_json::from_value::<Settlement>);
    let stored = stored.and_then(Result::ok);
    let (recomputed, is_booked) = match verdict {
        RecordVerdict::Holds { recomputed, is_booked, .. } => (Some(recomputed), *is_booked),
        RecordVerdict::Fails { .. } | RecordVerdict::NoRecord => (None, false),
    };
    if stored.is_none() && recomputed.is_none() {
        return html! { p { "The game has no settlement." } };
    }
    let lines =
        |settlement: Option<&Settlement>| settlement.map(settlement_lines).unwrap_or_default();
    let booked = lines(stored.as_ref());
    let expected = lines(recomputed);
    let columns = "Item | #As booked | #As recomputed | ";
    let mut rows: Vec<Vec<Markup>> = Vec::new();
    for place in 0..booked.len().max(expected.len()) {
        let left = booked.get(place);
        let right = expected.get(place);
        let name = left.or(right).map(|(name, _)| name.as_str()).unwrap_or_default();
        let amount = |line: Option<&(String, Coins)>| {
            html! { @if let Some((_, amount)) = line { (coins(*amount)) } @else { "–" } }
        };
        let verdict = if left == right { badge("good", "same") } else { badge("bad", "differs") };
        rows.push(vec![html! { (name) }, amount(left), amount(right), verdict]);
    }
    html! {
        @if !is_booked && recomputed.is_some() {
            p class="alert" role="alert" { "The booked settlement differs from the recomputed one." }
        }
        (table("Settlement, item by item", columns, &rows))
    }
}

fn settlement_lines(settlement: &Settlement) -> Vec<(String, Coins)> {
    let seat = |seat: bahay_engine::seat::Seat| seat.index();
    let mut lines = Vec::new();
    for Payment { from, to, items, paid, .. } in &settlement.payments {
        let items: Vec<_> =
            items.iter().map(|item| format!("{} {}", item.counts, item.name)).collect();
        let items = items.join(", ");
        lines.push((format!("Seat {} pays seat {}: {items}", seat(*from), seat(*to)), *paid));
    }
    for fee in &settlement.fees {
        lines.push((format!("Fee of seat {} on {}", seat(fee.seat), fee.gross), fee.fee));
    }
    if let Some(pot) = settlement.pot {
        lines.push((format!("POT to seat {}", seat(pot.seat)), pot.amount));
    }
    lines
}
