//! Refreshing and ending sessions.

use std::time::Duration;

use bahay::accounts::{REFRESH_TOKEN_LIFE, REPEAT_PERIOD, SESSION_LIFE};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::http::server::{
    DEVICE, Guest, Node, OTHER_DEVICE, PASSWORD, Server, expect_refusal, expect_refusal_of, ok,
    status_of, text,
};
use crate::support::rest::items;
use crate::support::waiting::wait_until;

async fn expect_signed_in(node: &Node, by: impl AsRef<str>) {
    ok(node.get("/v1/me", by)).await;
}

async fn sign_out(node: &Node, guest: &Guest) {
    ok(node.call(Method::POST, "/v1/sign-out", &guest)).await;
}

#[tokio::test]
async fn refreshing_returns_new_tokens_of_the_same_session() {
    let (server, guest) = Server::with_guest().await;
    server.clock.advance(Duration::from_mins(20));
    expect_refusal(server.get("/v1/me", &guest), 401, "token_expired").await;
    let tokens = ok(server.refresh(&guest.refresh_token)).await;
    assert_eq!(tokens["session"], guest.answer["session"]);
    assert_ne!(tokens["refresh_token"], guest.answer["refresh_token"]);
    assert_eq!(tokens["access_expires_at"], "2026-03-01T12:35:00.000Z");
    expect_signed_in(&server, &text(&tokens["access_token"])).await;
    ok(server.refresh(&text(&tokens["refresh_token"]))).await;
}

#[tokio::test]
async fn a_reused_refresh_token_ends_its_session_only() {
    let (server, stolen) = Server::with_guest().await;
    let other = server.guest(DEVICE).await;
    let tokens = ok(server.refresh(&stolen.refresh_token)).await;
    let newest = text(&tokens["refresh_token"]);
    let node = &server.node;
    expect_refusal(node.refresh(&stolen.refresh_token), 401, "refresh_token_reused").await;
    expect_refusal(node.refresh(&newest), 401, "session_ended").await;
    expect_refusal(node.refresh(&stolen.refresh_token), 401, "session_ended").await;
    expect_refusal(node.get("/v1/me", &stolen), 401, "token_revoked").await;
    let access_token = text(&tokens["access_token"]);
    expect_refusal(node.get("/v1/me", &access_token), 401, "token_revoked").await;
    expect_signed_in(node, &other).await;
    ok(node.refresh(&other.refresh_token)).await;
}

/// A duplicated tab refreshes concurrently with its original, and a lost response is retried.
#[tokio::test]
async fn a_retried_refresh_gets_the_same_successor_for_a_minute() {
    let (server, guest) = Server::with_guest().await;
    let node = &server.node;
    let first = ok(node.refresh_by(&guest.refresh_token, DEVICE)).await;
    for wait in [Duration::ZERO, Duration::from_secs(40), Duration::from_millis(19_999)] {
        server.clock.advance(wait);
        let again = ok(node.refresh_by(&guest.refresh_token, DEVICE)).await;
        for same in ["session", "refresh_token", "refresh_expires_at"] {
            assert_eq!(again[same], first[same], "{same}");
        }
        expect_signed_in(node, &text(&again["access_token"])).await;
    }
    // Both tabs have the successor now, and refresh it alike.
    let successor = text(&first["refresh_token"]);
    let second = ok(node.refresh_by(&successor, DEVICE)).await;
    let again = ok(node.refresh_by(&successor, DEVICE)).await;
    assert_eq!(again["refresh_token"], second["refresh_token"]);
    assert_ne!(second["refresh_token"], first["refresh_token"]);
    server.clock.advance(REPEAT_PERIOD);
    expect_refusal(node.refresh_by(&successor, DEVICE), 401, "refresh_token_reused").await;
    let newest = text(&second["refresh_token"]);
    expect_refusal(node.refresh_by(&newest, DEVICE), 401, "session_ended").await;
}

