//! The notice minutes before the start of a tournament: once to each player who has entered, whatever
//! the number of nodes.

use std::time::Duration;

use bahay::operators::Role;
use reqwest::Method;
use serde_json::{Value, json};

use crate::http::server::{Guest, Node, Server, ok, text};
use crate::support::db::{read_rows, read_value};

const MINUTE: Duration = Duration::from_mins(1);

/// Announces a tournament and returns the path of its entries.
async fn announce(server: &Server, admin: &str, terms: Value) -> String {
    let announced = ok(server.post_once(&admin, "/v1/operator/tournaments", &terms)).await;
    format!("/v1/tournaments/{}/entry", text(&announced["id"]))
}

async fn register(server: &Server, entry: &str, guest: &Guest) {
    ok(server.call(Method::PUT, entry, guest).json(&json!({}))).await;
}

/// Runs rounds of both nodes at the same time, and returns the players with a reminder in order, once
/// for each.
async fn run_rounds(server: &Server, nodes: &[&Node]) -> Vec<String> {
    for _ in 0..3 {
        let rounds = nodes.iter().flat_map(|node| [node, node]);
        let rounds = rounds.map(|node| node.tournaments.run_round(false));
        for round in futures_util::future::join_all(rounds).await {
            round.unwrap();
        }
    }
    let reminded = "select n.player::text, t.terms ->> 'name' from notices n
        join tournaments t on t.id = n.tournament
        where n.kind = 'tournament_soon' order by 1";
    let reminded: Vec<(String, String)> = read_rows(&server.bank.pool, reminded).await;
    reminded.into_iter().map(|(player, name)| format!("{player} {name}")).collect()
}

#[tokio::test]
async fn the_players_of_a_scheduled_tournament_are_reminded_once_five_minutes_before() {
    let (server, other) = Server::with_other().await;
    let admin = server.session("ate.luz", Role::Admin).await;
    let guests = server.guests(4).await;
    let mut entries = vec![];
    for preset in ["championship", "arena_hour", "duplicate_30"] {
        let terms = json!({ "preset": preset, "name": preset, "starts_in_s": 600 });
        entries.push(announce(&server, &admin, terms).await);
    }
    let ring = json!({ "preset": "sit_and_go_3", "name": "Ring" });
    register(&server, &announce(&server, &admin, ring).await, &guests[0]).await;
    for entry in &entries {
        register(&server, entry, &guests[0]).await;
    }
    register(&server, &entries[1], &guests[1]).await;
    register(&server, &entries[1], &guests[2]).await;
    ok(server.call(Method::DELETE, &entries[1], &guests[2])).await;
    let nodes = [&server.node, &other];
    server.clock.advance(4 * MINUTE);
    assert_eq!(run_rounds(&server, &nodes).await, Vec::<String>::new(), "it is early");
    server.clock.advance(MINUTE);
    let name = |guest: usize, preset| format!("{} {preset}", guests[guest].id);
    let mut expected = vec![
        name(0, "arena_hour"),
        name(0, "championship"),
        name(0, "duplicate_30"),
        name(1, "arena_hour"),
    ];
    expected.sort();
    let mut reminded = run_rounds(&server, &nodes).await;
    reminded.sort();
    assert_eq!(reminded, expected);
    // Neither a later entrant nor a node that starts now causes another one.
    register(&server, &entries[1], &guests[3]).await;
    let new = server.another_node().await;
    server.clock.advance(MINUTE);
    let mut reminded = run_rounds(&server, &[&server.node, &other, &new]).await;
    reminded.sort();
    assert_eq!(reminded, expected);
    let shown = ok(server.get("/v1/me/notices", &guests[1])).await;
    assert_eq!(shown["items"][0]["kind"], "tournament_soon");
    assert_eq!(shown["items"][0]["tournament_name"], "arena_hour");
    let left = "select count(*) from tournaments t where t.remind_at is not null";
    assert_eq!(read_value::<i64>(&server.bank.pool, left).await, 0);
}

/// A node that dies between the change of the tournament and its commit leaves the reminder to another.
#[tokio::test]
async fn a_reminder_that_a_killed_node_has_begun_is_written_by_another() {
    let (server, guest) = Server::with_guest().await;
    let admin = server.session("ate.luz", Role::Admin).await;
    let arena = json!({ "preset": "arena_hour", "name": "Arena", "starts_in_s": 360 });
    register(&server, &announce(&server, &admin, arena).await, &guest).await;
    server.clock.advance(MINUTE);
    let owner = server.owner_pool().await;
    let mut killed = owner.begin().await.unwrap();
    sqlx::query("update tournaments set remind_at = null").execute(&mut *killed).await.unwrap();
    let round = server.node.tournaments.run_round(false);
    let kill = async {
        let waits = async || crate::support::db::count_waiting(&owner).await > 0;
        crate::support::waiting::wait_until("the other node waits", waits).await;
        killed.rollback().await.unwrap();
    };
    let (round, ()) = tokio::join!(round, kill);
    round.unwrap();
    assert_eq!(run_rounds(&server, &[&server.node]).await, [format!("{} Arena", guest.id)]);
}
