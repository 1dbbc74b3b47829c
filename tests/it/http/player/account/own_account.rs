//! The player's own profile and wallet.

use bahay::ledger::Grant;
use serde_json::{Value, json};

use crate::http::server::{
    Guest, OTHER_DEVICE, Server, WELCOME, expect_refusal, expect_refusal_of, ok, text,
};
use crate::support::bank::grant_coins;
use crate::support::rest::{assert_fields, items};

#[tokio::test]
async fn a_new_name_is_validated_and_normalized() {
    let (server, guest) = Server::with_guest().await;
    let rename = |body: Value| server.change_profile(&guest, &body);
    let renamed = ok(rename(json!({ "name": " Ate\u{a0} Luz " }))).await;
    assert_eq!(renamed["name"], "Ate Luz");
    assert_eq!(ok(server.get("/v1/me", &guest)).await, renamed);
    assert_eq!(ok(rename(json!({}))).await, renamed);
    for name in ["", "a", "x\u{7}y", "a\u{200b}b", &"é".repeat(21)] {
        let renamed = rename(json!({ "name": name }));
        expect_refusal_of(format!("{name:?}"), renamed, 422, "body_invalid").await;
    }
    for body in [json!({ "name": 5 }), json!({ "nom": "Luz" }), json!(["Luz"]), json!("Luz")] {
        expect_refusal_of(&body, rename(body.clone()), 422, "body_invalid").await;
    }
    assert_eq!(ok(server.get("/v1/me", &guest)).await, renamed);
}

#[tokio::test]
async fn a_player_sees_its_own_profile_only() {
    let (server, one) = Server::with_guest().await;
    let two = server.guest(OTHER_DEVICE).await;
    for guest in [&one, &two] {
        assert_eq!(ok(server.get("/v1/me", guest)).await, guest.answer["player"]);
    }
}

/// Starts a server with a guest whose wallet has `count` entries.
async fn start_with_entries(count: i64) -> (Server, Guest) {
    let (server, guest) = Server::with_guest().await;
    let player = guest.player();
    for number in 1..count {
        let input = grant_coins(player, Grant::Daily, format!("{player}:{number}"), number);
        server.bank.ledger.grant(input).await.expect("the grant is booked");
    }
    (server, guest)
}

#[tokio::test]
async fn wallet_entries_are_paginated_newest_first() {
    let (server, guest) = start_with_entries(7).await;
    let pages = server.read_pages("/v1/me/wallet/entries", "limit=3", &guest).await;
    let mut versions = Vec::new();
    for entry in pages.iter().flatten() {
        versions.push(entry["version"].as_i64().unwrap());
        let after = entry["balance_after"].as_i64().unwrap();
        let before = entry["balance_before"].as_i64().unwrap();
        assert_eq!(after - before, entry["amount"].as_i64().unwrap());
    }
    assert_eq!((versions, pages.len()), (vec![7, 6, 5, 4, 3, 2, 1], 3));
    let all = ok(server.get("/v1/me/wallet/entries", &guest)).await;
    let items = items(&all);
    assert_eq!(items.len(), 7);
    assert!(all["next_cursor"].is_null());
    let welcome = &items[6];
    assert_fields(welcome, json!({ "code": "welcome", "amount": WELCOME.hundredths() }));
    assert_eq!(welcome["balance_before"], 0);
    assert!(welcome["game"].is_null());
}

#[tokio::test]
async fn a_cursor_is_valid_for_its_list_and_player_only() {
    let (server, guest) = start_with_entries(3).await;
    let other = server.guest(OTHER_DEVICE).await;
    let page = ok(server.get("/v1/me/wallet/entries?limit=1", &guest)).await;
    let cursor = text(&page["next_cursor"]);
    let with = |list: &str, cursor: &str| format!("/v1/me/{list}?cursor={cursor}");
    let entries = |cursor: &str| with("wallet/entries", cursor);
    ok(server.get(&entries(&cursor), &guest)).await;
    expect_refusal(server.get(&with("games", &cursor), &guest), 422, "cursor_invalid").await;
    expect_refusal(server.get(&entries(&cursor), &other), 422, "cursor_invalid").await;
    let (_, seal) = cursor.rsplit_once('~').unwrap();
    let long = "1".repeat(300);
    for forged in ["", "1", "~", "1~", &format!("1~{seal}"), &format!("{cursor}0"), &long, "%00"] {
        expect_refusal_of(forged, server.get(&entries(forged), &guest), 422, "cursor_invalid")
            .await;
    }
}

#[tokio::test]
async fn a_page_has_1_to_100_items() {
    let (server, guest) = Server::with_guest().await;
    for list in ["/v1/me/wallet/entries", "/v1/me/games"] {
        let page = |query: &str| server.get(&format!("{list}?{query}"), &guest);
        for query in ["limit=1", "limit=100", ""] {
            ok(page(query)).await;
        }
        for query in [
            "limit=0",
            "limit=101",
            "limit=-1",
            "limit=ten",
            "limit=",
            "limit=1.5",
            "size=3",
            "limit=99999999999",
            "limit=1&limit=2",
        ] {
            expect_refusal_of(query, page(query), 422, "query_invalid").await;
        }
    }
}
