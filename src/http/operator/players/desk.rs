//! The page of a player: wallet, passes, games, sessions, indications of collusion, notes and reports.

use axum::extract::{FromRef as _, State};
use axum::response::{Redirect, Response};
use bahay_api::operator::players::{Partner, PlayerDossier, SharedBy, SharedSignal};
use bahay_api::player::people::Statistics;
use bahay_api::player::tournaments::TournamentPass;
use bahay_engine::table::TableId;
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::query;
use crate::entropy;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, HouseZone, OperatorForm, OperatorSession, badge, button, coins, count, facts,
    field, game_link, id, page, page_with_heading, pager, sortable_by_script, table_of, text_area,
};
use crate::http::operator::ledger::desk::entries_table;
use crate::http::operator::ledger::list_entries;
use crate::http::operator::sanctions::{NamedPlayers, desk as sanctions};
use crate::http::operator::settlements::desk::{players_of, settlements_table};
use crate::http::{Cursors, PageQuery, PageRequest, Path, Query, Services};
use crate::ids::PlayerId;
use crate::lobby::LobbyError;
use crate::operators::{Moderation, Sanctions};
use crate::reports::SettlementFilter;

const HERE: &str = "/desk/players";

/// The number of games and entries on the page; links lead to complete lists.
const SHOWN: u32 = 20;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PlayerSearchForm {
    search: String,
}

