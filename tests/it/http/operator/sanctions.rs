//! Banned and muted players.

use std::time::Duration;

use bahay::accounts::{Sanction, SanctionKind};
use bahay::clock::{self, Clock};
use bahay::operators::audit::Actor;
use bahay::operators::{Role, Sanctions};
use bahay::ws::protocol::{Command, close};
use bahay_client_tokio::{Client, Play, PlayError};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::desk::browser::Browser;
use crate::http::server::{
    DEVICE, Guest, OTHER_DEVICE, PASSWORD, REASON, Server, expect_refusal, list_players, ok,
    status_of, text,
};
use crate::support::bank::{PotGoes, table};
use crate::support::checks::{count_reports, count_standings};
use crate::support::db::{execute, read_rows, read_values};
use crate::support::house::House;
use crate::support::play::TestPlay as _;
use crate::support::process::run_bahay;
use crate::support::reason;
use crate::support::rest::{assert_fields, items, post_json};
use crate::support::waiting::wait_until;

#[tokio::test]
async fn a_banned_player_neither_signs_in_nor_sits_down_until_the_ban_ends() {
    let (server, guest) = Server::with_guest().await;
    let body = json!({ "name": "Maria", "password": PASSWORD });
    ok(server.set_password(&guest, DEVICE, "Maria", PASSWORD).await).await;
    let sanctions = Sanctions::new(server.bank.pool.clone(), server.clock.clone());
    let player = guest.player();
    let impose = async |why: &str, ends_at| {
        let ban = Sanction { reason: reason(why), ends_at };
        let imposed = sanctions.impose_as(&Actor::COMMAND_LINE, player, SanctionKind::Ban, &ban);
        imposed.await.unwrap();
    };
    let in_an_hour = clock::add(server.clock.now(), Duration::from_hours(1));
    impose("collusion at tables", Some(in_an_hour)).await;

    let by_device = || server.post("/v1/sign-in/guest", &json!({ "device_id": DEVICE }));
    let by_name = || server.post("/v1/sign-in/password", &body);
    let problem: Value = by_device().send().await.unwrap().json().await.unwrap();
    let detail = "banned until 2026-03-01T13:00:00Z: collusion at tables";
    assert_fields(&problem, json!({ "code": "banned", "detail": detail }));
    expect_refusal(by_name(), 403, "banned").await;
    let wrong = json!({ "name": "Maria", "password": "wrong password" });
    expect_refusal(server.post("/v1/sign-in/password", &wrong), 401, "credentials_wrong").await;
    expect_refusal(server.refresh(&guest.refresh_token), 401, "session_ended").await;
    // This node has not received the end of the session; a seat is refused nevertheless.
    expect_refusal(server.call(Method::POST, "/v1/rooms/newbie/seat", &guest), 403, "banned").await;
    let ticket = server.post_by(&guest, "/v1/matchmaking/tickets", &json!({ "rooms": ["newbie"] }));
    expect_refusal(ticket, 403, "banned").await;
    let table =
        server.post_by(&guest, "/v1/private-tables", &json!({ "room": "newbie", "bet": 100 }));
    expect_refusal(table, 403, "banned").await;
    let seat = server.call(Method::POST, "/v1/private-tables/K7MWQ2XA/seat", &guest);
    expect_refusal(seat, 403, "banned").await;
    // Other players are not affected.
    server.guest(OTHER_DEVICE).await;

    server.clock.advance(Duration::from_hours(1));
    ok(by_device()).await;
    impose("collusion again", None).await;
    server.clock.advance(Duration::from_hours(10_000));
    expect_refusal(by_device(), 403, "banned").await;
    sanctions.lift_as(&Actor::COMMAND_LINE, player, SanctionKind::Ban).await.unwrap();
    ok(by_name()).await;
    assert_eq!(sanctions.list(player, SanctionKind::Ban).await.unwrap().len(), 2);
    // The inbox contains notices of it, the newest first.
    let back = Guest::from_answer(ok(by_name()).await);
    let notices = ok(server.get("/v1/me/notices", &back)).await;
    let kinds: Vec<_> = items(&notices).iter().map(|notice| &notice["kind"]).collect();
    assert_eq!(kinds, ["ban_lifted", "banned", "banned"]);
}

