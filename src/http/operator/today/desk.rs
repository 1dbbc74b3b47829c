//! The current day at a glance: its figures compared with those of other days, by hour and by room,
//! and alarms.

use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use bahay_engine::coins::Coins;
use maud::{Markup, html};

use super::api::count_playing;
use crate::clock::{self, Timestamp};
use crate::http::operator::desk_ui::chart::{Chart, ChartKind, Series};
use crate::http::operator::desk_ui::components::{Column, badge, coins, facts, table, time};
use crate::http::operator::desk_ui::layout::page;
use crate::http::operator::desk_ui::{ErrorPage, OperatorSession};
use crate::http::{Problem, Services, database_problem};
use crate::ids::GameId;
use crate::live_store::PlayingCount;
use crate::reports::{
    Alarms, Figures, Gatherer, Hour, RoomFigures, SlowSettlement, Today, VoidedGame,
};

pub(crate) async fn show_today(
    State(services): State<Services>,
    session: OperatorSession,
) -> Result<Response, ErrorPage> {
    let now = draw_today(&services).await?;
    let body = html! {
        p { button type="button" data-hold="today" aria-pressed="false" hidden { "Pause" } }
        div id="today" data-live="/desk/today/live" data-every-s="15" { (now) }
    };
    Ok(page(&session, "Today", body))
}

/// Returns the live part of the page, for the script to refresh.
pub(crate) async fn refresh(
    State(services): State<Services>,
    _: OperatorSession,
) -> Result<Response, ErrorPage> {
    Ok(Html(draw_today(&services).await?.into_string()).into_response())
}

async fn draw_today(services: &Services) -> Result<Markup, Problem> {
    let Services { reports, standings, clock, .. } = services;
    let today = reports.today(clock.now(), standings.calendar().time_zone()).await;
    Ok(body(&today.map_err(database_problem)?, count_playing(services).await))
}

fn body(today: &Today, playing: Option<PlayingCount>) -> Markup {
    let now = |of: fn(PlayingCount) -> u64| match playing {
        Some(playing) => html! { (of(playing)) },
        None => badge("bad", "live store does not respond"),
    };
    html! {
        p { "From " (time(today.begins_at)) " to " (time(today.at)) ", UTC. Amounts are in coins." }
        (alarms(&today.alarms))
        (alarm_details(&today.alarms))
        h2 { "Now" }
        (facts(&[
            ("Running games", html! { (today.running) }),
            ("Tables in rooms", now(|playing| playing.tables)),
            ("Players at these tables", now(|playing| playing.players)),
            ("In wallets", coins(today.wallets)),
            ("In stakes", coins(today.stakes)),
            ("In POTs", coins(today.pots)),
        ]))
        h2 { "So far, compared with other days up to this time" }
        (comparison(today))
        h2 { "By hour" }
        (games_chart(&today.hours))
        (coins_chart(&today.hours))
        h2 { "By room" }
        (rooms_table(&today.rooms))
    }
}

/// Draws the alarms, each with a link to the page on which it is handled.
fn alarms(alarms: &Alarms) -> Markup {
    let count = |number: i64, words: &str, path: &str| {
        let words = format!("{words}: {number}");
        html! {
            @if number == 0 { (badge("good", &words)) } @else { a href=(path) { (badge("bad", &words)) } }
            " "
        }
    };
    html! {
        p aria-label="Alarms" {
            @match alarms.checked_at {
                Some(at) => {
                    (count(alarms.differences, "differences in the ledger", "/desk/ledger#checks"))
                    "(checked " (time(at)) ") "
                }
                None => { (badge("waiting", "the ledger has not been checked yet")) " " }
            }
            (count(alarms.voided, "games voided", "#voided"))
            (count(alarms.halted, "tables halted", "/desk/tables#halted"))
            (count(alarms.idle_pots, "POTs idle for a day", "/desk/tables#pots"))
            @if alarms.idle_pots > 0 { "(" (coins(alarms.idle_coins)) ") " }
            (count(alarms.slow, "slow settlements", "#slow"))
            @if alarms.slow > 0 { "(at most " (alarms.slowest_ms) " ms) " }
            (count(alarms.gathering, "players who win from new players", "#gathering"))
        }
    }
}

