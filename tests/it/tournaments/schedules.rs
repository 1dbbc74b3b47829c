//! Schedules over the API and at the desk: each start is announced once, whatever the number of nodes.

use std::time::Duration;

use bahay::jobs::Jobs;
use bahay::metrics::Metrics;
use bahay::operators::Role;
use bahay::retention::{Retention, RetentionPeriods};
use bahay::verify::hourly::Checks;
use serde_json::{Value, json};

use crate::desk::browser::Browser;
use crate::http::server::{DEVICE, Node, Server, expect_refusal, ok, text};
use crate::support::db::{execute, read_value, read_values};
use crate::support::rest::items;

const PATH: &str = "/v1/operator/tournament-schedules";

/// Returns a schedule of an arena every day at 20:00 and 20:30, announced a day before.
fn every_evening() -> Value {
    json!({
        "tournament": {
            "preset": "arena_hour", "name": "Evening", "buy_in": 500, "guarantee": 10_000,
            "late_registration_s": 600
        },
        "days": ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
        "times": ["20:30", "20:00"],
        "announce_before_s": 86_400
    })
}

/// Returns the starts of the tournaments in order.
async fn starts(server: &Server) -> Vec<i64> {
    let starts = "select (t.terms ->> 'starts_at')::bigint from tournaments t order by 1";
    read_values(&server.bank.pool, starts).await
}

#[tokio::test]
async fn two_nodes_announce_each_start_of_a_schedule_once() {
    let (server, other) = Server::with_other().await;
    let admin = server.session("ate.luz", Role::Admin).await;
    let created = ok(server.post_once(&admin, PATH, &every_evening())).await;
    assert_eq!(created["times"], json!(["20:00", "20:30"]));
    let pool = &server.bank.pool;
    let nodes = [&server.node.schedules, &other.schedules];
    // It is 20:00 in Manila: 20:30 of the day is left, and 20:00 of the next day is announced.
    for _ in 0..3 {
        let [first, second] = nodes;
        let (one, two, three) =
            tokio::join!(first.announce_due(), second.announce_due(), first.announce_due());
        for round in [one, two, three] {
            round.unwrap();
        }
    }
    let now = server.clock.now().ms();
    let half_an_hour = 1_800_000;
    let expected = [now + half_an_hour, now + 48 * half_an_hour];
    assert_eq!(starts(&server).await, expected);
    server.clock.advance(Duration::from_mins(30));
    nodes[0].announce_due().await.unwrap();
    assert_eq!(starts(&server).await.len(), 3);
    let late = "select (t.terms ->> 'late_registration_ms')::bigint from tournaments t limit 1";
    assert_eq!(read_value::<i64>(pool, late).await, 600_000);
}

/// Returns the jobs of a node, with the announcement of tournaments.
fn jobs_of(server: &Server, node: &Node) -> Jobs {
    let pool = &server.bank.pool;
    let metrics = Metrics::default();
    let checks = Checks::new(pool.clone(), Duration::from_hours(1), &metrics);
    let periods = RetentionPeriods::default();
    let retention = Retention::new(pool.clone(), server.clock.clone(), periods);
    Jobs::new(pool.clone(), &metrics, &retention, &checks, None).with_schedules(&node.schedules)
}

