//! Banned and muted players.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use bahay::accounts::{Sanction, SanctionKind};
use bahay::clock::{self, Clock};
use bahay::operators::audit::Actor;
use bahay::operators::{Role, Sanctions};
use bahay::ws::protocol::{Message, close};
use bahay_client::{Client, Play};
use reqwest::Method;
use serde_json::{Value, json};

use crate::http::server::{Server, expect_refusal, ok};
use crate::support::db::execute;
use crate::support::house::House;
use crate::support::play::TestPlay as _;
use crate::support::reason;
use crate::support::rest::{items, post_json};
use crate::support::waiting::wait_until;

const DEVICE: &str = "device-0123456789";

fn run_bahay(url: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bahay"));
    command.env_clear().env("DATABASE_URL", url).stdin(Stdio::null());
    command.args(arguments).output().unwrap()
}

#[tokio::test]
async fn a_banned_player_neither_signs_in_nor_sits_down_until_the_ban_ends() {
    let (server, guest) = Server::with_guest(DEVICE).await;
    let node = &server.node;
    let body = json!({ "name": "Maria", "password": "rain on a tin roof" });
    ok(node.set_password(&guest.access_token, DEVICE, &body).await).await;
    let sanctions = Sanctions::new(server.bank.pool.clone(), server.clock.clone());
    let player = guest.id.parse().unwrap();
    let now = server.clock.now();
    let ends_at = Some(clock::add(now, Duration::from_hours(1)));
    let ban = Sanction { reason: reason("collusion at tables"), ends_at };
    sanctions.impose_as(&Actor::COMMAND_LINE, player, SanctionKind::Ban, &ban).await.unwrap();

    let by_device = || node.post("/v1/sign-in/guest", &json!({ "device_id": DEVICE }));
    let by_name = || node.post("/v1/sign-in/password", &body);
    let problem: Value = by_device().send().await.unwrap().json().await.unwrap();
    assert_eq!(problem["code"], "banned");
    assert_eq!(problem["detail"], "banned until 2026-03-01T13:00:00Z: collusion at tables");
    expect_refusal(by_name(), 403, "banned").await;
    let wrong = json!({ "name": "Maria", "password": "wrong password" });
    let wrong = node.post("/v1/sign-in/password", &wrong);
    expect_refusal(wrong, 401, "credentials_wrong").await;
    expect_refusal(node.refresh(&guest.refresh_token), 401, "session_ended").await;
    // This node has not received the end of the session; a seat is refused nevertheless.
    let seat = node.request(Method::POST, "/v1/rooms/newbie/seat");
    expect_refusal(seat.bearer_auth(&guest.access_token), 403, "banned").await;
    let ticket = node.post("/v1/matchmaking/tickets", &json!({ "rooms": ["newbie"] }));
    expect_refusal(ticket.bearer_auth(&guest.access_token), 403, "banned").await;
    let table = node.post("/v1/private-tables", &json!({ "room": "newbie", "bet": 100 }));
    expect_refusal(table.bearer_auth(&guest.access_token), 403, "banned").await;
    let seat = node.request(Method::POST, "/v1/private-tables/K7MWQ2XA/seat");
    expect_refusal(seat.bearer_auth(&guest.access_token), 403, "banned").await;
    // Other players are not affected.
    node.guest("device-9876543210").await;

    server.clock.advance(Duration::from_hours(1));
    ok(by_device()).await;
    let for_good = Sanction { reason: reason("collusion again"), ends_at: None };
    sanctions.impose_as(&Actor::COMMAND_LINE, player, SanctionKind::Ban, &for_good).await.unwrap();
    server.clock.advance(Duration::from_hours(10_000));
    expect_refusal(by_device(), 403, "banned").await;
    sanctions.lift_as(&Actor::COMMAND_LINE, player, SanctionKind::Ban).await.unwrap();
    ok(by_name()).await;
    assert_eq!(sanctions.list(player, SanctionKind::Ban).await.unwrap().len(), 2);
    // The inbox contains notices of it, the newest first.
    let back = ok(by_name()).await;
    let inbox = node.get("/v1/me/notices", back["access_token"].as_str().unwrap());
    let notices = ok(inbox).await["items"].as_array().unwrap().clone();
    let kinds: Vec<_> = notices.iter().map(|notice| notice["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ban_lifted", "banned", "banned"]);
}

/// Returns the codes and texts with which REST and the socket refuse the same request.
async fn collect_refusals(client: &Client, play: &mut Play, number: u32) -> [(String, String); 2] {
    let body = json!({ "rooms": ["newbie"] });
    let problem = post_json(client, "/v1/matchmaking/tickets", &body).await.body;
    let text = |field: &str| problem[field].as_str().unwrap().to_owned();
    let seek = json!({ "type": "seek", "id": number, "rooms": ["newbie"] });
    play.send_text(seek.to_string()).await.unwrap();
    let refusal = loop {
        match play.next_message().await {
            Message::Refusal { id, code, detail, .. } if id == Some(number) => {
                break (code.into_owned(), detail);
            }
            Message::Ack { id, .. } if id == number => panic!("a ticket was issued"),
            _ => {}
        }
    };
    [(text("code"), text("detail")), refusal]
}

