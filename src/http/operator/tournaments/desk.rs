//! The list of tournaments, one tournament, and the announcement of another one.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::tournaments::{
    OperatedTournament, OperatedTournamentDetail, OperatedTournamentFilter,
};
use bahay_api::player::tournaments::TournamentStanding;
use bahay_engine::catalog;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{Format, Tournament};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::announcement::{FieldError, to_draft};
use super::announcement_form::{AnnouncementForm, label_of};
use super::query;
use super::terms_section::draw_terms;
use crate::entropy;
use crate::http::operator::audit::desk::draw_entries;
use crate::http::operator::desk_ui::{
    ErrorPage, FilterForm, OperatorForm, OperatorSession, badge, coins, count, facts, id, page,
    pager, purpose_title, select, table_of, text_area,
};
use crate::http::operator::ledger::desk::account_link;
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::player::tables::tournaments::list_standings;
use crate::http::{Cursors, PageOf, PageQuery, PageRequest, Path, Problem, Query, Services};
use crate::operators::audit::AuditFilter;
use crate::tournaments::{TournamentDraft, TournamentState};

/// The path of the tournaments at the desk.
pub(super) const HERE: &str = "/desk/tournaments";

/// The number of tournaments, or of players, on one page.
const PAGE: u32 = 50;

/// The number of audit entries on a tournament's page.
const AUDIT_ENTRIES: u32 = 20;

/// The choices of the format, by the names of the terms.
const FORMATS: [(&str, &str); 5] = [
    ("", "All"),
    ("sit_and_go", "Sit-and-go"),
    ("knock_out", "Knock-out"),
    ("arena", "Arena"),
    ("duplicate", "Duplicate"),
];

fn format_title(name: &str) -> &str {
    FORMATS.iter().find(|(format, _)| *format == name).map_or(name, |(_, title)| title)
}

pub(crate) async fn list(
    State(services): State<Services>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(query): FilterForm<PageQuery<OperatedTournamentFilter>>,
) -> Result<Response, ErrorPage> {
    let OperatedTournamentFilter { state, format, kind } = query.filter.clone();
    let state = state.map_or("", TournamentState::as_str);
    let format = format.map_or("", |format| format.as_str());
    let kind = kind.map_or(String::new(), |kind| kind.as_str().to_owned());
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let listed = query::list(&services, &request).await?;
    let mut games = vec![("", "All")];
    games.extend(
        catalog::kinds().iter().filter(|kind| !kind.is_hidden).map(|kind| (kind.name, kind.title)),
    );
    let states = [
        ("", "All"),
        ("announced", "Announced"),
        ("running", "Running"),
        ("ended", "Ended"),
        ("cancelled", "Cancelled"),
    ];
    let conditions = [("state", state), ("format", format), ("kind", &*kind)];
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (select("state", "State", &states, state))
            (select("format", "Format", &FORMATS, format))
            (select("kind", "Game", &games, &kind))
            button { "Show" }
        }
        p {
            @if session.operator.require_administrator().is_ok() {
                a class="button" href={ (HERE) "/new" } { "Announce a tournament" } " "
            }
            a href="/desk/tournament-requests" { "Requests for tournaments" } " · "
            a href="/desk/tournament-schedules" { "Schedules" }
        }
        (draw_list(&session, &listed))
        (pager(HERE, &conditions, listed.next_cursor.as_deref()))
    };
    Ok(page(&session, "Tournaments", body))
}

fn draw_list(session: &OperatorSession, listed: &PageOf<OperatedTournament>) -> Markup {
    table_of(
        "Tournaments, newest first",
        &listed.items,
        &[
            (
                "Name",
                &|one| html! { a href={ (HERE) "/" (one.tournament.id) } { (one.tournament.name) } },
            ),
            (
                "#Pool",
                &|one| html! { @if let Some(pool) = one.pool { (coins(pool)) } @else { "–" } },
            ),
            ("#Guarantee", &|one| coins(one.tournament.guarantee)),
            ("#House's result", &|one| coins(one.house_result)),
            ("State", &draw_state),
            ("Format", &|one| html! { (format_title(&one.tournament.format)) }),
            ("Game", &|one| html! { (catalog::kind_title(&one.tournament.kind)) }),
            ("Start", &|one| match one.tournament.starts_at {
                Some(at) => session.zone.time(at),
                None => html! { "when full" },
            }),
            ("#Entrants", &|one| {
                let entrants = count(one.tournament.entrants);
                html! { (entrants) " of " (count(one.tournament.entrants_max)) }
            }),
        ],
    )
}

