//! Pairs of players by signs of collusion: the ranking of a period, and a pair with its games and
//! the form that reviews it.

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::Coins;
use bahay_api::operator::collusion::{
    PairFilter, PairGame, PairPeriod, PairReport, PairSign, PairState, ReviewPair, ScoredPair,
};
use bahay_api::operator::players::PlayerMatch;
use maud::{Markup, html};
use uuid::Uuid;

use super::query;
use crate::http::operator::desk_ui::{
    ErrorPage, FilterForm, HouseZone, OperatorForm, OperatorSession, SearchForm, badge, coins,
    count, facts, game_link, page, pager, select, table_of,
};
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Cursors, PageQuery, PageRequest, Path, Services};

const HERE: &str = "/desk/collusion";

/// The number of pairs on one page.
const PAGE: u32 = 50;

/// The choices of the state, the first of which is the default.
const STATES: [(&str, &str); 3] = [("open", "Open"), ("reviewed", "Reviewed"), ("all", "All")];

pub(crate) async fn list(
    State(services): State<Services>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let chosen = match form.value("state") {
        "" => PairState::Open.as_str(),
        other => other,
    };
    // The API lists pairs of every state without the field.
    let asked = if chosen == "all" { "" } else { chosen };
    let conditions = form.replace_fields(&[("state", asked)]);
    let mut query: PageQuery<PairFilter> = conditions.to_query(&session.zone)?;
    query.cursor = Some(form.value("cursor").to_owned()).filter(|cursor| !cursor.is_empty());
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let listed = query::list(&services, &request).await?;
    let named = NamedPlayers::load(&services, listed.items.iter().flat_map(players_of)).await?;
    let now = services.clock.now();
    let PairFilter { from, to, .. } = request.filter;
    let days = query::read_days(&services, from, to)?;
    let alert_score = services.pairs.alert_score();
    let body = html! {
        p {
            "Games from " (days.first) " to " (days.last) ". A score adds up the points of the signs; "
            "from " (alert_score) " points on an open pair is an alert. Signs are no proof: friends meet, and "
            "families share a phone."
        }
        form class="filter" method="get" action=(HERE) {
            (form.period_fields())
            (select("state", "State", &STATES, chosen))
            button { "Show" }
        }
        (form.period_links(HERE, &session.zone, now, None))
        (pairs_table(&form, &named, &listed.items, alert_score))
        (pager(HERE, &form.conditions(), listed.next_cursor.as_deref()))
    };
    Ok(page(&session, "Collusion", body))
}

fn pairs_table(
    form: &SearchForm,
    named: &NamedPlayers,
    pairs: &[ScoredPair],
    alert_score: i64,
) -> Markup {
    let period = form.replace_fields(&[("state", "")]);
    table_of(
        "Pairs of players, highest score first",
        pairs,
        &[
            ("#Score", &|pair| {
                let kind = if pair.score >= alert_score { "bad" } else { "waiting" };
                html! { a href=(period.to_url(&path_of(pair))) { (badge(kind, &pair.score.to_string())) } }
            }),
            ("Players", &|pair| players(named, pair)),
            ("Signs", &|pair| signs(&pair.signs)),
            ("Games", &|pair| {
                html! { a href=(period.to_url(&path_of(pair))) { (count(pair.games)) " games" } }
            }),
            ("Review", &|pair| review_cell(pair)),
        ],
    )
}

fn path_of(pair: &ScoredPair) -> String {
    format!("{HERE}/{}/{}", pair.first.id, pair.second.id)
}

fn players_of(pair: &ScoredPair) -> [Uuid; 2] {
    [pair.first.id, pair.second.id]
}

fn players(named: &NamedPlayers, pair: &ScoredPair) -> Markup {
    let link = |player: &PlayerMatch| named.link(player.id, &player.name);
    html! { (link(&pair.first)) " and " (link(&pair.second)) }
}

fn signs(signs: &[PairSign]) -> Markup {
    html! {
        @if signs.is_empty() { "none" }
        @for (number, sign) in signs.iter().enumerate() {
            @if number > 0 { "; " }
            (sign.words) " (" (sign.points) ")"
        }
    }
}

