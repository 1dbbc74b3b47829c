//! Private tables: players join by a code, and the host decides who stays.

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::http::server::{Guest, Server, expect_refusal, ok};
use crate::support::rest::assert_fields;

struct Party {
    server: Server,
    guests: Vec<Guest>,
}

impl Party {
    async fn new(count: usize) -> Self {
        let (server, guests) = Server::with_guests(count).await;
        Self { server, guests }
    }

    fn request(&self, guest: usize, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.server.call(method, path, &self.guests[guest])
    }

    fn open(&self, body: &Value) -> reqwest::RequestBuilder {
        self.request(0, Method::POST, "/v1/private-tables").json(body)
    }

    fn join(&self, guest: usize, code: &str) -> reqwest::RequestBuilder {
        self.request(guest, Method::POST, &format!("/v1/private-tables/{code}/seat"))
    }
}

#[tokio::test]
async fn players_join_by_code_only() {
    let party = Party::new(5).await;
    let opened = ok(party.open(&json!({ "room": "newbie", "bet": 300 }))).await;
    let code = opened["code"].as_str().unwrap();
    assert_eq!(code.len(), 8);
    assert!(opened["link"].as_str().unwrap().ends_with(&format!("/{code}")));
    // The code is not case-sensitive.
    assert_eq!(ok(party.join(1, &code.to_lowercase())).await, opened);
    assert_eq!(ok(party.join(1, code)).await, opened, "a repeated join returns the same seat");
    let table = ok(party.request(2, Method::GET, &format!("/v1/private-tables/{code}"))).await;
    assert_fields(&table, json!({ "bet": 300, "rule_set": "kingdom", "host": party.guests[0].id }));
    assert_eq!(table["players"].as_array().unwrap().len(), 2);
    // A request for a seat in the room, or for a private table, never leads to this table.
    let elsewhere = ok(party.request(3, Method::POST, "/v1/rooms/newbie/seat")).await;
    assert_ne!(elsewhere["table"], opened["table"]);
    let room = party.request(4, Method::POST, "/v1/rooms/private/seat");
    expect_refusal(room, 404, "room_not_found").await;
    expect_refusal(party.join(3, code), 409, "seated_elsewhere").await;
    ok(party.join(2, code)).await;
    expect_refusal(party.join(4, code), 409, "table_full").await;
    // The host removes a player while no game runs.
    let remove = |by: usize, who: &str| {
        let path = format!("/v1/private-tables/{code}/players/{who}");
        party.request(by, Method::DELETE, &path)
    };
    expect_refusal(remove(1, &party.guests[2].id), 403, "not_host").await;
    expect_refusal(remove(0, &Uuid::nil().to_string()), 404, "not_seated").await;
    expect_refusal(remove(0, &party.guests[0].id), 404, "not_seated").await;
    ok(remove(0, &party.guests[2].id)).await;
    expect_refusal(party.request(2, Method::GET, "/v1/table"), 404, "not_seated").await;
    expect_refusal(party.join(2, code), 403, "kicked_by_host").await;
    ok(party.join(4, code)).await;
}

#[tokio::test]
async fn invalid_codes_bets_and_rules_are_refused() {
    let party = Party::new(1).await;
    for code in ["AAAAAAAA", "short", "K7MWQ2X0", "K7MWQ2XA9", "..%2f..%2f"] {
        expect_refusal(party.join(0, code), 404, "code_not_found").await;
    }
    expect_refusal(party.join(0, "%00%00%00%00"), 404, "route_not_found").await;
    for (body, status, code) in [
        (json!({ "room": "nowhere", "bet": 100 }), 404, "room_not_found"),
        (json!({ "room": "newbie", "bet": 0 }), 422, "bet_invalid"),
        (json!({ "room": "newbie", "bet": -100 }), 422, "bet_invalid"),
        (json!({ "room": "newbie", "bet": 99 }), 422, "bet_invalid"),
        (json!({ "room": "newbie", "bet": i64::MAX }), 422, "bet_invalid"),
        (json!({ "room": "newbie", "bet": 1.5 }), 422, "body_invalid"),
        (json!({ "room": "newbie", "bet": 100, "rule_set": "mine" }), 422, "rules_invalid"),
        (json!({ "room": "newbie", "bet": 100, "kind": "chess" }), 422, "rules_invalid"),
        (
            json!({ "room": "newbie", "bet": 100, "rules": { "hand_cards": 17 } }),
            422,
            "rules_invalid",
        ),
        // Turns of several weeks would hold the stakes of players who want to leave, and a game
        // without time to think would be played by the AI.
        (draw_countdown_body(u32::MAX), 422, "rules_invalid"),
        (draw_countdown_body(10 * 60 * 1_000 + 1), 422, "rules_invalid"),
        (draw_countdown_body(1_000), 422, "rules_invalid"),
        // A count of that game is half a bet, which has to be a whole number of hundredths.
        (json!({ "room": "newbie", "bet": 101, "kind": "tongo_assets" }), 422, "rules_invalid"),
        // At both Tongos a seat plays with its full stake only.
        (short_stakes_body("tongo_options"), 422, "rules_invalid"),
        (short_stakes_body("tongo_assets"), 422, "rules_invalid"),
        (json!({ "room": "newbie", "bet": 10_000_000 }), 409, "too_few_coins"),
    ] {
        expect_refusal(party.open(&body), status, code).await;
    }
    let body = json!({ "room": "newbie", "bet": 100, "rule_set": "relaxed" });
    let opened = ok(party.open(&body)).await;
    let path = format!("/v1/private-tables/{}", opened["code"].as_str().unwrap());
    assert_eq!(ok(party.request(0, Method::GET, &path)).await["rule_set"], "relaxed");
    expect_refusal(party.open(&body), 409, "seated_elsewhere").await;
}

/// Rule 6.9 of Tong-its: the host chooses, and the choice is visible to everybody with the code.
#[tokio::test]
async fn a_host_may_allow_short_stakes_at_tongits() {
    for (asked, expected) in [(None, false), (Some(false), false), (Some(true), true)] {
        let party = Party::new(2).await;
        let mut body = json!({ "room": "newbie", "bet": 100 });
        if let Some(asked) = asked {
            body["short_stakes"] = json!(asked);
        }
        let opened = ok(party.open(&body)).await;
        let path = format!("/v1/private-tables/{}", opened["code"].as_str().unwrap());
        assert_eq!(ok(party.request(1, Method::GET, &path)).await["short_stakes"], expected);
    }
}

fn short_stakes_body(kind: &str) -> Value {
    json!({ "room": "newbie", "bet": 100, "kind": kind, "short_stakes": true })
}

fn draw_countdown_body(draw_ms: u32) -> Value {
    let rules =
        json!({ "countdowns": { "draw_ms": draw_ms, "play_ms": 20_000, "fight_ms": 8_000 } });
    json!({ "room": "newbie", "bet": 100, "rules": rules })
}