/// Draws the state of a tournament.
fn draw_state(one: &OperatedTournament) -> Markup {
    let (kind, text) = match one.tournament.state {
        TournamentState::Announced => ("waiting", "announced"),
        TournamentState::Running => ("good", "running"),
        TournamentState::Ended => ("good", "ended"),
        TournamentState::Cancelled => ("bad", "cancelled"),
    };
    html! {
        (badge(kind, text))
        @if one.is_private { " " (badge("waiting", "private")) }
        @if one.tournament.has_bots { " " (badge("waiting", "with bots")) }
        @if one.is_stuck { " " (badge("bad", "stuck")) }
    }
}

pub(crate) async fn show_tournament(
    State(services): State<Services>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    Path(tournament): Path<Uuid>,
    FilterForm(query): FilterForm<PageQuery>,
) -> Result<Response, ErrorPage> {
    let key = TournamentId(tournament);
    let (detail, value) = query::show_tournament(&services, key).await?;
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let standings = list_standings(&services.tournaments, key, &request, None).await?;
    let named = standings.items.iter().filter(|row| !row.is_bot).map(|row| row.player);
    let seated = detail.tables.iter().flat_map(|table| table.players.iter().copied());
    let named = NamedPlayers::load(&services, named.chain(seated)).await?;
    let audit = draw_audit(&services, &session, tournament).await?;
    let here = format!("{HERE}/{tournament}");
    let is_over = value.phase().is_over();
    let body = html! {
        @if detail.tournament.is_stuck {
            p class="alert" role="status" {
                "A transfer or a table of this tournament has been due for minutes. Look at the alerts and the servers' logs."
            }
        }
        (draw_summary(&detail))
        p {
            a class="button" href={ (here) "/results.jsonl" } download { "List of results" } " "
            a href={ (here) "/collusion" } { "Signs of collusion" }
            @if !is_over && session.operator.require_administrator().is_ok() {
                " " a href={ (here) "/cancellation" } { "Cancel the tournament" }
            }
        }
        h2 { "Terms" }
        (draw_terms(&session.zone, value.terms(), detail.code.as_deref()))
        h2 { "Entrants" }
        (draw_standings(&value, &named, &standings))
        (pager(&here, &[], standings.next_cursor.as_deref()))
        h2 { "Tables" }
        (draw_tables(&named, &detail))
        h2 { "Coins" }
        (draw_coins(key, &detail))
        (audit)
        p { a href=(HERE) { "All tournaments" } }
    };
    Ok(page(&session, &detail.tournament.tournament.name, body))
}

fn draw_summary(detail: &OperatedTournamentDetail) -> Markup {
    let one = &detail.tournament;
    let prizes = html! {
        @for (place, prize) in detail.prizes.iter().take(10).enumerate() {
            @if place > 0 { " · " }
            (coins(*prize))
        }
        @if detail.prizes.len() > 10 { " and " (detail.prizes.len() - 10) " more" }
    };
    let mut properties = vec![
        ("State", draw_state(one)),
        ("Entrants", count(one.tournament.entrants)),
        ("Round", html! { (detail.round) }),
        ("House's result", coins(one.house_result)),
    ];
    properties.extend(one.pool.map(|pool| ("Pool", coins(pool))));
    if !detail.prizes.is_empty() {
        properties.push(("Prizes", prizes));
    }
    match &detail.seed {
        Some(seed) => properties.push(("Seed", id(seed))),
        None => properties.push(("Commitment to the seed", id(&detail.commitment))),
    }
    facts(&properties)
}

fn draw_standings(
    tournament: &Arc<Tournament>,
    named: &NamedPlayers,
    standings: &PageOf<TournamentStanding>,
) -> Markup {
    // The scores of an arena are whole points, the others hundredths or ten-thousandths.
    let is_whole = matches!(tournament.terms().format, Format::Arena { .. });
    let score = |score: i64| {
        if is_whole {
            html! { (score) }
        } else {
            coins(bahay_engine::coins::Coins::from_hundredths(score))
        }
    };
    table_of(
        "Standings",
        &standings.items,
        &[
            ("#Place", &|row| html! { @if let Some(rank) = row.rank { (rank) } @else { "–" } }),
            ("Player", &|row| {
                html! {
                    @if row.is_bot { (row.name) " " (badge("waiting", "bot")) }
                    @else { (named.link(row.player, &row.name)) }
                }
            }),
            ("#Score", &|row| score(row.score)),
            ("#Games", &|row| html! { (row.games) }),
            ("State", &|row| html! { @if row.is_eliminated { "eliminated" } @else { "entered" } }),
        ],
    )
}