fn review_cell(pair: &ScoredPair) -> Markup {
    html! {
        @if let Some(review) = &pair.review {
            @if pair.state == PairState::Open { (badge("waiting", "raised since")) " " }
            (review.reviewed_by) " at " (review.score) ": " (review.reason)
        }
    }
}

pub(crate) async fn show_pair(
    State(services): State<Services>,
    session: OperatorSession,
    Path((first, second)): Path<(Uuid, Uuid)>,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let here = format!("{HERE}/{first}/{second}");
    let period: PairPeriod = form.to_query(&session.zone)?.filter;
    let report = query::load_report(&services, [first, second], period).await?;
    let named = NamedPlayers::load(&services, players_of(&report.pair)).await?;
    let days = query::read_days(&services, period.from, period.to)?;
    let title = format!("{} and {}", report.pair.first.name, report.pair.second.name);
    let body = html! {
        p { "Games from " (days.first) " to " (days.last) ". Signs are no proof." }
        form class="filter" method="get" action=(here) {
            (form.period_fields())
            button { "Show" }
        }
        (form.period_links(&here, &session.zone, services.clock.now(), None))
        (summary(&session.zone, &named, &report.pair))
        @if session.operator.require_moderator().is_ok() { (review_form(&session, &here)) }
        h2 { "Games together" }
        (games_table(&session, &report))
    };
    Ok(page(&session, &title, body))
}

fn summary(zone: &HouseZone, named: &NamedPlayers, pair: &ScoredPair) -> Markup {
    let tenths = pair.net_transfer_thousandths / 100;
    facts(&[
        ("Score", html! { (pair.score) }),
        ("Players", players(named, pair)),
        ("Signs", signs(&pair.signs)),
        (
            "Games together",
            html! { (count(pair.games)) " of the " (count(pair.of)) " games of the one who played fewer" },
        ),
        (
            "Paid by the first",
            html! { (coins(pair.paid)) ", the larger part in " (pair.games_paid) " games" },
        ),
        (
            "Paid by the second",
            html! { (coins(pair.received)) ", the larger part in " (pair.games_received) " games" },
        ),
        (
            "Net transfer",
            html! { (tenths / 10) "." (tenths % 10) " times the deviation by chance" },
        ),
        (
            "Review",
            html! {
                @match &pair.review {
                    Some(review) => { (zone.time(review.reviewed_at)) " by " (review_cell(pair)) }
                    None => "none",
                }
            },
        ),
    ])
}

fn review_form(session: &OperatorSession, here: &str) -> Markup {
    html! {
        form class="inline" method="post" action={ (here) "/review" } {
            (session.form_token())
            input name="reason" required autocomplete="off" aria-label="Reason, 10 to 500 characters"
                placeholder="Reason, 10 to 500 characters";
            button { "Mark as reviewed" }
        }
        p { "A reviewed pair is hidden until new games raise its score. The review is recorded in the audit log." }
    }
}

fn games_table(session: &OperatorSession, report: &PairReport) -> Markup {
    let zone = &session.zone;
    let first = format!("#Paid by {}", report.pair.first.name);
    let second = format!("#Paid by {}", report.pair.second.name);
    let paid = |game: &PairGame, amount: Coins| {
        html! {
            @if game.is_reversed { (badge("waiting", "reversed")) " " }
            (coins(amount))
        }
    };
    table_of(
        "Games together, the newest 100",
        &report.games,
        &[
            ("Finished", &|game| game_link(game.game, zone.time(game.finished_at))),
            (first.as_str(), &|game| paid(game, game.paid)),
            (second.as_str(), &|game| paid(game, game.received)),
            ("Room", &|game| html! { (session.rooms.title(&game.room)) }),
        ],
    )
}

pub(crate) async fn review(
    State(services): State<Services>,
    Path((first, second)): Path<(Uuid, Uuid)>,
    OperatorForm { session, input }: OperatorForm<ReviewPair>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_moderator()?;
    let ReviewPair { reason } = input;
    query::review(&services, &by, [first, second], &reason).await?;
    Ok(Redirect::to(HERE))
}