/// A client that has used the successor has received the response, so a further retry is not
/// legitimate.
#[tokio::test]
async fn a_used_successor_ends_retries_of_its_predecessor() {
    let (server, guest) = Server::with_guest().await;
    let node = &server.node;
    let first = ok(node.refresh_by(&guest.refresh_token, DEVICE)).await;
    ok(node.refresh_by(&text(&first["refresh_token"]), DEVICE)).await;
    let again = node.refresh_by(&guest.refresh_token, DEVICE);
    expect_refusal(again, 401, "refresh_token_reused").await;
}

/// In either order of the thief and the player, and with any device named by the thief, the second
/// use ends the session, and no tokens are valid any more.
#[tokio::test]
async fn a_stolen_refresh_token_is_detected_within_the_minute() {
    let server = Server::new().await;
    let node = &server.node;
    for order in [
        [Some(DEVICE), None],
        [Some(DEVICE), Some(OTHER_DEVICE)],
        [None, Some(DEVICE)],
        [Some(OTHER_DEVICE), Some(DEVICE)],
        [Some(OTHER_DEVICE), Some(OTHER_DEVICE)],
        [None, None],
    ] {
        let guest = node.guest(DEVICE).await;
        let [first, second] = order.map(|device| match device {
            Some(device) => node.refresh_by(&guest.refresh_token, device),
            None => node.refresh(&guest.refresh_token),
        });
        let tokens = ok(first).await;
        let case = format!("{order:?}");
        expect_refusal_of(case, second, 401, "refresh_token_reused").await;
        let access_token = text(&tokens["access_token"]);
        expect_refusal(node.get("/v1/me", &access_token), 401, "token_revoked").await;
        let newest = text(&tokens["refresh_token"]);
        expect_refusal(node.refresh_by(&newest, DEVICE), 401, "session_ended").await;
    }
}

#[tokio::test]
async fn a_session_without_a_device_adopts_the_first_one() {
    let (server, guest) = Server::with_guest().await;
    let node = &server.node;
    ok(node.set_password(&guest, DEVICE, "Maria", PASSWORD).await).await;
    let named = json!({ "name": "Maria", "password": PASSWORD });
    let mut tokens = ok(node.post("/v1/sign-in/password", &named)).await;
    for _ in 0..2 {
        let token = text(&tokens["refresh_token"]);
        tokens = ok(node.refresh_by(&token, OTHER_DEVICE)).await;
        let again = ok(node.refresh_by(&token, OTHER_DEVICE)).await;
        assert_eq!(again["refresh_token"], tokens["refresh_token"]);
    }
    let token = text(&tokens["refresh_token"]);
    ok(node.refresh_by(&token, OTHER_DEVICE)).await;
    expect_refusal(node.refresh_by(&token, DEVICE), 401, "refresh_token_reused").await;
}

#[tokio::test]
async fn twenty_concurrent_refreshes_of_a_device_get_one_successor() {
    let (server, other) = Server::with_other().await;
    let mut token = server.guest(DEVICE).await.refresh_token;
    for _ in 0..3 {
        let races =
            (0..20).map(|number| ok(server.alternate(&other, number).refresh_by(&token, DEVICE)));
        let answers = join_all(races).await;
        let successor = text(&answers[0]["refresh_token"]);
        for answer in &answers {
            assert_eq!(answer["refresh_token"], successor.as_str());
            expect_signed_in(&other, &text(&answer["access_token"])).await;
        }
        token = successor;
    }
}

#[tokio::test]
async fn concurrent_refreshes_without_a_device_end_the_session() {
    let (server, guest) = Server::with_guest().await;
    let races = (0..20).map(|_| status_of(server.refresh(&guest.refresh_token)));
    let passed = join_all(races).await.into_iter().filter(|status| *status == 200).count();
    assert_eq!(passed, 1);
    expect_refusal(server.get("/v1/me", &guest), 401, "token_revoked").await;
}

