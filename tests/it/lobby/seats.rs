//! The conditions for a seat: an open socket, no recent no-shows, and nobody at the table with the
//! same device or with a block on either side.

use bahay::lobby::{self, house_rooms};
use bahay::ws::protocol::{Message, WaitReason};
use bahay_client_tokio::Client;
use bahay_engine::coins::Coins;
use bahay_engine::table::Clocks;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::db::execute;
use crate::support::house::{FRIENDS, House, Setup};
use crate::support::play::TestPlay as _;
use crate::support::rest::{Answer, call_at, get, request, send};
use crate::support::waiting::wait_until;

const SEAT: &str = "/v1/rooms/newbie/seat";
const TICKETS: &str = "/v1/matchmaking/tickets";
const PRACTICE: &str = "/v1/practice-tables";
const PRIVATE: &str = "/v1/private-tables";
const PASSWORD: &str = "rain on a tin roof";

/// Sends a request without the client's help.
async fn post(client: &Client, path: &str, body: Option<Value>) -> Answer {
    call_at(client.base(), client.access_token(), "POST", path, body.as_ref()).await
}

/// Opens a private table. Returns the path at which others take a seat.
async fn open_private(base: &str, token: &str) -> String {
    let body = json!({ "room": "newbie", "bet": 100 });
    let opened = call_at(base, token, "POST", PRIVATE, Some(&body)).await.expect(201);
    format!("{PRIVATE}/{}/seat", opened["code"].as_str().unwrap())
}