/// Returns the codes and texts with which REST and the socket refuse the same request.
async fn collect_refusals(client: &Client, play: &mut Play) -> [(String, String); 2] {
    let body = json!({ "rooms": ["newbie"] });
    let problem = post_json(client, "/v1/matchmaking/tickets", &body).await.body;
    let text = |field: &str| problem[field].as_str().unwrap().to_owned();
    let sought = play.execute(|id| Command::Seek { id, rooms: vec!["newbie".to_owned()] }).await;
    let Err(PlayError::Refused { code, detail, .. }) = sought else { panic!("{sought:?}") };
    [(text("code"), text("detail")), (code, detail)]
}

/// Bans and closed rooms apply to every way of looking for a table.
#[tokio::test(flavor = "multi_thread")]
async fn the_socket_refuses_a_ticket_as_rest_does() {
    let (house, client) = House::with_guest().await;
    let mut play = client.play().await.unwrap();
    let owner = house.database.owner_pool().await;
    // The player's sessions continue, so that the ban is the reason for the refusal and not the
    // sign-out.
    let ban = "insert into sanctions (id, player, kind, reason, imposed_at)
        values ($1, $2, 'ban', 'collusion at tables', now())";
    let id = uuid::Uuid::new_v4();
    sqlx::query(ban).bind(id).bind(client.player().0).execute(&owner).await.unwrap();
    let banned = ("banned".to_owned(), "banned for good: collusion at tables".to_owned());
    let refused = collect_refusals(&client, &mut play).await;
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
    let refused = collect_refusals(&client, &mut play).await;
    assert_eq!(refused, [closed.clone(), closed]);
}

/// The ban is imposed by command while the player is connected.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_bans_and_the_socket_closes() {
    let (house, client) = House::with_guest().await;
    let mut play = client.play().await.unwrap();
    let player = client.player().to_string();
    let run = |words: &[&str]| run_bahay(&house.database, [&["ban"][..], words].concat());
    run(&["add", &player, "--reason", "collusion at tables", "--days", "7"]).unwrap();
    assert_eq!(play.close_code().await, close::SIGNED_OUT);
    let listed = run(&["list", &player]).unwrap();
    let today = clock::to_jiff(Clock::system().now()).to_string();
    assert!(listed.starts_with(&format!("since {}", &today[..10])), "{listed}");
    assert!(listed.contains("until ") && listed.contains(": collusion"), "{listed}");
    run(&["lift", &player]).unwrap();
    assert!(run(&["lift", &player]).unwrap_err().contains("the player is not banned"));
    let nobody = uuid::Uuid::max().to_string();
    let unknown = run(&["add", &nobody, "--reason", "nobody is there"]);
    assert!(unknown.unwrap_err().contains("there is no such player"));
}

/// The mute is imposed by command while the player stays signed in.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_mutes_and_lifts_the_mute_by_command() {
    let (house, client) = House::with_guest().await;
    let player = client.player().to_string();
    let run = |words: &[&str]| run_bahay(&house.database, words.iter().copied());
    run(&["mute", "add", &player, "--reason", "insults at the table", "--days", "7"]).unwrap();
    let listed = run(&["mute", "list", &player]).unwrap();
    assert!(listed.contains("until ") && listed.contains(": insults"), "{listed}");
    assert_eq!(run(&["ban", "list", &player]).unwrap(), "");
    run(&["mute", "lift", &player]).unwrap();
    let again = run(&["mute", "lift", &player]);
    assert!(again.unwrap_err().contains("the player is not muted"));
    let notices: Value = client.read("/v1/me/notices").await.unwrap();
    let kinds: Vec<_> = items(&notices).iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["mute_lifted", "muted"]);
    let noted = format!(
        "select action, channel from audit_entries where subject = 'player:{player}' order by id"
    );
    let noted: Vec<(String, String)> = read_rows(&house.pool, &noted).await;
    let by_command = |action: &str| (action.to_owned(), "command".to_owned());
    assert_eq!(noted, [by_command("player_mute"), by_command("player_lift_mute")]);
}

#[tokio::test]
async fn bans_and_mutes_are_independent() {
    let (server, guest) = Server::with_guest().await;
    let token = server.operator("ben", Role::Support).await;
    let at = |what: &str| format!("/v1/operator/players/{}/{what}", guest.id);
    let send = |what: &str| server.post_once(&token, &at(what), &json!({ "reason": REASON }));
    let lift = |what: &str| {
        let lift = server.call(Method::POST, &at(&format!("{what}/lifting")), &token);
        lift.header("Idempotency-Key", uuid::Uuid::new_v4().to_string())
    };
    let count = async |what: &str| items(&ok(server.get(&at(what), &token)).await).len();
    ok(send("mutes")).await;
    assert_eq!((count("bans").await, count("mutes").await), (0, 1));
    expect_refusal(lift("bans"), 409, "not_banned").await;
    ok(lift("mutes")).await;
    expect_refusal(lift("mutes"), 409, "not_muted").await;
    // The player could sign in all the time.
    ok(server.get("/v1/me", &guest)).await;
    ok(send("bans")).await;
    assert_eq!((count("bans").await, count("mutes").await), (1, 1));
    expect_refusal(server.get(&at("fines"), &token), 422, "path_invalid").await;
}

