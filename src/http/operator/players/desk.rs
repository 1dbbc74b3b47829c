//! The page of a player: wallet, games, sessions, indications of collusion, notes and reports.

use axum::extract::{FromRef as _, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use bahay_engine::catalog::{self, Kind};
use bahay_engine::table::TableId;
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::api::{load_player_report, parse_search};
use crate::entropy;
use crate::http::operator::desk_ui::components::{
    Column, Field, badge, button, coins, facts, field, id, pager, table, text_area, time,
};
use crate::http::operator::desk_ui::layout::page;
use crate::http::operator::desk_ui::{EmptyForm, ErrorPage, OperatorForm, OperatorSession};
use crate::http::operator::sanctions::desk as sanctions;
use crate::http::operator::settlements::desk::{row, rows_table};
use crate::http::{Code, CodeExt as _, Cursors, Path, Query, Services, database_problem};
use crate::ids::PlayerId;
use crate::ledger::Wallet;
use crate::lobby::LobbyError;
use crate::operators::{Moderation, NoteText, Sanctions};
use crate::reports::{
    AccountEntry, DeviceRow, LinkedPlayer, Partner, PlayerReport, Reports, SettlementFilter,
    SharedSource,
};
use crate::standings::Statistics;

const HERE: &str = "/desk/players";

/// The number of games and entries on the page; links lead to complete lists.
const SHOWN: u32 = 20;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PlayerSearchForm {
    search: String,
}

pub(crate) async fn find(
    State(reports): State<Reports>,
    session: OperatorSession,
    Query(PlayerSearchForm { search }): Query<PlayerSearchForm>,
) -> Result<Response, ErrorPage> {
    let players = match search.trim() {
        "" => Vec::new(),
        text => reports.find_players(parse_search(text)?).await.map_err(database_problem)?,
    };
    let rows: Vec<_> = players
        .iter()
        .map(|(player, name)| vec![html! { a href={ (HERE) "/" (player) } { (name) } }, id(player)])
        .collect();
    let columns = [Column::Text("Name"), Column::Text("Id")];
    let search = Field { value: &search, ..Field::required("search", "Name prefix or id") };
    let body = html! {
        form class="filter" method="get" action=(HERE) { (field(search)) button { "Find" } }
        (table("Players, at most 20", &columns, &rows))
    };
    Ok(page(&session, "Players", body))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct EntriesQuery {
    cursor: Option<String>,
}

pub(crate) async fn show_player(
    State(services): State<Services>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    Path(player): Path<Uuid>,
    Query(EntriesQuery { cursor }): Query<EntriesQuery>,
) -> Result<Response, ErrorPage> {
    let player = PlayerId(player);
    let Services { audit, reports, ledger, lobby, standings, .. } = &services;
    let report = load_player_report(reports, audit, &session.operator, player).await?;
    let wallet = ledger.wallet(player).await?;
    let mut statistics = Vec::new();
    for kind in catalog::kinds() {
        let found = standings.statistics(player, kind.name).await?;
        if found.games > 0 {
            statistics.push((kind, found));
        }
    }
    let filter = SettlementFilter { player: Some(player), ..SettlementFilter::default() };
    let games = reports.settlements(&filter, None, SHOWN).await.map_err(database_problem)?;
    let account = format!("wallet:{player}");
    let list = format!("entries of {account}");
    let cursor = cursors.open(&list, &session.operator, cursor.as_deref())?;
    let entries =
        reports.account_entries(&account, cursor, SHOWN).await.map_err(database_problem)?;
    let next = entries.next.map(|next| cursors.seal(&list, &session.operator, &next));
    let partners = reports.partners(player).await.map_err(database_problem)?;
    let shared = reports.linked_players(player).await.map_err(database_problem)?;
    let here = format!("{HERE}/{player}");
    let sits_at = lobby.seated_at(player).await;
    let sanctions =
        sanctions::section(&Sanctions::from_ref(&services), &session, player, &here).await?;
    let rows: Vec<_> = games.items.iter().map(row).collect();
    let body = html! {
        (summary(&report, wallet, &statistics, &sits_at))
        @if session.operator.require_moderator().is_ok() { (actions_section(&session, &here)) }
        h2 { "Bans and mutes" }
        (sanctions)
        h2 { "Indications of collusion" }
        (partners_table(&partners))
        (shared_table(&shared))
        h2 { "Newest games" }
        (rows_table("Games", &rows))
        p { a href={ "/desk/settlements?player=" (player) } { "All games" } }
        h2 { "Wallet" }
        @if session.operator.require_corrections_role().is_ok() {
            p {
                a class="button" href={ "/desk/corrections/new?player=" (player) } {
                    "Request an adjustment"
                }
            }
        }
        (entries_table(&entries.items))
        (pager(&here, &[], next.as_deref()))
        h2 { "Sign-ins" }
        (sessions(&report))
        (devices(&report))
        h2 { "Notes" }
        (notes(&report))
        @if session.operator.require_moderator().is_ok() {
            form method="post" action={ (here) "/notes" } {
                (session.form_token())
                input type="hidden" name="attempt" value=(entropy::uuid());
                (text_area("words", "Note", "Visible to operators only; notes cannot be changed."))
                button { "Add note" }
            }
        }
        h2 { "Reports by players" }
        (complaints(&report))
    };
    Ok(page(&session, &report.name, body))
}

#[derive(Debug, Deserialize)]
pub(crate) struct NoteForm {
    attempt: Uuid,
    words: String,
}

pub(crate) async fn write_note(
    State(moderation): State<Moderation>,
    Path(player): Path<Uuid>,
    filled: OperatorForm<NoteForm>,
) -> Result<Response, ErrorPage> {
    let by = filled.session.operator.require_moderator()?;
    let NoteForm { attempt, words } = filled.input;
    let words: NoteText =
        words.parse().map_err(|error| Code::BodyInvalid.with_detail(format!("{error}")))?;
    moderation.write_note(&by, PlayerId(player), &words, attempt).await?;
    Ok(Redirect::to(&format!("{HERE}/{player}")).into_response())
}

pub(crate) async fn sign_out(
    State(moderation): State<Moderation>,
    Path(player): Path<Uuid>,
    OperatorForm { session, input: EmptyForm {} }: OperatorForm<EmptyForm>,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_moderator()?;
    moderation.end_sessions(&by, PlayerId(player)).await?;
    Ok(Redirect::to(&format!("{HERE}/{player}")).into_response())
}

fn summary(
    report: &PlayerReport,
    wallet: Wallet,
    statistics: &[(Kind, Statistics)],
    sits_at: &Result<Option<TableId>, LobbyError>,
) -> Markup {
    let yes = |is: bool| if is { "yes" } else { "no" };
    let sits_at = match sits_at {
        Ok(Some(table)) => html! { a href={ "/desk/tables/" (table) } { (id(table)) } },
        Ok(None) => html! { "no table" },
        Err(_) => badge("bad", "live store does not respond"),
    };
    facts(&[
        ("Id", id(&report.player)),
        ("Created (UTC)", time(report.created_at)),
        ("Deleted", html! { @match report.deleted_at { Some(at) => (time(at)), None => "no" } }),
        ("Seated at", sits_at),
        ("Available", coins(wallet.available)),
        ("Held in games", coins(wallet.held)),
        (
            "Games",
            html! {
                @if statistics.is_empty() { "none settled" }
                @for (kind, done) in statistics { p { (statistics_line(kind, done)) } }
            },
        ),
        (
            "Sign-in methods",
            html! {
                "devices: " (report.devices.len()) ", password: " (yes(report.has_password))
                ", external accounts: " (report.identities)
            },
        ),
    ])
}

/// Draws a sentence with a player's statistics of one kind of game.
fn statistics_line(kind: &Kind, statistics: &Statistics) -> Markup {
    html! {
        (kind.title) ": " (statistics.games) " played, " (statistics.wins) " won, current streak " (statistics.streak)
        ", best streak " (statistics.best_streak) "; POTs " (statistics.counter("hits"))
        ", the largest " (coins(statistics.best_pot))
        @for counter in kind.counters {
            "; " (counter.title.to_lowercase()) " " (statistics.counter(counter.name))
        }
    }
}

fn actions_section(session: &OperatorSession, here: &str) -> Markup {
    let question = "End all sessions of this player?";
    html! { (button(session, &format!("{here}/sign-out"), "Sign out everywhere", question)) }
}

fn shared_badge(shared: SharedSource) -> Markup {
    match shared {
        SharedSource::Device => badge("bad", "same device"),
        SharedSource::Address => badge("waiting", "same address"),
    }
}

fn partners_table(partners: &[Partner]) -> Markup {
    let columns = [
        Column::Text("Partner"),
        Column::Number("Games together"),
        Column::Number("Paid to partner"),
        Column::Number("in games"),
        Column::Number("Received from partner"),
        Column::Number("in games"),
        Column::Text(""),
    ];
    let rows: Vec<_> = partners
        .iter()
        .map(|partner| {
            vec![
                html! { a href={ (HERE) "/" (partner.player) } { (partner.name) } },
                html! { (partner.games) " of " (partner.of) },
                coins(partner.paid),
                html! { (partner.games_paid) },
                coins(partner.received),
                html! { (partner.games_received) },
                html! { @if let Some(shared) = partner.shared { (shared_badge(shared)) } },
            ]
        })
        .collect();
    table("Partners in the newest 500 games", &columns, &rows)
}

fn shared_table(shared: &[LinkedPlayer]) -> Markup {
    let columns = [Column::Text("Player"), Column::Text("")];
    let rows: Vec<_> = shared
        .iter()
        .map(|player| {
            vec![
                html! { a href={ (HERE) "/" (player.player) } { (player.name) } },
                shared_badge(player.shared),
            ]
        })
        .collect();
    table("Other players with the same device or address", &columns, &rows)
}

pub(crate) fn entries_table(entries: &[AccountEntry]) -> Markup {
    let columns = [
        Column::Number("Entry"),
        Column::Text("Booked (UTC)"),
        Column::Text("Purpose"),
        Column::Text("Counterparty"),
        Column::Number("Coins"),
        Column::Number("Balance"),
        Column::Text("Operation"),
    ];
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            vec![
                html! { (entry.version) },
                time(entry.booked_at),
                html! {
                    @match entry.game {
                        Some(game) => { a href={ "/desk/games/" (game) } { (entry.code) } }
                        None => (entry.code)
                    }
                },
                id(&entry.other),
                coins(entry.amount),
                coins(entry.balance_after),
                html! {
                    a href={ "/desk/ledger?operation=" (entry.operation) } { (entry.operation) }
                },
            ]
        })
        .collect();
    table("Entries, newest first", &columns, &rows)
}