#[tokio::test]
async fn tokens_expire() {
    let (server, guest) = Server::with_guest().await;
    server.clock.advance(REFRESH_TOKEN_LIFE - Duration::from_millis(1));
    let tokens = ok(server.refresh(&guest.refresh_token)).await;
    server.clock.advance(REFRESH_TOKEN_LIFE);
    let late = server.refresh(&text(&tokens["refresh_token"]));
    expect_refusal(late, 401, "refresh_token_expired").await;
}

#[tokio::test]
async fn refreshing_does_not_outlive_the_session() {
    let (server, guest) = Server::with_guest().await;
    let step = REFRESH_TOKEN_LIFE - Duration::from_secs(1);
    let mut refresh_token = guest.refresh_token;
    let mut age = Duration::ZERO;
    while age + step < SESSION_LIFE {
        server.clock.advance(step);
        age += step;
        let tokens = ok(server.refresh(&refresh_token)).await;
        refresh_token = text(&tokens["refresh_token"]);
    }
    server.clock.advance(SESSION_LIFE - age);
    expect_refusal(server.refresh(&refresh_token), 401, "refresh_token_expired").await;
}

#[tokio::test]
async fn signing_out_ends_this_session_at_once() {
    let (server, guest) = Server::with_guest().await;
    let other = server.guest(DEVICE).await;
    sign_out(&server, &guest).await;
    let node = &server.node;
    expect_refusal(node.get("/v1/me", &guest), 401, "token_revoked").await;
    expect_refusal(node.refresh(&guest.refresh_token), 401, "session_ended").await;
    expect_signed_in(node, &other).await;
}

/// Lets a node receive the ends of sessions.
async fn follow_revocations(node: &Node) -> JoinHandle<()> {
    let position = node.accounts.load_revocations().await.unwrap();
    let accounts = node.accounts.clone();
    tokio::spawn(async move { accounts.follow_revocations(position).await })
}

/// Waits until a node no longer accepts a guest's access token.
async fn wait_for_revocation(node: &Node, guest: &Guest) {
    wait_until("the node receives the end of the session", async || {
        status_of(node.get("/v1/me", guest)).await == 401
    })
    .await;
}

#[tokio::test]
async fn all_nodes_learn_of_an_ended_session() {
    let (server, other) = Server::with_other().await;
    let following = follow_revocations(&other).await;
    let guest = server.guest(DEVICE).await;
    expect_signed_in(&other, &guest).await;
    sign_out(&server, &guest).await;
    wait_for_revocation(&other, &guest).await;
    following.abort();

    let later = server.another_node().await;
    expect_refusal(later.get("/v1/me", &guest), 401, "token_revoked").await;
}

#[tokio::test]
async fn an_unknown_refresh_token_is_refused() {
    let server = Server::new().await;
    let unknown = format!("rt_{}", "0".repeat(64));
    for token in [unknown.as_str(), "", "rt_", "nonsense"] {
        expect_refusal_of(token, server.refresh(token), 401, "refresh_token_unknown").await;
    }
}

#[tokio::test]
async fn a_player_sees_its_own_sessions_only() {
    let (server, first) = Server::with_guest().await;
    let node = &server.node;
    node.guest(OTHER_DEVICE).await;
    server.clock.advance(Duration::from_mins(10));
    let second = node.post("/v1/sign-in/guest", &json!({ "device_id": DEVICE }));
    let second = second.header("user-agent", "Tongits/2.1");
    let second = ok(second.header("x-forwarded-for", "203.0.113.7")).await;
    server.clock.advance(Duration::from_mins(1));
    ok(node.refresh(&first.refresh_token)).await;
    let token = text(&second["access_token"]);
    let page = ok(node.get("/v1/me/sessions", &token)).await;
    let expected = json!({ "items": [
        {
            "id": second["session"], "method": "guest", "user_agent": "Tongits/2.1",
            "address": "127.0.0.1", "created_at": "2026-03-01T12:10:00.000Z",
            "last_seen_at": "2026-03-01T12:10:00.000Z", "current": true
        },
        {
            "id": first.answer["session"], "method": "guest", "user_agent": null,
            "address": "127.0.0.1", "created_at": "2026-03-01T12:00:00.000Z",
            "last_seen_at": "2026-03-01T12:11:00.000Z", "current": false
        },
    ], "next_cursor": null });
    assert_eq!(page, expected);
    let page = ok(node.get("/v1/me/sessions?limit=1", &token)).await;
    assert_eq!(page["items"][0], expected["items"][0]);
    let next = format!("/v1/me/sessions?limit=1&cursor={}", text(&page["next_cursor"]));
    let page = ok(node.get(&next, &token)).await;
    assert_eq!(page["items"][0], expected["items"][1]);
    assert!(page["next_cursor"].is_null());
    // A session that can no longer be refreshed is not listed.
    server.clock.advance(REFRESH_TOKEN_LIFE - Duration::from_secs(30));
    let anew = node.guest(DEVICE).await;
    let page = ok(node.get("/v1/me/sessions", &anew)).await;
    let ids: Vec<_> = items(&page).iter().map(|item| &item["id"]).collect();
    assert_eq!(ids, [&anew.answer["session"], &first.answer["session"]]);
}