/// Bans and closed rooms apply to every way of looking for a table.
#[tokio::test(flavor = "multi_thread")]
async fn the_socket_refuses_a_ticket_as_rest_does() {
    let house = House::new().await;
    let client = house.guest("Benjie").await;
    let mut play = client.play().await.unwrap();
    let owner = house.database.owner_pool().await;
    // The player's sessions continue, so that the ban is the reason for the refusal and not the
    // sign-out.
    let ban = "insert into sanctions (id, player, kind, reason, imposed_at)
        values ($1, $2, 'ban', 'collusion at tables', now())";
    let id = uuid::Uuid::new_v4();
    sqlx::query(ban).bind(id).bind(client.player().0).execute(&owner).await.unwrap();
    let banned = ("banned".to_owned(), "banned for good: collusion at tables".to_owned());
    let refused = collect_refusals(&client, &mut play, 1).await;
    assert_eq!(refused, [banned.clone(), banned]);
    let lift = "update sanctions set lifted_at = now() where id = $1";
    sqlx::query(lift).bind(id).execute(&owner).await.unwrap();

    let close = "update house set is_open = false, reason = 'a test of it', revision = 1";
    execute(&owner, close).await;
    wait_until("the node receives the closing of the house", async || {
        let rooms: Value = client.read("/v1/rooms").await.unwrap();
        rooms["items"][0]["is_open"] == false
    })
    .await;
    let closed = ("room_closed".to_owned(), "this room is closed".to_owned());
    let refused = collect_refusals(&client, &mut play, 2).await;
    assert_eq!(refused, [closed.clone(), closed]);
}

/// The ban is imposed by command while the player is connected.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_bans_and_the_socket_closes() {
    let house = House::new().await;
    let client = house.guest("Benjie").await;
    let mut play = client.play().await.unwrap();
    let player = client.player().to_string();
    let url = house.database.url();
    let done =
        run_bahay(&url, &["ban", "add", &player, "--reason", "collusion at tables", "--days", "7"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let code = play.close_code().await;
    assert_eq!(code, close::SIGNED_OUT);
    let listed = run_bahay(&url, &["ban", "list", &player]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let today = clock::to_jiff(Clock::system().now()).to_string();
    assert!(listed.starts_with(&format!("since {}", &today[..10])), "{listed}");
    assert!(listed.contains("until ") && listed.contains(": collusion"), "{listed}");
    assert!(run_bahay(&url, &["ban", "lift", &player]).status.success());
    let again = run_bahay(&url, &["ban", "lift", &player]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("the player is not banned"));
    let nobody = uuid::Uuid::max().to_string();
    let unknown = run_bahay(&url, &["ban", "add", &nobody, "--reason", "nobody is there"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("there is no such player"));
}

/// The mute is imposed by command while the player stays signed in.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_mutes_and_lifts_the_mute_by_command() {
    let house = House::new().await;
    let client = house.guest("Benjie").await;
    let player = client.player().to_string();
    let url = house.database.url();
    let done = run_bahay(
        &url,
        &["mute", "add", &player, "--reason", "insults at the table", "--days", "7"],
    );
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let listed = run_bahay(&url, &["mute", "list", &player]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("until ") && listed.contains(": insults"), "{listed}");
    assert!(run_bahay(&url, &["ban", "list", &player]).stdout.is_empty());
    assert!(run_bahay(&url, &["mute", "lift", &player]).status.success());
    let again = run_bahay(&url, &["mute", "lift", &player]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("the player is not muted"));
    let notices: Value = client.read("/v1/me/notices").await.unwrap();
    let kinds: Vec<_> = items(&notices).iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["mute_lifted", "muted"]);
    let noted: Vec<(String, String)> =
        sqlx::query_as("select action, channel from audit_entries where subject = $1 order by id")
            .bind(format!("player:{player}"))
            .fetch_all(&house.pool)
            .await
            .unwrap();
    let by_command = |action: &str| (action.to_owned(), "command".to_owned());
    assert_eq!(noted, [by_command("player_mute"), by_command("player_lift_mute")]);
}

#[tokio::test]
async fn bans_and_mutes_are_independent() {
    let server = Server::new().await;
    let token = server.operator("ben", Role::Support).await;
    let guest = server.node.guest(DEVICE).await;
    let at = |what: &str| format!("/v1/operator/players/{}/{what}", guest.id);
    let send = |what: &str| {
        let call = server.node.post(&at(what), &json!({ "reason": "for the test only" }));
        call.bearer_auth(&token).header("Idempotency-Key", uuid::Uuid::new_v4().to_string())
    };
    let lift = |what: &str| {
        let call = server.node.request(Method::POST, &at(&format!("{what}/lifting")));
        call.bearer_auth(&token).header("Idempotency-Key", uuid::Uuid::new_v4().to_string())
    };
    let count = async |what: &str| {
        ok(server.node.get(&at(what), &token)).await["items"].as_array().unwrap().len()
    };
    ok(send("mutes")).await;
    assert_eq!((count("bans").await, count("mutes").await), (0, 1));
    expect_refusal(lift("bans"), 409, "not_banned").await;
    ok(lift("mutes")).await;
    expect_refusal(lift("mutes"), 409, "not_muted").await;
    // The player could sign in all the time.
    ok(server.node.get("/v1/me", &guest.access_token)).await;
    ok(send("bans")).await;
    assert_eq!((count("bans").await, count("mutes").await), (1, 1));
    expect_refusal(server.node.get(&at("fines"), &token), 422, "path_invalid").await;
}
