//! The limit of the guarantees that one operator announces on a day of the house: small ones add up,
//! and schedules count.

use std::time::Duration;

use bahay::operators::Role;
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::desk::browser::Browser;
use crate::http::server::{REASON, Server, answer_all, count_successes, expect_refusal, ok, text};
use crate::support::db::{read_rows, read_value};
use crate::support::house::TOURNAMENT_APPROVAL_ABOVE;

const PATH: &str = "/v1/operator/tournaments";
const SCHEDULES: &str = "/v1/operator/tournament-schedules";
const REFUSAL: (u16, &str) = (409, "tournament_approval_required");

/// Half of the limit of a day, in hundredths.
const HALF: i64 = TOURNAMENT_APPROVAL_ABOVE.hundredths() / 2;

fn ring(guarantee: i64) -> Value {
    json!({ "preset": "sit_and_go_3", "name": "Ring", "buy_in": 500, "guarantee": guarantee })
}

fn announce(server: &Server, by: &str, guarantee: i64) -> RequestBuilder {
    server.post_once(by, PATH, &ring(guarantee))
}

/// Requests a schedule of one arena on each of these days, announced at most this time before.
fn schedule(
    server: &Server,
    by: &str,
    days: &[&str],
    guarantee: i64,
    announce_before_s: u32,
) -> RequestBuilder {
    let body = json!({
        "tournament": { "preset": "arena_hour", "name": "Evening", "guarantee": guarantee },
        "days": days, "times": ["20:30"], "announce_before_s": announce_before_s
    });
    server.post_once(by, SCHEDULES, &body)
}

#[tokio::test]
async fn the_guarantees_of_an_operator_add_up_on_a_day_of_the_house() {
    let server = Server::new().await;
    let luz = server.session("ate.luz", Role::Admin).await;
    let ben = server.session("kuya.ben", Role::Admin).await;
    let (status, code) = REFUSAL;
    ok(announce(&server, &luz, HALF)).await;
    ok(announce(&server, &luz, HALF - 1)).await;
    expect_refusal(announce(&server, &luz, 2), status, code).await;
    // What is left, and tournaments without a guarantee, are announced.
    ok(announce(&server, &luz, 1)).await;
    ok(announce(&server, &luz, 0)).await;
    expect_refusal(announce(&server, &luz, 1), status, code).await;
    // Each operator has a limit, and an approved tournament does not count for either.
    let request = json!({ "tournament": ring(HALF * 4), "reason": REASON });
    let requests = "/v1/operator/tournament-requests";
    let requested = ok(server.post_once(&luz, requests, &request)).await;
    let approval = format!("{requests}/{}/approval", text(&requested["id"]));
    ok(server.post_once(&ben, &approval, &json!({}))).await;
    ok(announce(&server, &ben, HALF * 2)).await;
    // It is 20:00 in Manila: the next day begins in four hours.
    server.clock.advance(Duration::from_mins(4 * 60 - 1));
    let ben = server.session("kuya.jun", Role::Admin).await;
    ok(announce(&server, &ben, HALF * 2)).await;
    server.clock.advance(Duration::from_mins(1));
    ok(announce(&server, &ben, HALF * 2)).await;
    expect_refusal(announce(&server, &ben, 1), status, code).await;
    let sums = "select count(*) from tournament_guarantees";
    assert_eq!(read_value::<i64>(&server.bank.pool, sums).await, 6);
}

#[tokio::test]
async fn concurrent_announcements_are_counted_one_after_the_other() {
    let (server, other) = Server::with_other().await;
    let luz = server.session("ate.luz", Role::Admin).await;
    let (status, code) = REFUSAL;
    let calls = (0..6).map(|number| {
        let node = server.alternate(&other, number);
        node.post_once(&luz, PATH, &ring(HALF))
    });
    let answers = answer_all(201, calls).await;
    assert_eq!(count_successes("announcements", answers, status, code), 2);
    let announced = "select count(*) from tournaments";
    assert_eq!(read_value::<i64>(&server.bank.pool, announced).await, 2);
}

#[tokio::test]
async fn the_desk_offers_a_request_once_the_day_is_used_up() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let new = |guarantee: &str| {
        format!(
            "/desk/tournaments/new?preset=sit_and_go_3&name=Ring&game=tongits/kingdom\
             &guarantee={guarantee}&bots=yes&bots_after=90"
        )
    };
    let shown = luz.load(&new("6000")).await;
    shown.shows("Announce this tournament").shows("when its first player has waited 1 min 30 s");
    let token = luz.create_token().await;
    ok(announce(&server, &token, HALF)).await;
    luz.load(&new("6000")).await.shows("Request this tournament").hides("Announce this tournament");
    luz.load(&new("5000")).await.shows("Announce this tournament");
}

#[tokio::test]
async fn a_schedule_counts_for_its_operator_and_its_announcements_are_audited() {
    let server = Server::new().await;
    let luz = server.session("ate.luz", Role::Admin).await;
    let (status, code) = REFUSAL;
    let create =
        |days: &'static [&'static str], guarantee| schedule(&server, &luz, days, guarantee, 86_400);
    expect_refusal(create(&["monday"], HALF * 2 + 1), status, code).await;
    let created = ok(create(&["sunday", "monday"], HALF)).await;
    ok(create(&["tuesday"], HALF * 2)).await;
    // Monday is full with another half.
    expect_refusal(create(&["wednesday", "monday"], HALF + 1), status, code).await;
    // Tuesday leaves nothing to direct announcements.
    expect_refusal(announce(&server, &luz, 1), status, code).await;
    // It is Sunday, 20:00: the evening is announced.
    server.node.schedules.announce_due().await.unwrap();
    let entries =
        "select o.name, a.channel, a.subject = 'tournament:' || t.id, a.detail ->> 'schedule',
            (a.detail ->> 'guarantee')::bigint
        from audit_entries a
        join operators o on o.id = a.operator
        join tournaments t on a.subject = 'tournament:' || t.id
        where a.action = 'tournament_announce' order by a.id";
    let entries: Vec<(String, String, bool, String, i64)> =
        read_rows(&server.bank.pool, entries).await;
    let expected = ("ate.luz".to_owned(), "schedule".to_owned(), true, text(&created["id"]), HALF);
    assert_eq!(entries, [expected]);
    // A repeated run announces and records nothing.
    server.node.schedules.announce_due().await.unwrap();
    let count = "select count(*) from audit_entries a where a.channel = 'schedule'";
    assert_eq!(read_value::<i64>(&server.bank.pool, count).await, 1);
}

/// A schedule that announces weeks before its starts would use the limits of many days at once.
#[tokio::test]
async fn starts_beyond_the_limit_of_a_day_are_announced_on_the_next() {
    let (server, other) = Server::with_other().await;
    let luz = server.session("ate.luz", Role::Admin).await;
    let week = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    ok(schedule(&server, &luz, &week, HALF, 7 * 86_400)).await;
    let announced = "select count(*) from tournaments";
    for day in 1..=3 {
        for _ in 0..2 {
            let nodes = [&server.node, &other].map(|node| node.schedules.announce_due());
            for round in futures_util::future::join_all(nodes).await {
                round.unwrap();
            }
        }
        assert_eq!(read_value::<i64>(&server.bank.pool, announced).await, 2 * day);
        server.clock.advance(Duration::from_hours(24));
    }
}