#[tokio::test]
async fn one_session_is_ended_from_another() {
    let (server, here) = Server::with_guest().await;
    let node = &server.node;
    let lost = node.guest(DEVICE).await;
    let other = node.guest(OTHER_DEVICE).await;
    let end = |guest: &Guest, session: &str| {
        let path = format!("/v1/me/sessions/{session}");
        node.call(Method::DELETE, &path, &guest)
    };
    let session = text(&lost.answer["session"]);
    expect_refusal(end(&other, &session), 404, "session_not_found").await;
    let nobodys = uuid::Uuid::max().to_string();
    expect_refusal(end(&here, &nobodys), 404, "session_not_found").await;
    expect_refusal(end(&here, "x"), 422, "path_invalid").await;
    expect_signed_in(node, &lost).await;
    for _ in 0..2 {
        ok(end(&here, &session)).await;
    }
    expect_refusal(node.get("/v1/me", &lost), 401, "token_revoked").await;
    expect_refusal(node.refresh(&lost.refresh_token), 401, "session_ended").await;
    expect_signed_in(node, &here).await;
    assert_eq!(items(&ok(node.get("/v1/me/sessions", &here)).await).len(), 1);
}

#[tokio::test]
async fn signing_out_everywhere_ends_all_sessions_on_all_nodes() {
    let (server, other) = Server::with_other().await;
    let following = follow_revocations(&other).await;
    let node = &server.node;
    let guests = [node.guest(DEVICE).await, other.guest(DEVICE).await];
    let stranger = other.guest(OTHER_DEVICE).await;
    ok(node.call(Method::DELETE, "/v1/me/sessions", &guests[0])).await;
    for guest in &guests {
        expect_refusal(node.get("/v1/me", &guest), 401, "token_revoked").await;
        expect_refusal(other.refresh(&guest.refresh_token), 401, "session_ended").await;
    }
    wait_for_revocation(&other, &guests[1]).await;
    following.abort();
    let restarted = server.another_node().await;
    for guest in &guests {
        expect_refusal(restarted.get("/v1/me", &guest), 401, "token_revoked").await;
    }
    expect_signed_in(&restarted, &stranger).await;
    let back = node.guest(DEVICE).await;
    assert_eq!(back.id, guests[0].id);
}

/// A stolen refresh token that is presented to another node ends the family on every node.
#[tokio::test]
async fn a_token_family_ends_on_all_nodes() {
    let (server, other) = Server::with_other().await;
    let guest = server.guest(DEVICE).await;
    let tokens = ok(server.refresh(&guest.refresh_token)).await;
    let newest = text(&tokens["refresh_token"]);
    expect_refusal(other.refresh(&guest.refresh_token), 401, "refresh_token_reused").await;
    expect_refusal(server.refresh(&newest), 401, "session_ended").await;
    let restarted = server.another_node().await;
    let access_token = text(&tokens["access_token"]);
    expect_refusal(restarted.get("/v1/me", &access_token), 401, "token_revoked").await;
}