/// Two bans of a player are lifted one by one, over the API and at the desk.
#[tokio::test]
async fn one_of_two_bans_is_lifted_and_the_other_stays_in_force() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Support).await;
    let token = luz.create_token().await;
    let player = format!("/desk/players/{}", guest.id);
    for duration in ["24", "permanent"] {
        let ban = [("kind", "ban"), ("duration", duration), ("hours", ""), ("reason", REASON)];
        luz.send(&player, &format!("{player}/sanctions"), &ban).await.expect(303);
        server.clock.advance(Duration::from_secs(1));
    }
    let listed = ok(server.get("/v1/operator/sanctions", &token)).await;
    let [permanent, day] = [0, 1].map(|place| text(&listed["items"][place]["id"]));
    let lift = |id: &str| {
        let lift = format!("/v1/operator/sanctions/{id}/lifting");
        let lift = server.call(Method::POST, &lift, &token);
        lift.header("Idempotency-Key", Uuid::new_v4().to_string())
    };
    let sign_in = || server.post("/v1/sign-in/guest", &json!({ "device_id": DEVICE }));
    let lifted = ok(lift(&permanent)).await;
    assert_fields(&lifted["items"][0], json!({ "id": permanent, "lifted_by": "ate.luz" }));
    assert_fields(&lifted["items"][1], json!({ "id": day, "lifted_at": null }));
    expect_refusal(sign_in(), 403, "banned").await;
    // A sanction is lifted once.
    expect_refusal(lift(&permanent), 404, "sanction_not_found").await;

    let page = luz.get("/desk/sanctions").await;
    page.shows(&format!("/desk/sanctions/{day}/lifting")).hides(&permanent);
    page.shows("data-confirm=\"Lift this ban of ").shows("Others of the player stay in force.");
    let path = format!("/desk/sanctions/{day}/lifting");
    luz.send("/desk/sanctions", &path, &[("page", "list")])
        .await
        .expect_redirect("/desk/sanctions");
    let guest = Guest::from_answer(ok(sign_in()).await);
    luz.send(&player, &path, &[("page", "player")]).await.expect(404);
    luz.get(&player).await.hides("Lift this").hides("Lift the");

    // The player is told when the last one is lifted.
    let notices = ok(server.get("/v1/me/notices", &guest)).await;
    let kinds: Vec<_> = items(&notices).iter().map(|notice| &notice["kind"]).collect();
    assert_eq!(kinds, ["ban_lifted", "banned", "banned"]);
    let audited = format!(
        "select detail ->> 'sanction' from audit_entries
        where subject = 'player:{}' and action = 'player_lift_ban' order by id",
        guest.id
    );
    let audited: Vec<String> = read_values(&server.bank.pool, &audited).await;
    assert_eq!(audited, [permanent, day]);
    let mut vic = Browser::enrolled(&server, "vic", Role::Viewer).await;
    vic.get("/desk/sanctions").await.hides("Lift");
}

