//! The current day at a glance: its figures compared with those of other days, by hour and by room,
//! and alerts.

use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use bahay_api::operator::today::{BookedFigures, DayAlerts, HourFigures, RoomFigures, TodayReport};
use bahay_desk_ui::chart::{Chart, ChartKind, Series};
use bahay_engine::coins::Coins;
use maud::{Markup, html};

use super::figure_tables::{FigureColumn, draw_figures};
use super::query::load_today;
use crate::clock::Timestamp;
use crate::http::operator::desk_ui::{
    ErrorPage, HouseZone, OperatorSession, badge, coins, count, facts, game_link, group_thousands,
    page, table_of,
};
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Problem, Services};

pub(crate) async fn show_today(
    State(services): State<Services>,
    session: OperatorSession,
) -> Result<Response, ErrorPage> {
    let now = load_body(&services, &session).await?;
    let body = html! {
        p { button type="button" data-hold="today" aria-pressed="false" hidden { "Pause updates" } }
        div id="today" data-live="/desk/today/live" data-every-s="15" { (now) }
    };
    Ok(page(&session, "Today", body))
}

/// Returns the live part of the page, for the script to refresh.
pub(crate) async fn refresh(
    State(services): State<Services>,
    session: OperatorSession,
) -> Result<Response, ErrorPage> {
    Ok(Html(load_body(&services, &session).await?.into_string()).into_response())
}

async fn load_body(services: &Services, session: &OperatorSession) -> Result<Markup, Problem> {
    let today = load_today(services).await?;
    let gatherers = today.alerts.gatherers.iter().map(|gatherer| gatherer.player);
    let named = NamedPlayers::load(services, gatherers).await?;
    Ok(body(session, &named, &today))
}

fn body(session: &OperatorSession, named: &NamedPlayers, today: &TodayReport) -> Markup {
    let zone = &session.zone;
    let now = |playing| match playing {
        Some(playing) => count(playing),
        None => badge("bad", "live store does not respond"),
    };
    html! {
        p { "From " (zone.time(today.begins_at)) " to " (zone.time(today.at)) ". Amounts are in coins." }
        (day_alerts(zone, &today.alerts))
        (alert_details(session, named, &today.alerts))
        h2 { "Now" }
        (facts(&[
            ("Running games", count(today.games_running)),
            ("Tables in rooms", now(today.tables_playing)),
            ("Players at these tables", now(today.players_playing)),
            ("In wallets", coins(today.wallets)),
            ("In stakes", coins(today.stakes)),
            ("In POTs", coins(today.pots)),
        ]))
        h2 { "So far, compared with other days up to this time" }
        (comparison(today))
        p { a href="/desk/today/compare" { "Compare any two days or weeks" } }
        h2 { "By hour" }
        @if let Some(minute) = zone.minute_of_hours(&hour_starts(&today.hours)) {
            p {
                "The books are summed by hours of UTC, which begin " (minute) " minutes past the \
                 hour in the zone " (zone.name()) ". The first hour begins with the day."
            }
        }
        (games_chart(zone, &today.hours))
        (coins_chart(zone, &today.hours))
        h2 { "By room" }
        (rooms_table(session, &today.rooms))
    }
}

/// Draws the alerts, each with a link to the page on which it is handled.
fn day_alerts(zone: &HouseZone, alerts: &DayAlerts) -> Markup {
    let alert = |number: i64, words: &str, path: &str| {
        let words = format!("{words}: {}", group_thousands(&number.to_string()));
        html! {
            @if number == 0 { (badge("good", &words)) } @else { a href=(path) { (badge("bad", &words)) } }
            " "
        }
    };
    html! {
        p aria-label="Alerts of today" {
            @match alerts.ledger_checked_at {
                Some(at) => {
                    (alert(alerts.ledger_differences, "differences in the ledger", "/desk/ledger#checks"))
                    "(checked " (zone.time(at)) ") "
                }
                None => { (badge("waiting", "the ledger has not been checked yet")) " " }
            }
            (alert(alerts.games_voided, "games voided", "#voided"))
            (alert(alerts.tables_halted, "tables halted", "/desk/tables#halted"))
            (alert(alerts.pots_idle, "POTs idle for a day", "/desk/tables#pots"))
            @if alerts.pots_idle > 0 { "(" (coins(alerts.pots_idle_coins)) ") " }
            (alert(alerts.settlements_slow, "slow settlements", "#slow"))
            @if alerts.settlements_slow > 0 { "(at most " (count(alerts.slowest_ms)) " ms) " }
            (alert(alerts.gathering, "players who win from new players", "#gathering"))
            @match alerts.pairs_suspected {
                Some(pairs) => (alert(pairs, "pairs with signs of collusion", "/desk/collusion")),
                None => (badge("waiting", "pairs of players could not be ranked")),
            }
        }
    }
}

