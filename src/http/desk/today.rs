//! The day at a glance: what it has brought beside other days, by hour and by room, and what asks
//! for somebody.

use axum::extract::State;
use axum::response::Response;
use bahay_engine::coins::Coins;
use maud::{Markup, html};

use super::chart::{Chart, Series, Shape};
use super::parts::{Column, badge, coins, facts, table, time};
use super::shell::page;
use super::{Refused, Seat};
use crate::clock;
use crate::http::operators::today::playing;
use crate::http::{Services, unread};
use crate::live::Playing;
use crate::reports::{Alarms, Figures, Hour, Reports, RoomFigures, Today};
use crate::standings::Standings;

pub(super) async fn show(
    State(reports): State<Reports>,
    State(standings): State<Standings>,
    State(services): State<Services>,
    seat: Seat,
) -> Result<Response, Refused> {
    let zone = standings.calendar().time_zone();
    let today = reports.today(services.clock.now(), zone).await.map_err(unread)?;
    Ok(page(&seat, "Today", body(&today, playing(&services).await)))
}

fn body(today: &Today, playing: Option<Playing>) -> Markup {
    let now = |of: fn(Playing) -> u64| match playing {
        Some(playing) => html! { (of(playing)) },
        None => badge("bad", "live state does not answer"),
    };
    html! {
        p { "From " (time(today.begins_at)) " to " (time(today.at)) ", UTC. Amounts are in coins." }
        (alarms(&today.alarms))
        h2 { "Now" }
        (facts(&[
            ("Tables in rooms", now(|playing| playing.tables)),
            ("Players at them", now(|playing| playing.players)),
            ("In wallets", coins(today.wallets)),
            ("In stakes", coins(today.stakes)),
            ("In POTs", coins(today.pots)),
        ]))
        h2 { "So far, beside other days up to this time" }
        (beside(today))
        h2 { "By hour" }
        (games_chart(&today.hours))
        (coins_chart(&today.hours))
        h2 { "By room" }
        (by_room(&today.rooms))
    }
}

fn alarms(alarms: &Alarms) -> Markup {
    let count = |number: i64, words: &str| {
        let kind = if number == 0 { "good" } else { "bad" };
        html! { (badge(kind, &format!("{number} {words}"))) " " }
    };
    html! {
        p aria-label="Alarms" {
            @match alarms.checked_at {
                Some(at) => {
                    (count(alarms.differences, "differences in the ledger"))
                    "(checked " (time(at)) ") "
                }
                None => (badge("waiting", "the ledger was not checked yet"))
            }
            (count(alarms.voided, "games voided"))
            (count(alarms.halted, "tables halted"))
            (count(alarms.idle_pots, "POTs idle for a day"))
            @if alarms.idle_pots > 0 { "(" (coins(alarms.idle_coins)) ") " }
            (count(alarms.slow, "slow settlements"))
            @if alarms.slow > 0 { "(at most " (alarms.slowest_ms) " ms)" }
        }
    }
}

/// A line of the comparison, and what it is of a day.
type Line = (&'static str, fn(&Figures) -> Markup);

const LINES: [Line; 10] = [
    ("Games settled", |figures| html! { (figures.settled) }),
    ("Games opened", |figures| html! { (figures.opened) }),
    ("Games voided", |figures| html! { (figures.voided) }),
    ("Paid by losers", |figures| coins(figures.sums.payments)),
    ("Fees", |figures| coins(figures.sums.fees)),
    ("Paid into POTs", |figures| coins(figures.sums.antes)),
    ("POTs taken", |figures| html! { (figures.sums.pots_taken) " (" (figures.sums.pots) ")" }),
    ("Issued", |figures| coins(figures.sums.issued)),
    ("Claimed of it", |figures| coins(figures.sums.claimed)),
    ("Withdrawn", |figures| coins(figures.sums.withdrawn)),
];

fn beside(today: &Today) -> Markup {
    let columns = [
        Column::Text(""),
        Column::Number("Today"),
        Column::Number("Yesterday"),
        Column::Number("A week ago"),
    ];
    let rows = LINES.map(|(name, of)| {
        vec![html! { (name) }, of(&today.day), of(&today.day_before), of(&today.week_before)]
    });
    table("What was booked", &columns, &rows)
}

fn by_room(rooms: &[RoomFigures]) -> Markup {
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
        shape: Shape::Bars,
        labels: labels(hours),
        series: vec![series("Games settled", hours, |figures| figures.settled)],
        text: |value| value.to_string(),
    };
    chart.draw()
}

fn coins_chart(hours: &[Hour]) -> Markup {
    let chart = Chart {
        title: "Fees and coins issued by hour (UTC), in coins",
        shape: Shape::Lines,
        labels: labels(hours),
        series: vec![
            series("Fees", hours, |figures| figures.sums.fees.hundredths()),
            series("Issued", hours, |figures| figures.sums.issued.hundredths()),
        ],
        text: |value| Coins::from_hundredths(value).to_string(),
    };
    chart.draw()
}