/// The badges of a banned player stand beside the name on every page that lists players.
#[tokio::test]
async fn a_banned_player_is_marked_wherever_the_name_stands() {
    let (server, guests) = Server::with_guests(3).await;
    let (game, _) = server.bank.play(table(), &list_players(&guests), 0, 1, PotGoes::Nowhere).await;
    server.bank.ledger.seal_operations().await.unwrap();
    count_standings(&server.bank.pool).await;
    count_reports(&server.bank.pool).await.close().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let [other, banned, _] = &guests[..] else { panic!("three guests") };
    let report = json!({ "player": banned.id, "reason": "collusion", "words": "They whispered." });
    let report = server.post_by(other, &format!("/v1/games/{game}/reports"), &report);
    assert_eq!(status_of(report).await, 204);
    let attempt = Uuid::new_v4().to_string();
    let fields = [
        ("attempt", &*attempt),
        ("kind", "adjustment"),
        ("player", &banned.id),
        ("amount", "12.50"),
        ("reason", REASON),
    ];
    luz.send("/desk/corrections/new", "/desk/corrections", &fields).await.expect(303);

    let name = text(&banned.answer["player"]["name"]);
    let pages = [
        "/desk/settlements".to_owned(),
        "/desk/settlements/live".to_owned(),
        format!("/desk/games/{game}"),
        format!("/desk/players/{}", other.id),
        format!("/desk/players/{}/statement", banned.id),
        format!("/desk/players?search={}", banned.id),
        "/desk/reports".to_owned(),
        "/desk/corrections".to_owned(),
        format!("/desk/ledger?account=wallet:{}", banned.id),
        "/desk/search?text=guest".to_owned(),
    ];
    let badge = format!("{name}</a> <span class=\"badge bad\">banned</span>");
    for page in &pages {
        luz.get(page).await.expect(200).shows(&format!("{name}</a>")).hides(&badge);
    }
    let player = format!("/desk/players/{}", banned.id);
    let ban = [("kind", "ban"), ("duration", "72"), ("hours", ""), ("reason", REASON)];
    luz.send(&player, &format!("{player}/sanctions"), &ban).await.expect(303);
    for page in &pages {
        luz.get(page).await.expect(200).shows(&badge);
    }
    luz.get("/desk/sanctions").await.expect(200).shows(&badge);
}

/// The sanctions of all players are listed while they are in force: neither lifted nor at their end.
#[tokio::test]
async fn sanctions_in_force_are_listed_until_they_end_or_are_lifted() {
    let (server, guests) = Server::with_guests(3).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let viewer = server.operator("kuya.ben", Role::Viewer).await;
    let list = |query: &str| server.get(&format!("/v1/operator/sanctions{query}"), &viewer);
    assert_eq!(ok(list("")).await, json!({ "items": [], "next_cursor": null }));

    let sanctions = [("ban", "72"), ("mute", "1"), ("ban", "permanent")];
    for (guest, (kind, duration)) in guests.iter().zip(sanctions) {
        let player = format!("/desk/players/{}", guest.id);
        let fields = [("kind", kind), ("duration", duration), ("hours", ""), ("reason", REASON)];
        luz.send(&player, &format!("{player}/sanctions"), &fields).await.expect(303);
        server.clock.advance(Duration::from_secs(1));
    }
    let players = |listed: &Value| -> Vec<String> {
        items(listed).iter().map(|sanction| text(&sanction["player"])).collect()
    };
    let all = ok(list("")).await;
    assert_eq!(players(&all), [&*guests[2].id, &*guests[1].id, &*guests[0].id]);
    let name = text(&guests[0].answer["player"]["name"]);
    let expected = json!({
        "kind": "ban", "name": name, "reason": REASON, "imposed_by": "ate.luz",
        "imposed_at": "2026-03-01T12:00:00.000Z", "ends_at": "2026-03-04T12:00:00.000Z"
    });
    assert_fields(&all["items"][2], expected);
    assert_eq!(all["items"][0]["ends_at"], Value::Null);

    // By pages and by kind. A cursor is valid only for its list.
    let first = ok(list("?kind=ban&limit=1")).await;
    assert_eq!(players(&first), [&*guests[2].id]);
    let cursor = text(&first["next_cursor"]);
    let second = ok(list(&format!("?kind=ban&limit=1&cursor={cursor}"))).await;
    assert_eq!(players(&second), [&*guests[0].id]);
    assert_eq!(second["next_cursor"], Value::Null);
    expect_refusal(list(&format!("?cursor={cursor}")), 422, "cursor_invalid").await;
    expect_refusal(list("?kind=fine"), 422, "query_invalid").await;
    expect_refusal(server.get("/v1/operator/sanctions", &guests[1]), 401, "token_malformed").await;

    let page = luz.get("/desk/sanctions?kind=mute").await.expect(200);
    let muted = text(&guests[1].answer["player"]["name"]);
    page.shows(&format!("{muted}</a>")).hides(&format!("{name}</a>"));
    luz.get("/desk/sanctions").await.shows("permanent").shows(&format!("{name}</a>"));

    let player = format!("/desk/players/{}", guests[2].id);
    luz.send(&player, &format!("{player}/sanctions/lifting"), &[("kind", "ban")]).await.expect(303);
    assert_eq!(players(&ok(list("")).await), [&*guests[1].id, &*guests[0].id]);
    server.clock.advance(Duration::from_hours(1));
    assert_eq!(players(&ok(list("")).await), [&*guests[0].id]);
}
