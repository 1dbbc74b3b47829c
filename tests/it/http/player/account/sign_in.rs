//! Guest sign-in.

use std::collections::BTreeSet;

use bahay::accounts::SESSIONS_MAX;
use futures_util::future::join_all;
use serde_json::json;
use sqlx::PgPool;

use crate::http::server::{Server, WELCOME, ok, text};
use crate::support::db::read_value;

const DEVICE: &str = "device-0123456789";

async fn count(pool: &PgPool, what: &str) -> i64 {
    let sql = match what {
        "players" => "select count(*) from players",
        "grants" => "select count(*) from transfers where code = 'welcome'",
        "sessions" => "select count(*) from sessions",
        _ => panic!("no query counts {what}"),
    };
    read_value(pool, sql).await
}

#[tokio::test]
async fn a_device_always_signs_in_the_same_player() {
    let server = Server::new().await;
    let first = server
        .node
        .sign_in(
            &json!({ "device_id": DEVICE, "name": "  Mang   Tomás ", "time_zone": "Asia/Manila" }),
        )
        .await;
    let again = server
        .node
        .sign_in(&json!({ "device_id": DEVICE, "name": "Somebody", "time_zone": "UTC" }))
        .await;
    let other = server.node.guest("device-9876543210").await;
    assert_eq!(first.answer["player"], again.answer["player"]);
    assert_eq!(first.answer["player"]["name"], "Mang Tomás");
    assert_eq!(first.answer["player"]["time_zone"], "Asia/Manila");
    assert_eq!(first.answer["player"]["created_at"], "2026-03-01T12:00:00.000Z");
    assert_eq!(first.answer["access_expires_at"], "2026-03-01T12:15:00.000Z");
    assert_eq!(first.answer["refresh_expires_at"], "2026-03-31T12:00:00.000Z");
    assert_ne!(first.answer["session"], again.answer["session"]);
    assert_ne!(first.id, other.id);
    assert!(text(&other.answer["player"]["name"]).starts_with("Guest "));
}

#[tokio::test]
async fn a_time_zone_may_be_added_at_a_later_sign_in() {
    let (server, first) = Server::with_guest(DEVICE).await;
    assert!(first.answer["player"]["time_zone"].is_null());
    let again =
        server.node.sign_in(&json!({ "device_id": DEVICE, "time_zone": "Asia/Tokyo" })).await;
    assert_eq!(again.answer["player"]["time_zone"], "Asia/Tokyo");
}

#[tokio::test]
async fn a_new_player_is_welcomed_once() {
    let server = Server::new().await;
    server.node.guest(DEVICE).await;
    let guest = server.node.guest(DEVICE).await;
    let wallet = ok(server.node.get("/v1/me/wallet", &guest.access_token)).await;
    let welcome = WELCOME.hundredths();
    assert_eq!(wallet, json!({ "available": welcome, "held": 0, "version": 1 }));
    assert_eq!(count(&server.bank.pool, "grants").await, 1);
}

#[tokio::test]
async fn fifty_concurrent_sign_ins_of_a_device_create_one_player_and_one_grant() {
    let (server, other) = Server::with_other().await;
    let races = (0..50).map(|number| {
        let node = if number % 2 == 0 { &server.node } else { &other };
        node.guest(DEVICE)
    });
    let guests = join_all(races).await;
    let players: BTreeSet<_> = guests.iter().map(|guest| guest.id.as_str()).collect();
    assert_eq!(players.len(), 1);
    let pool = &server.bank.pool;
    assert_eq!(count(pool, "players").await, 1);
    assert_eq!(count(pool, "grants").await, 1);
    assert_eq!(count(pool, "sessions").await, 50);
    let alive = "select count(*) from sessions where revoked_at is null";
    let alive = read_value::<i64>(pool, alive).await;
    let alive = usize::try_from(alive).unwrap();
    assert_eq!(alive, SESSIONS_MAX, "the other sessions ended to make room");
    // The node that opened a session accepts its token at once, and accepts every token whose
    // session continues.
    let mut believed = 0;
    for guest in guests {
        let answer = server.node.get("/v1/me", &guest.access_token).send().await.unwrap();
        match answer.status().as_u16() {
            200 => believed += 1,
            status => assert_eq!(status, 401),
        }
    }
    assert!(believed >= SESSIONS_MAX, "{believed}");
}

#[tokio::test]
async fn device_ids_and_refresh_tokens_are_stored_as_hashes() {
    let (server, guest) = Server::with_guest(DEVICE).await;
    let refreshed = ok(server.node.refresh_by(&guest.refresh_token, DEVICE)).await;
    let successor = text(&refreshed["refresh_token"]);
    let secrets = [DEVICE, guest.refresh_token.trim_start_matches("rt_"), &successor[3..]];
    for table in ["devices", "refresh_tokens", "sessions", "players"] {
        let sql = format!("select coalesce(string_agg(t::text, ' '), '') from {table} t");
        let rows: String = read_value(&server.bank.pool, &sql).await;
        assert!(!rows.is_empty(), "{table}");
        assert!(secrets.iter().all(|secret| !rows.contains(secret)), "{table}: {rows}");
    }
}