fn sessions(report: &PlayerReport) -> Markup {
    let columns = [
        Column::Text("Since (UTC)"),
        Column::Text("Last seen"),
        Column::Text("Method"),
        Column::Text("Address"),
        Column::Text("Client"),
        Column::Text("Ended"),
    ];
    let rows: Vec<_> = report
        .sessions
        .iter()
        .map(|session| {
            vec![
                time(session.created_at),
                time(session.last_seen_at),
                html! { (session.method) },
                html! { @if let Some(address) = &session.address { (address) } },
                html! { @if let Some(agent) = &session.user_agent { (agent) } },
                html! { @if let Some(at) = session.revoked_at { (time(at)) } },
            ]
        })
        .collect();
    html! {
        (table("Sessions, the newest 50", &columns, &rows))
        p { "Only the roles support and admin see addresses; each view is recorded in the audit log." }
    }
}

fn devices(report: &PlayerReport) -> Markup {
    let columns = [Column::Text("First seen (UTC)"), Column::Text("Last seen")];
    let row = |device: &DeviceRow| vec![time(device.first_seen_at), time(device.last_seen_at)];
    let rows: Vec<_> = report.devices.iter().map(row).collect();
    table("Devices that sign the player in, at most 50", &columns, &rows)
}

fn notes(report: &PlayerReport) -> Markup {
    let columns = [Column::Text("Written (UTC)"), Column::Text("By"), Column::Text("Note")];
    let rows: Vec<_> = report
        .notes
        .iter()
        .map(|note| {
            vec![time(note.written_at), html! { (note.written_by) }, html! { (note.words) }]
        })
        .collect();
    table("Notes, newest first", &columns, &rows)
}

fn complaints(report: &PlayerReport) -> Markup {
    let columns = [
        Column::Text("Reported (UTC)"),
        Column::Text("Reason"),
        Column::Text("Description"),
        Column::Text("By"),
        Column::Text("Game"),
    ];
    let rows: Vec<_> = report
        .complaints
        .iter()
        .map(|one| {
            vec![
                time(one.created_at),
                html! { (one.reason) },
                html! { @if let Some(words) = &one.words { (words) } },
                html! { a href={ (HERE) "/" (one.reporter) } { (id(&one.reporter)) } },
                html! { a href={ "/desk/games/" (one.game) } { "game" } },
            ]
        })
        .collect();
    table("Reports, newest first", &columns, &rows)
}