/// Draws the games and players to which the alarms refer.
fn alarm_details(alarms: &Alarms) -> Markup {
    let game = |game: &GameId, at: Timestamp| {
        html! { a href={ "/desk/games/" (game) } { (time(at)) } }
    };
    let voided =
        alarms.newest_voided.iter().map(|VoidedGame { game: id, room, voided_at, reason }| {
            vec![game(id, *voided_at), html! { (room) }, html! { (reason) }]
        });
    let slow =
        alarms.newest_slow.iter().map(|SlowSettlement { game: id, room, finished_at, late_ms }| {
            vec![game(id, *finished_at), html! { (room) }, html! { (late_ms) }]
        });
    let gathering = alarms.gatherers.iter().map(|Gatherer { player, name, day, amount }| {
        let player = html! { a href={ "/desk/players/" (player) } { (name) } };
        vec![player, html! { (day) }, coins(*amount)]
    });
    let gathering_columns =
        [Column::Text("Player"), Column::Text("Day (UTC)"), Column::Number("Won from new players")];
    let voided_columns =
        [Column::Text("Voided (UTC)"), Column::Text("Room"), Column::Text("Reason")];
    let slow_columns =
        [Column::Text("Finished (UTC)"), Column::Text("Room"), Column::Number("Delay (ms)")];
    html! {
        @if alarms.voided > 0 {
            h2 id="voided" { "Games voided" }
            (table("Games voided today, the newest 20", &voided_columns, &voided.collect::<Vec<_>>()))
        }
        @if alarms.gathering > 0 {
            h2 id="gathering" { "Players who win from new players" }
            (table("Won from players created within a week, net of losses to such players, today and yesterday; at most 20",
                &gathering_columns, &gathering.collect::<Vec<_>>()))
        }
        @if alarms.slow > 0 {
            h2 id="slow" { "Slow settlements" }
            (table("Settlements booked late today, the newest 20", &slow_columns,
                &slow.collect::<Vec<_>>()))
        }
    }
}

/// A line of the comparison: its name, and the cell of a day.
type ComparisonLine = (&'static str, fn(&Figures) -> Markup);

const LINES: [ComparisonLine; 11] = [
    ("Games settled", |figures| html! { (figures.settled) }),
    ("Games opened", |figures| html! { (figures.opened) }),
    ("Games voided", |figures| html! { (figures.voided) }),
    ("Settlements reversed", |figures| html! { (figures.reversed) }),
    ("Paid by losers", |figures| coins(figures.sums.payments)),
    ("Fees", |figures| coins(figures.sums.fees)),
    ("Paid into POTs", |figures| coins(figures.sums.antes)),
    ("POTs taken", |figures| html! { (figures.sums.pots_taken) " (" (figures.sums.pots) ")" }),
    ("Issued", |figures| coins(figures.sums.issued)),
    ("Claimed", |figures| coins(figures.sums.claimed)),
    ("Withdrawn", |figures| coins(figures.sums.withdrawn)),
];

fn comparison(today: &Today) -> Markup {
    let columns = [
        Column::Text(""),
        Column::Number("Today"),
        Column::Number("Yesterday"),
        Column::Number("A week ago"),
    ];
    let rows = LINES.map(|(name, of)| {
        vec![html! { (name) }, of(&today.day), of(&today.day_before), of(&today.week_before)]
    });
    table("Bookings", &columns, &rows)
}

fn rooms_table(rooms: &[RoomFigures]) -> Markup {
    let columns = [
        Column::Text("Room"),
        Column::Number("Games settled"),
        Column::Number("Voided"),
        Column::Number("Paid by losers"),
        Column::Number("Fees"),
        Column::Number("Paid into POTs"),
        Column::Number("POTs taken"),
    ];
    let rows: Vec<_> = rooms
        .iter()
        .map(|RoomFigures { room, figures }| {
            let query = serde_urlencoded::to_string([("room", room)]).unwrap_or_default();
            vec![
                html! { a href={ "/desk/settlements?" (query) } { (room) } },
                html! { (figures.settled) },
                html! { (figures.voided) },
                coins(figures.sums.payments),
                coins(figures.sums.fees),
                coins(figures.sums.antes),
                coins(figures.sums.pots),
            ]
        })
        .collect();
    table("Rooms", &columns, &rows)
}

fn labels(hours: &[Hour]) -> Vec<String> {
    let label = |hour: &Hour| clock::to_jiff(hour.begins_at).strftime("%H:%M").to_string();
    hours.iter().map(label).collect()
}

fn series(name: &str, hours: &[Hour], of: impl Fn(&Figures) -> i64) -> Series {
    Series { name: name.to_owned(), values: hours.iter().map(|hour| of(&hour.figures)).collect() }
}

fn games_chart(hours: &[Hour]) -> Markup {
    let chart = Chart {
        title: "Games settled by hour (UTC)",
        kind: ChartKind::Bars,
        labels: labels(hours),
        series: vec![series("Games settled", hours, |figures| figures.settled)],
        text: |value| value.to_string(),
    };
    chart.draw()
}

fn coins_chart(hours: &[Hour]) -> Markup {
    let chart = Chart {
        title: "Fees and coins issued by hour (UTC), in coins",
        kind: ChartKind::Lines,
        labels: labels(hours),
        series: vec![
            series("Fees", hours, |figures| figures.sums.fees.hundredths()),
            series("Issued", hours, |figures| figures.sums.issued.hundredths()),
            series("Claimed", hours, |figures| figures.sums.claimed.hundredths()),
        ],
        text: |value| Coins::from_hundredths(value).to_string(),
    };
    chart.draw()
}
