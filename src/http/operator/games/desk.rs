//! A game in full: its bookings, the result of verifying its record and, for operators with
//! the capability, a replay of the table step by step.

use axum::extract::State;
use axum::response::Response;
use bahay_desk_ui::form_fields::{FieldError, FormFields, ParseFields, parse_fields};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::deal_section::{contributions, draw_deal};
use super::game_clock::GameClock;
use super::replay::{draw_replay, draw_result};
use super::{query, settlement_table};
use crate::archive::{GameDetail, GameState};
use crate::clock::Timestamp;
use crate::http::operator::desk_ui::{
    ErrorPage, FilterForm, OperatorSession, badge, coins, ending_title, facts, game_link, id, page,
    table_of,
};
use crate::http::operator::ledger::desk::operation_section;
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Path, Services};
use crate::ids::GameId;
use crate::operators::Audit;
use crate::replay::GameReplay;
use crate::reports::{Dossier, RecordVerdict, Reports};

pub(crate) async fn show_game(
    State(services): State<Services>,
    session: OperatorSession,
    Path(game): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    let dossier = query::find_dossier(&services.reports, GameId(game)).await?;
    let players = dossier.game.seats.iter().map(|seat| seat.player.0);
    let named = NamedPlayers::load(&services, players).await?;
    Ok(page(&session, "Game", body(&session, &named, &dossier)))
}

/// The query of a replay.
#[derive(Debug, Deserialize)]
pub(crate) struct ReplayQuery {
    /// The time in milliseconds whose step is selected first.
    at_ms: Option<i64>,
}

impl ParseFields for ReplayQuery {
    fn parse_fields(fields: FormFields) -> Result<Self, FieldError> {
        parse_fields(fields)
    }
}

/// Shows the table step by step with all hands. Each view is recorded in the audit log before
/// anything is shown.
pub(crate) async fn show_replay(
    State(reports): State<Reports>,
    State(audit): State<Audit>,
    session: OperatorSession,
    Path(game): Path<Uuid>,
    FilterForm(query): FilterForm<ReplayQuery>,
) -> Result<Response, ErrorPage> {
    let until = query.at_ms.map(Timestamp::from_ms);
    let (dossier, record) =
        query::load_audited_record(&reports, &audit, &session.operator, GameId(game)).await?;
    let detail = &dossier.game;
    let clock = GameClock::new(&dossier);
    let drawn = GameReplay::from_value(record).and_then(|replayed| {
        Ok(html! {
            (draw_replay(&session.zone, clock, &replayed, &detail.seats, until)?)
            h2 { "Result" }
            (draw_result(&replayed, &detail.seats)?)
            (settlement_table::draw(detail))
            (draw_deal(detail, &replayed)?)
        })
    });
    let body = match drawn {
        Ok(drawn) => drawn,
        Err(error) => html! { p class="alert" role="alert" { (error) } },
    };
    let body = html! {
        p { (game_link(game, "The game's settlement")) }
        (body)
    };
    Ok(page(&session, "Replay", body))
}

fn body(session: &OperatorSession, named: &NamedPlayers, dossier: &Dossier) -> Markup {
    let Dossier { game, void_reason, operations, verdict } = dossier;
    let clock = GameClock::new(dossier);
    let finished_at = game.finished_at_ms.map(|ms| clock.finish_to_ledger(game.state, ms));
    html! {
        (facts(&[
            ("Id", id(&game.game)),
            ("Room", html! { a href={ "/desk/settlements?room=" (game.room) } { (session.rooms.title(&game.room)) } }),
            ("Table", html! { a href={ "/desk/tables/" (game.table) } { (id(&game.table)) } }),
            ("State", state(game, void_reason.as_deref())),
            ("Opened", session.zone.time(clock.to_ledger(game.opened_at_ms))),
            ("Finished", html! { @if let Some(at) = finished_at { (session.zone.time(at)) } }),
            ("Ante per seat", coins(game.ante)),
        ]))
        (seats(named, game))
        h2 { "Fairness" }
        (verification(game, verdict))
        @if game.record.is_some() && session.operator.require_moderator().is_ok() {
            p {
                a class="button" href={ "/desk/games/" (game.game) "/replay" } { "Replay with all hands" }
                " Each view is recorded in the audit log."
            }
        }
        h2 { "Settlement" }
        @if let Some(ms) = game.reversed_at_ms {
            p { "The settlement was reversed at " (session.zone.time(Timestamp::from_ms(ms))) "; its amounts do not count in lists and totals." }
        }
        (settlement_table::draw_comparison(game, verdict))
        h2 { "Booked" }
        @for operation in operations { (operation_section(session, named, operation)) }
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
        @if let Some(ending) = &game.ending { ": " (ending_title(&game.kind, Some(ending))) }
        @if let Some(reason) = void_reason { ": " (reason) }
        @if game.reversed_at_ms.is_some() { " " (badge("bad", "reversed")) }
    }
}

fn seats(named: &NamedPlayers, game: &GameDetail) -> Markup {
    table_of(
        "Players",
        &game.seats,
        &[
            ("#Seat", &|seat| html! { (seat.seat.index() + 1) }),
            ("Player", &|seat| named.link(seat.player.0, &seat.name)),
            ("#Stake", &|seat| coins(seat.stake)),
            ("#Net without ante", &|seat| html! { @if let Some(net) = seat.net { (coins(net)) } }),
            ("#Change of coins", &|seat| {
                let change = seat.net.and_then(|net| net.checked_sub(game.ante));
                html! { @if let Some(change) = change { (coins(change)) } }
            }),
        ],
    )
}

fn verification(game: &GameDetail, verdict: &RecordVerdict) -> Markup {
    match verdict {
        RecordVerdict::Holds { actions, clients, .. } => html! {
            p {
                (badge("good", "verified"))
                " The deal follows from the committed seeds, " (actions)
                " actions from the rules, and the settlement from both."
            }
            (contributions(clients, &game.seats))
        },
        RecordVerdict::Fails { fault } => html! {
            p class="alert" role="alert" { "The record failed verification: " (fault) }
        },
        RecordVerdict::NoRecord => html! { p { "There is no record of this game." } },
    }
}
