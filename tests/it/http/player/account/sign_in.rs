//! Guest sign-in.

use std::collections::BTreeSet;

use bahay::accounts::SESSIONS_MAX;
use futures_util::future::join_all;
use serde_json::json;

use crate::http::server::{DEVICE, OTHER_DEVICE, Server, WELCOME, ok, status_of, text};
use crate::support::db::{count_rows, read_value};

const GRANTS: &str = "transfers where code = 'welcome'";

#[tokio::test]
async fn a_device_always_signs_in_the_same_player() {
    let server = Server::new().await;
    let sign_in = async |name: &str, time_zone: &str| {
        let body = json!({ "device_id": DEVICE, "name": name, "time_zone": time_zone });
        server.sign_in(&body).await
    };
    let first = sign_in("  Mang   Tomás ", "Asia/Manila").await;
    let again = sign_in("Somebody", "UTC").await;
    let other = server.guest(OTHER_DEVICE).await;
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
    let (server, first) = Server::with_guest().await;
    assert!(first.answer["player"]["time_zone"].is_null());
    let again = server.sign_in(&json!({ "device_id": DEVICE, "time_zone": "Asia/Tokyo" })).await;
    assert_eq!(again.answer["player"]["time_zone"], "Asia/Tokyo");
}

#[tokio::test]
async fn a_new_player_is_welcomed_once() {
    let (server, _) = Server::with_guest().await;
    let guest = server.guest(DEVICE).await;
    let wallet = ok(server.get("/v1/me/wallet", &guest)).await;
    let welcome = WELCOME.hundredths();
    assert_eq!(wallet, json!({ "available": welcome, "held": 0, "version": 1 }));
    assert_eq!(count_rows(&server.bank.pool, GRANTS).await, 1);
}

#[tokio::test]
async fn fifty_concurrent_sign_ins_of_a_device_create_one_player_and_one_grant() {
    let (server, other) = Server::with_other().await;
    let races = (0..50).map(|number| server.alternate(&other, number).guest(DEVICE));
    let guests = join_all(races).await;
    let players: BTreeSet<_> = guests.iter().map(|guest| guest.id.as_str()).collect();
    assert_eq!(players.len(), 1);
    let pool = &server.bank.pool;
    assert_eq!(count_rows(pool, "players").await, 1);
    assert_eq!(count_rows(pool, GRANTS).await, 1);
    assert_eq!(count_rows(pool, "sessions").await, 50);
    let alive = count_rows(pool, "sessions where revoked_at is null").await;
    let alive = usize::try_from(alive).unwrap();
    assert_eq!(alive, SESSIONS_MAX, "the other sessions ended to make room");
    // The node that opened a session accepts its token at once, and accepts every token whose
    // session continues.
    let mut believed = 0;
    for guest in guests {
        match status_of(server.get("/v1/me", &guest)).await {
            200 => believed += 1,
            status => assert_eq!(status, 401),
        }
    }
    assert!(believed >= SESSIONS_MAX, "{believed}");
}

#[tokio::test]
async fn device_ids_and_refresh_tokens_are_stored_as_hashes() {
    let (server, guest) = Server::with_guest().await;
    let refreshed = ok(server.refresh_by(&guest.refresh_token, DEVICE)).await;
    let successor = text(&refreshed["refresh_token"]);
    let secrets = [DEVICE, guest.refresh_token.trim_start_matches("rt_"), &successor[3..]];
    for table in ["devices", "refresh_tokens", "sessions", "players"] {
        let sql = format!("select coalesce(string_agg(t::text, ' '), '') from {table} t");
        let rows: String = read_value(&server.bank.pool, &sql).await;
        assert!(!rows.is_empty(), "{table}");
        assert!(secrets.iter().all(|secret| !rows.contains(secret)), "{table}: {rows}");
    }
}