fn draw_tables(named: &NamedPlayers, detail: &OperatedTournamentDetail) -> Markup {
    table_of(
        "Tables in play",
        &detail.tables,
        &[
            (
                "Table",
                &|table| html! { a href={ "/desk/tables/" (table.table) } { (id(&table.table)) } },
            ),
            ("#Round", &|table| html! { (table.round) }),
            ("#Number", &|table| html! { (table.number) }),
            ("Players", &|table| {
                html! {
                    @for (seat, player) in table.players.iter().enumerate() {
                        @if seat > 0 { ", " }
                        (named.name_link(*player))
                    }
                }
            }),
        ],
    )
}

fn draw_coins(tournament: TournamentId, detail: &OperatedTournamentDetail) -> Markup {
    html! {
        (table_of("Transfers of the tournament's account, added up", &detail.transfers, &[
            ("Purpose", &|sum| html! {
                @match sum.code.parse() { Ok(code) => (purpose_title(code)), Err(_) => (sum.code) }
            }),
            ("#Coins", &|sum| coins(sum.amount)),
            ("#Transfers", &|sum| count(sum.transfers)),
        ]))
        (facts(&[
            ("Balance", coins(detail.balance)),
            ("Account", account_link(&query::account_code(tournament), "entries in the ledger")),
        ]))
    }
}

/// Draws the newest audit entries about a tournament, for administrators.
async fn draw_audit(
    services: &Services,
    session: &OperatorSession,
    tournament: Uuid,
) -> Result<Markup, Problem> {
    if session.operator.require_administrator().is_err() {
        return Ok(html! {});
    }
    let subject = Some(format!("tournament:{tournament}"));
    let filter = AuditFilter { subject, ..AuditFilter::default() };
    let entries = services.audit.list(&filter, None, AUDIT_ENTRIES).await?;
    Ok(html! {
        h2 { "Audit" }
        (draw_entries(&session.zone, "Acts of operators, newest first", &entries.items))
    })
}

pub(crate) async fn form(
    State(services): State<Services>,
    session: OperatorSession,
    Query(form): Query<AnnouncementForm>,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_administrator()?;
    let now = services.tournaments.now();
    let checked = form.is_filled().then(|| {
        let request = form.to_request(&session.zone)?;
        to_draft(now, request)
    });
    let mut preview = html! {};
    if let Some(Ok(draft)) = &checked {
        let requests = &services.tournament_requests;
        let needs_approval = requests.requires_approval(&by, draft).await?;
        preview = draw_preview(&services, &session, &form, draft, needs_approval);
    }
    let refused = checked.as_ref().and_then(|checked| checked.as_ref().err());
    let body = html! {
        (preview)
        @if let Some(FieldError { field, message }) = refused {
            p class="alert" role="alert" { "Nothing was announced. " (label_of(field)) ": " (message) "." }
        }
        h2 { "Terms of the announcement" }
        form method="get" action={ (HERE) "/new" } {
            (form.draw_fields(refused))
            button class="main" { "Show the tournament in full" }
        }
        p { "Nothing is announced before you have confirmed it." }
    };
    Ok(page(&session, "Announce a tournament", body))
}

/// Draws a tournament in full with the form that confirms it.
fn draw_preview(
    services: &Services,
    session: &OperatorSession,
    form: &AnnouncementForm,
    draft: &TournamentDraft,
    needs_approval: bool,
) -> Markup {
    let above = services.tournament_requests.limit().above();
    let action = if needs_approval { "/desk/tournament-requests" } else { HERE };
    html! {
        h2 { "The tournament in full" }
        (draw_terms(&session.zone, &draft.terms, draft.code.as_deref()))
        form method="post" action=(action) {
            (session.form_token())
            // The idempotency key of the form: a form that is sent twice announces one tournament.
            input type="hidden" name="attempt" value=(entropy::uuid());
            (form.draw_hidden())
            @if needs_approval {
                p {
                    "Guarantees above " (coins(above)) " on one day require the approval of another "
                    "operator."
                }
                (text_area("reason", "Reason", "10 to 500 characters, stored with the request."))
                button class="main" { "Request this tournament" }
            } @else {
                button class="main" { "Announce this tournament" }
            }
        }
    }
}

/// The form that confirms an announcement.
#[derive(Debug, Deserialize)]
pub(crate) struct ConfirmationForm {
    attempt: Uuid,
    #[serde(flatten)]
    announcement: AnnouncementForm,
}

pub(crate) async fn announce(
    State(services): State<Services>,
    OperatorForm { session, input }: OperatorForm<ConfirmationForm>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?;
    let request = input.announcement.to_request(&session.zone).map_err(Problem::from)?;
    let announced = query::announce(&services, &by, input.attempt, request).await?;
    Ok(Redirect::to(&format!("{HERE}/{announced}")))
}