/// Draws the games and players to which the alerts refer.
fn alert_details(session: &OperatorSession, named: &NamedPlayers, alerts: &DayAlerts) -> Markup {
    let zone = &session.zone;
    let voided = || {
        table_of(
            "Games voided today, the newest 20",
            &alerts.newest_voided,
            &[
                ("Voided", &|one| game_link(one.game, zone.time(one.voided_at))),
                ("Room", &|one| html! { (session.rooms.title(&one.room)) }),
                ("Reason", &|one| html! { (one.reason) }),
            ],
        )
    };
    let gathering = || {
        table_of(
            "Won from players created within a week, net of losses to such players, today and yesterday; at most 20",
            &alerts.gatherers,
            &[
                ("Player", &|one| named.link(one.player, &one.name)),
                ("Day in UTC", &|one| html! { (one.day) }),
                ("#Won from new players", &|one| coins(one.amount)),
            ],
        )
    };
    let slow = || {
        table_of(
            "Settlements booked late today, the newest 20",
            &alerts.newest_slow,
            &[
                ("Finished", &|one| game_link(one.game, zone.time(one.finished_at))),
                ("Room", &|one| html! { (session.rooms.title(&one.room)) }),
                ("#Delay (ms)", &|one| count(one.late_ms)),
            ],
        )
    };
    html! {
        @if alerts.games_voided > 0 { h2 id="voided" { "Games voided" } (voided()) }
        @if alerts.gathering > 0 { h2 id="gathering" { "Players who win from new players" } (gathering()) }
        @if alerts.settlements_slow > 0 { h2 id="slow" { "Slow settlements" } (slow()) }
    }
}

fn comparison(today: &TodayReport) -> Markup {
    let column = |name, figures| FigureColumn { name, figures, is_difference: false };
    draw_figures(&[
        column("Today", &today.day),
        column("Yesterday", &today.day_before),
        column("A week ago", &today.week_before),
    ])
}

fn rooms_table(session: &OperatorSession, rooms: &[RoomFigures]) -> Markup {
    table_of(
        "Rooms",
        rooms,
        &[
            ("Room", &|RoomFigures { room, .. }| {
                let query = serde_urlencoded::to_string([("room", room)]).unwrap_or_default();
                html! { a href={ "/desk/settlements?" (query) } { (session.rooms.title(room)) } }
            }),
            ("#Fees", &|one| coins(one.figures.fees)),
            ("#Paid by losers", &|one| coins(one.figures.payments)),
            ("#Paid into POTs", &|one| coins(one.figures.antes)),
            ("#POTs taken", &|one| coins(one.figures.pots)),
            ("#Games settled", &|one| count(one.figures.games_settled)),
            ("#Voided", &|one| count(one.figures.games_voided)),
        ],
    )
}

fn labels(zone: &HouseZone, hours: &[HourFigures]) -> Vec<String> {
    zone.label_hours(&hour_starts(hours))
}

fn hour_starts(hours: &[HourFigures]) -> Vec<Timestamp> {
    hours.iter().map(|hour| hour.begins_at.into()).collect()
}

fn series(name: &str, hours: &[HourFigures], of: impl Fn(&BookedFigures) -> i64) -> Series {
    Series { name: name.to_owned(), values: hours.iter().map(|hour| of(&hour.figures)).collect() }
}

fn games_chart(zone: &HouseZone, hours: &[HourFigures]) -> Markup {
    let chart = Chart {
        title: "Games settled by hour",
        kind: ChartKind::Bars,
        labels: labels(zone, hours),
        series: vec![series("Games settled", hours, |figures| figures.games_settled)],
        text: |value| group_thousands(&value.to_string()),
    };
    chart.draw()
}

fn coins_chart(zone: &HouseZone, hours: &[HourFigures]) -> Markup {
    let chart = Chart {
        title: "Fees and coins issued by hour, in coins",
        kind: ChartKind::Lines,
        labels: labels(zone, hours),
        series: vec![
            series("Fees", hours, |figures| figures.fees.hundredths()),
            series("Issued", hours, |figures| figures.issued.hundredths()),
            series("Claimed", hours, |figures| figures.claimed.hundredths()),
        ],
        text: |value| group_thousands(&Coins::from_hundredths(value).to_string()),
    };
    chart.draw()
}