pub(crate) async fn find(
    State(services): State<Services>,
    session: OperatorSession,
    Query(PlayerSearchForm { search }): Query<PlayerSearchForm>,
) -> Result<Response, ErrorPage> {
    let players = match search.trim() {
        "" => Vec::new(),
        text => query::find(&services.reports, text).await?,
    };
    let named = NamedPlayers::load(&services, players.iter().map(|player| player.id)).await?;
    let search = Field {
        value: &search,
        is_player: true,
        ..Field::required("search", "Part of the name, or id")
    };
    let body = html! {
        form class="filter" method="get" action=(HERE) { (field(search)) button { "Find" } }
        (table_of(
            "Players, at most 20",
            &players,
            &[
                ("Name", &|player| named.link(player.id, &player.name)),
                ("Id", &|player| id(&player.id)),
            ],
        ))
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
    let Services { reports, lobby, .. } = &services;
    let dossier = query::load_dossier(&services, &session.operator, player).await?;
    let filter = SettlementFilter { player: Some(player.0), ..SettlementFilter::default() };
    let games = reports.settlements(&filter, None, SHOWN).await?;
    let query = PageQuery { cursor, ..PageQuery::default() };
    let request = PageRequest::new(session.operator.clone(), query, SHOWN, cursors);
    let entries = list_entries(reports, &format!("wallet:{player}"), &request).await?;
    let partners = reports.partners(player).await?;
    let passes = query::list_passes(&services, player).await?;
    let here = format!("{HERE}/{player}");
    let sits_at = lobby.seated_at(player).await;
    let named = [player.0]
        .into_iter()
        .chain(partners.iter().map(|partner| partner.player))
        .chain(dossier.linked_players.iter().map(|linked| linked.player))
        .chain(dossier.complaints.iter().map(|complaint| complaint.reporter))
        .chain(players_of(&games.items));
    let named = NamedPlayers::load(&services, named).await?;
    let heading = html! { (dossier.name) (named.badges(player.0)) };
    let sanctions = Sanctions::from_ref(&services);
    let sanctions = sanctions::section(&sanctions, &session, player, &here).await?;
    let body = html! {
        (summary(&session.zone, &dossier, &sits_at))
        @if session.operator.require_moderator().is_ok() {
            (button(&session, &format!("{here}/sign-out"), "Sign out everywhere", "End all sessions of this player?"))
        }
        h2 { "Bans and mutes" }
        (sanctions)
        h2 { "Indications of collusion" }
        (sortable_by_script(partners_table(&named, &partners)))
        (shared_table(&named, &dossier.linked_players))
        h2 { "Newest games" }
        (settlements_table(&session, &named, "Games", &games.items))
        p { a href={ "/desk/settlements?player=" (player) } { "All games" } }
        h2 { "Wallet" }
        p { a class="button" href={ (here) "/statement" } { "Statement of the last 24 hours" } }
        @if session.operator.require_corrections_role().is_ok() {
            p {
                a class="button" href={ "/desk/corrections/new?player=" (player) } {
                    "Request an adjustment"
                }
            }
        }
        (entries_table(&session, &entries.items))
        (pager(&here, &[], entries.next_cursor.as_deref()))
        h2 { "Passes for tournaments" }
        (passes_table(&session, &passes))
        h2 { "Sign-ins" }
        (sessions(&session.zone, &dossier))
        (devices(&session.zone, &dossier))
        h2 { "Notes" }
        (notes(&session.zone, &dossier))
        @if session.operator.require_moderator().is_ok() {
            form method="post" action={ (here) "/notes" } {
                (session.form_token())
                input type="hidden" name="attempt" value=(entropy::uuid());
                (text_area("words", "Note", "Visible to operators only; notes cannot be changed."))
                button { "Add note" }
            }
        }
        h2 { "Reports by players" }
        (complaints(&session.zone, &named, &dossier))
    };
    Ok(page_with_heading(&session, &dossier.name, heading, body))
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
) -> Result<Redirect, ErrorPage> {
    let by = filled.session.operator.require_moderator()?;
    let NoteForm { attempt, words } = filled.input;
    let words = query::parse_note(&words)?;
    moderation.write_note(&by, PlayerId(player), &words, attempt).await?;
    Ok(Redirect::to(&format!("{HERE}/{player}")))
}

pub(crate) async fn sign_out(
    State(moderation): State<Moderation>,
    Path(player): Path<Uuid>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_moderator()?;
    moderation.end_sessions(&by, PlayerId(player)).await?;
    Ok(Redirect::to(&format!("{HERE}/{player}")))
}

fn summary(
    zone: &HouseZone,
    player: &PlayerDossier,
    sits_at: &Result<Option<TableId>, LobbyError>,
) -> Markup {
    let played = || player.statistics.iter().filter(|statistics| statistics.games > 0);
    let yes = |is: bool| if is { "yes" } else { "no" };
    let sits_at = match sits_at {
        Ok(Some(table)) => html! { a href={ "/desk/tables/" (table) } { (id(table)) } },
        Ok(None) => html! { "no table" },
        Err(_) => badge("bad", "live store does not respond"),
    };
    facts(&[
        ("Id", id(&player.id)),
        ("Created", zone.time(player.created_at)),
        (
            "Deleted",
            html! { @match player.deleted_at { Some(at) => (zone.time(at)), None => "no" } },
        ),
        ("Seated at", sits_at),
        ("Available", coins(player.available)),
        ("Held in games", coins(player.held)),
        (
            "Games",
            html! {
                @if played().next().is_none() { "none settled" }
                @for statistics in played() { p { (statistics_line(statistics)) } }
            },
        ),
        (
            "Sign-in methods",
            html! {
                "devices: " (player.devices.len()) ", password: " (yes(player.has_password))
                ", external accounts: " (player.identities)
            },
        ),
    ])
}

/// Draws a sentence with a player's statistics of one kind of game.
fn statistics_line(statistics: &Statistics) -> Markup {
    html! {
        (statistics.game) ": " (count(statistics.games)) " played, " (count(statistics.wins)) " won, current streak " (statistics.streak)
        ", best streak " (statistics.best_streak) "; POTs " (statistics.hits)
        ", the largest " (coins(statistics.best_pot))
        @for counter in &statistics.counters {
            "; " (counter.title.to_lowercase()) " " (counter.value)
        }
    }
}

fn shared_badge(shared: SharedSignal) -> Markup {
    match shared {
        SharedSignal::Device => badge("bad", "same device"),
        SharedSignal::Address => badge("waiting", "same address"),
    }
}

fn partners_table(named: &NamedPlayers, partners: &[Partner]) -> Markup {
    table_of(
        "Partners in the newest 500 games",
        partners,
        &[
            ("Partner", &|one| named.link(one.player, &one.name)),
            ("#Paid to partner", &|one| coins(one.paid)),
            ("#Received from partner", &|one| coins(one.received)),
            ("#Games together", &|one| html! { (count(one.games)) " of " (count(one.of)) }),
            ("#Games paid in", &|one| count(one.games_paid)),
            ("#Games received in", &|one| count(one.games_received)),
            ("", &|one| {
                html! { @if let Some(shared) = one.shared { (shared_badge(shared)) } }
            }),
        ],
    )
}

fn shared_table(named: &NamedPlayers, shared: &[SharedBy]) -> Markup {
    table_of(
        "Other players with the same device or address",
        shared,
        &[
            ("Player", &|one| named.link(one.player, &one.name)),
            ("", &|one| shared_badge(one.shared)),
        ],
    )
}

/// Draws the passes; those that no entry holds have a link to the request of their revocation.
fn passes_table(session: &OperatorSession, passes: &[TournamentPass]) -> Markup {
    let may_revoke = session.operator.require_corrections_role().is_ok();
    table_of(
        "Passes, unused ones first",
        passes,
        &[
            ("Granted", &|pass| {
                html! {
                    a href={ "/desk/corrections/" (pass.id) } { (session.zone.time(pass.granted_at)) }
                }
            }),
            ("#Pays a buy-in up to", &|pass| coins(pass.buy_in_max)),
            ("State", &|pass| match (pass.used_in, pass.used_at, pass.revoked_at) {
                (Some(tournament), Some(at), _) => html! {
                    "held by an entry of "
                    a href={ "/desk/tournaments/" (tournament) } { "a tournament" }
                    " since " (session.zone.time(at))
                },
                (_, _, Some(at)) => html! { "revoked " (session.zone.time(at)) },
                _ => html! { "unused" },
            }),
            ("", &|pass| {
                let is_unused = pass.used_in.is_none() && pass.revoked_at.is_none();
                html! {
                    @if may_revoke && is_unused {
                        a class="button" href={ "/desk/corrections/new?pass=" (pass.id) } {
                            "Request the revocation"
                        }
                    }
                }
            }),
        ],
    )
}

fn sessions(zone: &HouseZone, dossier: &PlayerDossier) -> Markup {
    let sessions = table_of(
        "Sessions, the newest 50",
        &dossier.sessions,
        &[
            ("Since", &|session| zone.time(session.created_at)),
            ("Last seen", &|session| zone.time(session.last_seen_at)),
            ("Method", &|session| html! { (session.method) }),
            ("Address", &|session| optional_text(session.address.as_deref())),
            ("Client", &|session| optional_text(session.user_agent.as_deref())),
            ("Ended", &|session| {
                html! { @if let Some(at) = session.ended_at { (zone.time(at)) } }
            }),
        ],
    );
    html! {
        (sessions)
        p { "Only the roles support and admin see addresses; each view is recorded in the audit log." }
    }
}

fn optional_text(text: Option<&str>) -> Markup {
    html! { (text.unwrap_or_default()) }
}

fn devices(zone: &HouseZone, dossier: &PlayerDossier) -> Markup {
    table_of(
        "Devices that sign the player in, at most 50",
        &dossier.devices,
        &[
            ("First seen", &|device| zone.time(device.first_seen_at)),
            ("Last seen", &|device| zone.time(device.last_seen_at)),
        ],
    )
}

fn notes(zone: &HouseZone, dossier: &PlayerDossier) -> Markup {
    table_of(
        "Notes, newest first",
        &dossier.notes,
        &[
            ("Written", &|note| zone.time(note.written_at)),
            ("By", &|note| html! { (note.written_by) }),
            ("Note", &|note| html! { (note.words) }),
        ],
    )
}

fn complaints(zone: &HouseZone, named: &NamedPlayers, dossier: &PlayerDossier) -> Markup {
    table_of(
        "Reports, newest first",
        &dossier.complaints,
        &[
            ("Reported", &|one| zone.time(one.created_at)),
            ("Reason", &|one| html! { (one.reason) }),
            ("Description", &|one| optional_text(one.words.as_deref())),
            ("By", &|one| named.name_link(one.reporter)),
            ("Game", &|one| game_link(one.game, "game")),
        ],
    )
}