/// Returns the requests that lead to a seat.
fn seat_requests() -> [(&'static str, Option<Value>); 4] {
    [
        (SEAT, None),
        (TICKETS, Some(json!({ "rooms": ["newbie"] }))),
        (PRACTICE, Some(json!({ "kind": "tongits" }))),
        (PRIVATE, Some(json!({ "room": "newbie", "bet": 100 }))),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_is_for_players_with_an_open_socket_on_any_node() {
    let house = House::new().await;
    let (base, node) = house.node().await;
    let host = house.guest("Althea").await;
    host.hold_socket().await.unwrap();
    let join = open_private(&house.base, host.access_token()).await;
    let client = house.guest("Benjie").await;
    let all = || seat_requests().into_iter().chain([(join.as_str(), None)]);
    for (path, body) in all() {
        let refused = post(&client, path, body).await;
        assert_eq!(refused.refusal(), (409, "socket_required"), "{path}");
    }
    let playing: Value = client.read("/v1/rooms").await.unwrap();
    assert_eq!(playing["items"][0]["players"], 0, "nothing was reserved");

    // A socket at another node suffices, although it joins no table.
    client.with_base(&base).hold_socket().await.unwrap();
    for (path, body) in all() {
        let answer = post(&client, path, body).await;
        assert!(answer.status < 300, "{path}: {}", answer.body);
        if path == TICKETS {
            let id = answer.body["id"].as_str().unwrap();
            let path = format!("{TICKETS}/{id}");
            call_at(client.base(), client.access_token(), "DELETE", &path, None).await;
        } else {
            client.leave().await.unwrap();
        }
    }
    // With its last socket the player is offline, also for the other node.
    let mut play = client.with_base(&base).play().await.unwrap();
    play.next().await.unwrap();
    drop(play);
    wait_until("a closed socket counts no more", async || {
        match post(&client, SEAT, None).await.refusal() {
            (409, "socket_required") => true,
            (200, _) => {
                client.leave().await.unwrap();
                false
            }
            other => panic!("{other:?}"),
        }
    })
    .await;
    node.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_ends_with_the_last_socket_of_its_player() {
    let house = House::new().await;
    let clients = house.guests(FRIENDS).await;
    let mut play = clients[0].play().await.unwrap();
    play.next().await.unwrap();
    let ticket = post(&clients[0], TICKETS, Some(json!({ "rooms": ["newbie"] }))).await;
    assert_eq!(ticket.body["state"], "waiting", "{}", ticket.body);
    drop(play);
    let path = format!("{TICKETS}/{}", ticket.body["id"].as_str().unwrap());
    wait_until("the ticket is cancelled", async || {
        let ticket: Value = clients[0].read(&path).await.unwrap();
        ticket["state"] == "cancelled"
    })
    .await;
    for client in &clients[1..] {
        client.hold_socket().await.unwrap();
        let ticket = post(client, TICKETS, Some(json!({ "rooms": ["newbie"] }))).await;
        assert_eq!(ticket.body["state"], "waiting");
    }
    assert_eq!(post(&clients[0], SEAT, None).await.refusal(), (409, "socket_required"));
    let seated = call_at(&house.base, clients[0].access_token(), "GET", "/v1/table", None).await;
    assert_eq!(seated.refusal(), (404, "not_seated"));
}

/// Starts a house with a short preparation time, whose players wait if they were not ready.
async fn impatient() -> House {
    let rooms = house_rooms(Clocks { prepare_ms: 300, ..Clocks::default() });
    let mut setup = Setup { rooms, ..Setup::default() };
    setup.lobby.not_ready_waits = "10,60,600".parse().unwrap();
    House::with_setup(setup).await
}

/// Seats these players until their table prepares a game, and lets the preparation time out.
async fn miss_a_game(clients: &[Client]) {
    for client in clients {
        client.seat("newbie").await.unwrap();
    }
    for client in clients {
        until_unseated(client).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_was_not_ready_waits_before_the_next_seat() {
    let house = impatient().await;
    let clients = house.guests(FRIENDS).await;
    miss_a_game(&clients).await;
    let client = &clients[0];
    wait_until("it is counted", async || post(client, SEAT, None).await.status == 429).await;
    for (path, body) in &seat_requests()[..3] {
        let refused = post(client, path, body.clone()).await;
        assert_eq!(refused.refusal(), (429, "not_ready_before"), "{path}");
        assert!((1..=10).contains(&refused.retry_after.unwrap()), "{path}");
    }
    // Private tables are exempt.
    let private = post(client, PRIVATE, Some(json!({ "room": "newbie", "bet": 100 }))).await;
    assert_eq!(private.status, 201, "{}", private.body);
    client.leave().await.unwrap();
    // The socket rejects the player as well.
    let mut play = client.play().await.unwrap();
    play.send_text(r#"{"type":"seek","id":1,"rooms":["newbie"]}"#.to_owned()).await.unwrap();
    let refused = loop {
        match play.next_message().await {
            Message::Refusal { code, retryable, retry_after_ms, .. } => {
                break (code, retryable, retry_after_ms);
            }
            Message::Hello { .. } => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((refused.0.as_ref(), refused.1), ("not_ready_before", false));
    assert!((1..=10_000).contains(&refused.2.unwrap()));
}

/// Waits until a player has lost its seat.
async fn until_unseated(client: &Client) {
    wait_until("the seat is lost without readiness", async || {
        get(client, "/v1/table").await.status == 404
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_shows_count_at_practice_tables_and_not_at_private_ones() {
    let house = impatient().await;
    let friends = house.guests(FRIENDS).await;
    for client in &friends {
        client.hold_socket().await.unwrap();
    }
    let join = open_private(&house.base, friends[0].access_token()).await;
    for client in &friends[1..] {
        assert_eq!(post(client, &join, None).await.status, 200);
    }
    for client in &friends {
        until_unseated(client).await;
    }
    let practise = Some(json!({ "kind": "tongits" }));
    for client in &friends[1..] {
        assert_eq!(post(client, SEAT, None).await.status, 200);
        client.leave().await.unwrap();
    }
    assert_eq!(post(&friends[0], PRACTICE, practise.clone()).await.status, 200);
    until_unseated(&friends[0]).await;
    wait_until("it is counted", async || {
        let again = post(&friends[0], PRACTICE, practise.clone()).await;
        if again.status == 200 {
            friends[0].leave().await.unwrap();
        }
        again.refusal() == (429, "not_ready_before")
    })
    .await;
}

/// Players behind one address: a few no-shows slow nobody, and many slow only newcomers.
#[tokio::test(flavor = "multi_thread")]
async fn many_no_shows_of_one_network_slow_only_its_newcomers() {
    let house = impatient().await;
    for number in 0..2 {
        let mut clients = vec![];
        for one in 0..3 {
            clients.push(house.guest(&format!("Crowd {number}{one}")).await);
        }
        miss_a_game(&clients).await;
    }
    let newcomers = house.guests(["Dante", "Elena"]).await;
    for client in &newcomers {
        client.hold_socket().await.unwrap();
    }
    // One newcomer is seated at a time.
    wait_until("six no-shows are counted", async || {
        let mut refused = 0;
        for client in &newcomers {
            let seat = post(client, SEAT, None).await;
            refused += u8::from(seat.refusal() == (429, "not_ready_before"));
            assert!(seat.retry_after.is_none_or(|seconds| seconds <= 10));
        }
        for client in &newcomers {
            let _ = client.leave().await;
        }
        refused == 1
    })
    .await;
    let regular = house.guest("Rosa").await;
    let played = format!(
        "insert into game_players (game, player, seat, stake, net, finished_at)
        values (gen_random_uuid(), '{}', 0, 100, 0, now())",
        regular.player()
    );
    execute(&house.pool, &played).await;
    regular.seat("newbie").await.unwrap();
}

/// The lists of both players are full, and neither displaces the block.
#[tokio::test(flavor = "multi_thread")]
async fn a_block_holds_however_many_each_side_has_blocked() {
    let house = House::new().await;
    let (blocker, blocked) = (house.guest("Althea").await, house.guest("Benjie").await);
    let block = format!("/v1/me/blocks/{}", blocked.player());
    let done = call_at(&house.base, blocker.access_token(), "PUT", &block, None).await;
    assert_eq!(done.status, 204);
    for (client, count) in [(&blocker, 499), (&blocked, 500)] {
        let others = format!(
            "with others as (
                insert into players (id, name)
                select gen_random_uuid(), 'Other ' || n from generate_series(1, {count}) n
                returning id
            )
            insert into player_relations (player, kind, other)
            select '{}', 'block', o.id from others o",
            client.player()
        );
        execute(&house.pool, &others).await;
    }
    let table = blocker.seat("newbie").await.unwrap();
    assert_ne!(blocked.seat("newbie").await.unwrap(), table);
    blocker.leave().await.unwrap();
    blocked.leave().await.unwrap();
    let table = blocked.seat("newbie").await.unwrap();
    assert_ne!(blocker.seat("newbie").await.unwrap(), table);
}

/// Signs in a player with a password on a shared device, and returns its access token.
async fn come_by_password(house: &House, name: &str, device: &str) -> String {
    let own = format!("own-device-{}", Uuid::new_v4());
    let guest = json!({ "device_id": own, "name": name });
    let guest = call_at(&house.base, "", "POST", "/v1/sign-in/guest", Some(&guest)).await.body;
    let token = guest["access_token"].as_str().unwrap();
    let shown = json!({ "by": "device", "device_id": own });
    let proof = call_at(&house.base, token, "POST", "/v1/me/proof", Some(&shown)).await.body;
    let set = request(&house.base, token, "POST", "/v1/me/password");
    let set = set.header("account-proof", proof["proof"].as_str().unwrap());
    send(set.json(&json!({ "name": name, "password": PASSWORD }))).await.expect(200);
    let body = json!({ "name": name, "password": PASSWORD, "device_id": device });
    let signed_in =
        call_at(&house.base, "", "POST", "/v1/sign-in/password", Some(&body)).await.body;
    signed_in["access_token"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_accounts_that_sign_in_by_password_on_one_device_share_no_table() {
    let lobby = lobby::Options::default();
    let house = House::with_setup(Setup { lobby, ..Setup::default() }).await;
    let shared = format!("shared-device-{}", Uuid::new_v4());
    let first = come_by_password(&house, "Althea Cruz", &shared).await;
    let second = come_by_password(&house, "Benjie Reyes", &shared).await;
    let third = come_by_password(&house, "Carmela Ramos", &Uuid::new_v4().to_string()).await;
    let mut tables = vec![];
    for token in [&first, &second, &third] {
        let seat = call_at(&house.base, token, "POST", SEAT, None).await;
        assert_eq!(seat.status, 200, "{}", seat.body);
        tables.push(seat.body["table"].clone());
    }
    assert_ne!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2], "a player with another device joins");
    for token in [&first, &second, &third] {
        call_at(&house.base, token, "DELETE", "/v1/table", None).await;
    }
    let join = open_private(&house.base, &first).await;
    let refused = call_at(&house.base, &second, "POST", &join, None).await;
    assert_eq!(refused.refusal(), (409, "table_full"));
    assert_eq!(call_at(&house.base, &third, "POST", &join, None).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn players_of_one_network_meet_at_low_bets_and_are_informed_at_higher_ones() {
    let same_network_bet_max = Coins::from_whole(1).unwrap();
    let lobby = lobby::Options {
        separate_same_network: true,
        same_network_bet_max,
        socket_required: true,
        ..lobby::Options::default()
    };
    let house = House::with_setup(Setup { lobby, ..Setup::default() }).await;
    let clients = house.guests(FRIENDS).await;
    // Instant seats: the first room has a bet of one coin, the second a higher one.
    let mut low = vec![];
    let mut high = vec![];
    for client in &clients {
        client.hold_socket().await.unwrap();
        low.push(post(client, SEAT, None).await.body);
        client.leave().await.unwrap();
    }
    for client in &clients {
        high.push(post(client, "/v1/rooms/barkada/seat", None).await.body);
    }
    assert!(low.iter().all(|seat| seat.get("reason").is_none()), "{low:?}");
    assert_eq!(high[0].get("reason"), None, "{high:?}");
    for seat in &high[1..] {
        assert_eq!(seat["reason"], "only_same_network", "{high:?}");
        assert_ne!(seat["table"], high[0]["table"]);
    }
    for client in &clients {
        client.leave().await.unwrap();
    }
    // Tickets, over REST and the socket.
    let mut plays = vec![];
    for client in &clients {
        let mut play = client.play().await.unwrap();
        play.send_text(r#"{"type":"seek","id":1,"rooms":["barkada"]}"#.to_owned()).await.unwrap();
        plays.push(play);
    }
    for (client, play) in clients.iter().zip(&mut plays) {
        let ticket = loop {
            match play.next_message().await {
                Message::Ticket { ticket, reason: Some(WaitReason::OnlySameNetwork), .. } => {
                    break ticket;
                }
                Message::Hello { .. } | Message::Ack { .. } | Message::Ticket { .. } => {}
                other => panic!("{other:?}"),
            }
        };
        let shown: Value = client.read(&format!("{TICKETS}/{ticket}")).await.unwrap();
        assert_eq!(shown["state"], "waiting");
        assert_eq!(shown["reason"], "only_same_network");
    }
    for play in &mut plays {
        play.send_text(r#"{"type":"cancel_seek","id":2}"#.to_owned()).await.unwrap();
        play.send_text(r#"{"type":"seek","id":3,"rooms":["newbie"]}"#.to_owned()).await.unwrap();
    }
    let mut tables = vec![];
    for play in &mut plays {
        tables.push(loop {
            match play.next_message().await {
                Message::Ticket { table: Some(table), .. } => break table,
                Message::Ack { .. } | Message::Ticket { .. } => {}
                other => panic!("{other:?}"),
            }
        });
    }
    assert!(tables.iter().all(|table| *table == tables[0]), "{tables:?}");
}
