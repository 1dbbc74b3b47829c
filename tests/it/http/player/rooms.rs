//! Rooms, and taking and leaving a seat.

use bahay::ledger::Grant;
use reqwest::Method;
use serde_json::{Value, json};

use crate::http::server::{
    DEVICE, Guest, PASSWORD, Server, expect_refusal, expect_refusal_of, ok, text,
};
use crate::support::rest::{assert_fields, items};

#[tokio::test]
async fn the_rooms_are_public() {
    let server = Server::new().await;
    let rooms = ok(server.request(Method::GET, "/v1/rooms")).await;
    assert_fields(&rooms["items"][0], json!({ "id": "newbie", "bet": 100 }));
}

#[tokio::test]
async fn a_player_is_seated_once_and_may_leave() {
    let (server, guest) = Server::with_guest().await;
    let at_table = |method| server.call(method, "/v1/table", &guest);
    let seat = || server.call(Method::POST, "/v1/rooms/newbie/seat", &guest);
    expect_refusal(at_table(Method::GET), 404, "not_seated").await;
    expect_refusal(at_table(Method::DELETE), 404, "not_seated").await;
    let first = ok(seat()).await;
    assert_eq!(ok(seat()).await, first);
    assert_eq!(ok(at_table(Method::GET)).await, first);
    assert_eq!(ok(at_table(Method::DELETE)).await, first);
}

#[tokio::test]
async fn an_unknown_room_seats_nobody() {
    let (server, guest) = Server::with_guest().await;
    for room in ["nowhere", "Newbie", "..%2fnewbie"] {
        let seat = server.call(Method::POST, &format!("/v1/rooms/{room}/seat"), &guest);
        expect_refusal_of(room, seat, 404, "room_not_found").await;
    }
}

#[tokio::test]
async fn rooms_show_the_number_of_their_players() {
    let (server, guests) = Server::with_guests(2).await;
    for guest in &guests {
        ok(server.call(Method::POST, "/v1/rooms/newbie/seat", guest)).await;
    }
    let rooms = ok(server.request(Method::GET, "/v1/rooms")).await;
    let items = items(&rooms);
    assert!(items.len() >= 6);
    assert_fields(&items[0], json!({ "players": 2, "tables": 1 }));
    assert_fields(&items[1], json!({ "players": 0, "tables": 0 }));
}

#[tokio::test]
async fn watchable_tables_are_paginated() {
    let (server, guests) = Server::with_guests(4).await;
    for guest in &guests {
        ok(server.call(Method::POST, "/v1/rooms/newbie/seat", guest)).await;
    }
    let list =
        |query: &str, guest: &Guest| server.get(&format!("/v1/rooms/newbie/tables{query}"), guest);
    let all = ok(list("", &guests[0])).await["items"].as_array().unwrap().clone();
    let mut players: Vec<i64> =
        all.iter().map(|table| table["players"].as_i64().unwrap()).collect();
    players.sort_unstable();
    assert_eq!(players, [1, 3]);
    let first = ok(list("?limit=1", &guests[0])).await;
    assert_eq!(first["items"], json!([all[0]]));
    let cursor = text(&first["next_cursor"]);
    let second = ok(list(&format!("?limit=1&cursor={cursor}"), &guests[0])).await;
    assert_eq!((&second["items"], &second["next_cursor"]), (&json!([all[1]]), &Value::Null));
    expect_refusal(list(&format!("?cursor={cursor}"), &guests[1]), 422, "cursor_invalid").await;
    expect_refusal(server.get("/v1/rooms/nowhere/tables", &guests[0]), 404, "room_not_found").await;
}

#[tokio::test]
async fn a_high_room_requires_an_account() {
    let (server, guest) = Server::with_guest().await;
    let rooms = ok(server.request(Method::GET, "/v1/rooms")).await;
    let needs = |id: &str| {
        let rooms = items(&rooms);
        rooms.iter().find(|room| room["id"] == id).unwrap()["needs_account"].clone()
    };
    assert_eq!((needs("hacienda"), needs("alta")), (json!(false), json!(true)));

    let seek = |rooms: Value| {
        server.post_by(&guest, "/v1/matchmaking/tickets", &json!({ "rooms": rooms }))
    };
    let seat = || server.call(Method::POST, "/v1/rooms/alta/seat", &guest);
    expect_refusal(seat(), 409, "too_few_coins").await;
    let player = guest.id.parse().unwrap();
    server.bank.grant(player, Grant::Daily, 10_000_000).await.unwrap();
    expect_refusal(seat(), 403, "account_required").await;
    expect_refusal(seek(json!(["alta"])), 403, "account_required").await;
    // The rooms without requirements remain.
    assert_eq!(ok(seek(json!(["alta", "newbie"]))).await["rooms"], json!(["newbie"]));

    ok(server.set_password(&guest, DEVICE, "Althea", PASSWORD).await).await;
    ok(seat()).await;
}