#[tokio::test]
async fn the_jobs_of_two_nodes_announce_the_next_tournament_once() {
    let (server, other) = Server::with_other().await;
    let admin = server.session("ate.luz", Role::Admin).await;
    let created = ok(server.post_once(&admin, PATH, &every_evening())).await;
    let pool = &server.bank.pool;
    let nodes = [jobs_of(&server, &server.node), jobs_of(&server, &other)];
    for round in 0..3 {
        let (one, two) = tokio::join!(nodes[0].run_jobs(), nodes[1].run_jobs());
        assert!(round > 0 || one.unwrap() + two.unwrap() > 0);
        assert_eq!(starts(&server).await.len(), 2);
        // The next period of every job.
        execute(pool, "update jobs set run_at = now()").await;
    }
    server.clock.advance(Duration::from_mins(30));
    let (one, two) = tokio::join!(nodes[1].run_jobs(), nodes[0].run_jobs());
    assert!(one.unwrap() + two.unwrap() > 0);
    assert_eq!(starts(&server).await.len(), 3);
    let dead = "select count(*) from jobs where died_at is not null or attempts > 0";
    assert_eq!(read_value::<i64>(pool, dead).await, 0);
    // Each start has one tournament, which the players find.
    let announced = "select count(*) from tournament_starts s
        join tournaments t on t.id = s.tournament and t.state = 'announced'";
    assert_eq!(read_value::<i64>(pool, announced).await, 3);
    let guest = server.guest(DEVICE).await;
    let listed = ok(server.get("/v1/tournaments", &guest)).await;
    assert_eq!(items(&listed).len(), 3);
    assert!(items(&listed).iter().any(|one| one["starts_at"] == created["next_start"]));
}

#[tokio::test]
async fn a_schedule_is_paused_resumed_and_deleted() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let admin = luz.create_token().await;
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut body = every_evening();
        change(&mut body);
        server.post_once(&admin, PATH, &body)
    };
    let large = refused(&|body| body["tournament"]["guarantee"] = json!(1_000_001));
    expect_refusal(large, 409, "tournament_approval_required").await;
    for change in [
        (&|body: &mut Value| body["tournament"]["preset"] = json!("sit_and_go_3"))
            as &dyn Fn(&mut Value),
        &|body| body["tournament"]["starts_in_s"] = json!(60),
        &|body| body["times"] = json!(["24:00"]),
        &|body| body["days"] = json!([]),
    ] {
        expect_refusal(refused(change), 422, "tournament_unsound").await;
    }
    let new = "/desk/tournament-schedules/new";
    let query = "preset=arena_hour&name=Evening&game=tongits/kingdom&times=20:00+20:30&before=24&days=sun,mon";
    let shown = luz.load(&format!("{new}?{query}")).await;
    shown.shows("Create this schedule").shows("20:00, 20:30");
    luz.load(&format!("{new}?{query}x")).await.shows("a day is as in friday");
    let attempt = uuid::Uuid::now_v7().to_string();
    let fields = [
        ("attempt", &*attempt),
        ("preset", "arena_hour"),
        ("name", "Evening"),
        ("game", "tongits/kingdom"),
        ("times", "20:00 20:30"),
        ("before", "24"),
    ];
    let list = "/desk/tournament-schedules";
    for _ in 0..2 {
        luz.send(new, list, &fields).await.expect_redirect(list);
    }
    luz.load(list).await.shows("every day").shows("active");
    let listed = ok(server.get(PATH, &admin)).await;
    let [schedule] = items(&listed).as_slice() else { panic!("one schedule: {listed}") };
    let id = text(&schedule["id"]);
    assert!(schedule["next_start"].is_string());
    luz.send(list, &format!("{list}/{id}/pause"), &[]).await.expect_redirect(list);
    server.node.schedules.announce_due().await.unwrap();
    assert_eq!(starts(&server).await.len(), 0);
    let path = |change: &str| format!("{PATH}/{id}/{change}");
    ok(server.post_once(&admin, &path("resumption"), &json!({}))).await;
    server.node.schedules.announce_due().await.unwrap();
    assert_eq!(starts(&server).await.len(), 2);
    luz.send(list, &format!("{list}/{id}/deletion"), &[]).await.expect_redirect(list);
    server.clock.advance(Duration::from_hours(24));
    server.node.schedules.announce_due().await.unwrap();
    assert_eq!(starts(&server).await.len(), 2, "announced tournaments stay, others do not follow");
    let gone = server.post_once(&admin, &path("pause"), &json!({}));
    expect_refusal(gone, 404, "tournament_schedule_not_found").await;
}
