//! Refreshing and ending sessions.

use std::time::Duration;

use bahay::accounts::{REFRESH_TOKEN_LIFE, REPEAT_PERIOD, SESSION_LIFE};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::http::server::{
    DEVICE, Guest, Node, OTHER_DEVICE, PASSWORD, Server, expect_refusal, expect_refusal_of, ok,
    status_of, text,
};
use crate::support::rest::items;
use crate::support::waiting::wait_until;

async fn expect_signed_in(node: &Node, by: &(impl AsRef<str> + ?Sized)) {
    ok(node.get("/v1/me", by)).await;
}

async fn sign_out(node: &Node, guest: &Guest) {
    ok(node.call(Method::POST, "/v1/sign-out", guest)).await;
}

#[tokio::test]
async fn refreshing_returns_new_tokens_of_the_same_session() {
    let (server, guest) = Server::with_guest().await;
    server.clock.advance(Duration::from_mins(20));
    expect_refusal(server.get("/v1/me", &guest), 401, "token_expired").await;
    let renewed = server.renew(&guest).await;
    assert_eq!(renewed.answer["session"], guest.answer["session"]);
    assert_ne!(renewed.refresh_token, guest.refresh_token);
    assert_eq!(renewed.answer["access_expires_at"], "2026-03-01T12:35:00.000Z");
    expect_signed_in(&server, &renewed).await;
    server.renew(&renewed).await;
}

#[tokio::test]
async fn a_reused_refresh_token_ends_its_session_only() {
    let (server, stolen) = Server::with_guest().await;
    let other = server.guest(DEVICE).await;
    let renewed = server.renew(&stolen).await;
    expect_refusal(server.refresh(&stolen.refresh_token), 401, "refresh_token_reused").await;
    server.expect_ended(&renewed).await;
    server.expect_ended(&stolen).await;
    expect_signed_in(&server, &other).await;
    server.renew(&other).await;
}

/// A duplicated tab refreshes concurrently with its original, and a lost response is retried.
#[tokio::test]
async fn a_retried_refresh_gets_the_same_successor_for_a_minute() {
    let (server, guest) = Server::with_guest().await;
    let first = server.renew_by(&guest, DEVICE).await;
    for wait in [Duration::ZERO, Duration::from_secs(40), Duration::from_millis(19_999)] {
        server.clock.advance(wait);
        let again = server.renew_by(&guest, DEVICE).await;
        for same in ["session", "refresh_token", "refresh_expires_at"] {
            assert_eq!(again.answer[same], first.answer[same], "{same}");
        }
        expect_signed_in(&server, &again).await;
    }
    // Both tabs have the successor now, and refresh it alike.
    let second = server.renew_by(&first, DEVICE).await;
    let again = server.renew_by(&first, DEVICE).await;
    assert_eq!(again.refresh_token, second.refresh_token);
    assert_ne!(second.refresh_token, first.refresh_token);
    server.clock.advance(REPEAT_PERIOD);
    let reused = server.refresh_by(&first.refresh_token, DEVICE);
    expect_refusal(reused, 401, "refresh_token_reused").await;
    expect_refusal(server.refresh_by(&second.refresh_token, DEVICE), 401, "session_ended").await;
}

/// A client that has used the successor has received the response, so a further retry is not
/// legitimate.
#[tokio::test]
async fn a_used_successor_ends_retries_of_its_predecessor() {
    let (server, guest) = Server::with_guest().await;
    let first = server.renew_by(&guest, DEVICE).await;
    server.renew_by(&first, DEVICE).await;
    let again = server.refresh_by(&guest.refresh_token, DEVICE);
    expect_refusal(again, 401, "refresh_token_reused").await;
}

/// In either order of the thief and the player, and with any device named by the thief, the second
/// use ends the session, and no tokens are valid any more.
#[tokio::test]
async fn a_stolen_refresh_token_is_detected_within_the_minute() {
    let server = Server::new().await;
    for order in [
        [Some(DEVICE), None],
        [Some(DEVICE), Some(OTHER_DEVICE)],
        [None, Some(DEVICE)],
        [Some(OTHER_DEVICE), Some(DEVICE)],
        [Some(OTHER_DEVICE), Some(OTHER_DEVICE)],
        [None, None],
    ] {
        let guest = server.guest(DEVICE).await;
        let [first, second] = order.map(|device| match device {
            Some(device) => server.refresh_by(&guest.refresh_token, device),
            None => server.refresh(&guest.refresh_token),
        });
        let renewed = guest.with_tokens(ok(first).await);
        let case = format!("{order:?}");
        expect_refusal_of(case, second, 401, "refresh_token_reused").await;
        expect_refusal(server.get("/v1/me", &renewed), 401, "token_revoked").await;
        let newest = server.refresh_by(&renewed.refresh_token, DEVICE);
        expect_refusal(newest, 401, "session_ended").await;
    }
}

#[tokio::test]
async fn a_session_without_a_device_adopts_the_first_one() {
    let (server, guest) = Server::with_guest().await;
    ok(server.set_password(&guest, DEVICE, "Maria", PASSWORD).await).await;
    let named = json!({ "name": "Maria", "password": PASSWORD });
    let mut maria = Guest::from_answer(ok(server.post("/v1/sign-in/password", &named)).await);
    for _ in 0..2 {
        let renewed = server.renew_by(&maria, OTHER_DEVICE).await;
        let again = server.renew_by(&maria, OTHER_DEVICE).await;
        assert_eq!(again.refresh_token, renewed.refresh_token);
        maria = renewed;
    }
    server.renew_by(&maria, OTHER_DEVICE).await;
    let by_another = server.refresh_by(&maria.refresh_token, DEVICE);
    expect_refusal(by_another, 401, "refresh_token_reused").await;
}

#[tokio::test]
async fn twenty_concurrent_refreshes_of_a_device_get_one_successor() {
    let (server, other) = Server::with_other().await;
    let mut guest = server.guest(DEVICE).await;
    for _ in 0..3 {
        let races = (0..20).map(|number| server.alternate(&other, number).renew_by(&guest, DEVICE));
        let renewed = join_all(races).await;
        for one in &renewed {
            assert_eq!(one.refresh_token, renewed[0].refresh_token);
            expect_signed_in(&other, one).await;
        }
        guest = renewed[0].clone();
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
    let renewed = server.renew(&guest).await;
    server.clock.advance(REFRESH_TOKEN_LIFE);
    expect_refusal(server.refresh(&renewed.refresh_token), 401, "refresh_token_expired").await;
}

#[tokio::test]
async fn refreshing_does_not_outlive_the_session() {
    let (server, mut guest) = Server::with_guest().await;
    let step = REFRESH_TOKEN_LIFE - Duration::from_secs(1);
    let mut age = Duration::ZERO;
    while age + step < SESSION_LIFE {
        server.clock.advance(step);
        age += step;
        guest = server.renew(&guest).await;
    }
    server.clock.advance(SESSION_LIFE - age);
    expect_refusal(server.refresh(&guest.refresh_token), 401, "refresh_token_expired").await;
}

#[tokio::test]
async fn signing_out_ends_this_session_at_once() {
    let (server, guest) = Server::with_guest().await;
    let other = server.guest(DEVICE).await;
    sign_out(&server, &guest).await;
    server.expect_ended(&guest).await;
    expect_signed_in(&server, &other).await;
}

/// Lets a node receive the ends of sessions.
async fn follow_revocations(node: &Node) -> JoinHandle<()> {
    let position = node.accounts.load_revocations().await.unwrap();
    let accounts = node.accounts.clone();
    tokio::spawn(async move { accounts.follow_revocations(position).await })
}

/// Waits until a node no longer accepts a guest's access token.
async fn wait_for_revocation(node: &Node, guest: &Guest) {
    let received = wait_until("the node receives the end of the session", async || {
        status_of(node.get("/v1/me", guest)).await == 401
    });
    let received = timeout(Duration::from_secs(5), received).await;
    received.expect("a node receives the end of a session within seconds");
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
    server.guest(OTHER_DEVICE).await;
    server.clock.advance(Duration::from_mins(10));
    let second = server.post("/v1/sign-in/guest", &json!({ "device_id": DEVICE }));
    let second = second.header("user-agent", "Tongits/2.1");
    let second = ok(second.header("x-forwarded-for", "203.0.113.7")).await;
    server.clock.advance(Duration::from_mins(1));
    ok(server.refresh(&first.refresh_token)).await;
    let token = text(&second["access_token"]);
    let page = ok(server.get("/v1/me/sessions", &token)).await;
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
    let pages = server.read_pages("/v1/me/sessions", "limit=1", &token).await;
    assert_eq!(json!(pages.concat()), expected["items"]);
    // A session that can no longer be refreshed is not listed.
    server.clock.advance(REFRESH_TOKEN_LIFE - Duration::from_secs(30));
    let anew = server.guest(DEVICE).await;
    let page = ok(server.get("/v1/me/sessions", &anew)).await;
    let ids: Vec<_> = items(&page).iter().map(|item| &item["id"]).collect();
    assert_eq!(ids, [&anew.answer["session"], &first.answer["session"]]);
}

#[tokio::test]
async fn one_session_is_ended_from_another() {
    let (server, here) = Server::with_guest().await;
    let lost = server.guest(DEVICE).await;
    let other = server.guest(OTHER_DEVICE).await;
    let end = |guest: &Guest, session: &str| {
        server.call(Method::DELETE, &format!("/v1/me/sessions/{session}"), guest)
    };
    let session = text(&lost.answer["session"]);
    expect_refusal(end(&other, &session), 404, "session_not_found").await;
    let nobodys = uuid::Uuid::max().to_string();
    expect_refusal(end(&here, &nobodys), 404, "session_not_found").await;
    expect_refusal(end(&here, "x"), 422, "path_invalid").await;
    expect_signed_in(&server, &lost).await;
    for _ in 0..2 {
        ok(end(&here, &session)).await;
    }
    server.expect_ended(&lost).await;
    expect_signed_in(&server, &here).await;
    assert_eq!(items(&ok(server.get("/v1/me/sessions", &here)).await).len(), 1);
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
        expect_refusal(node.get("/v1/me", guest), 401, "token_revoked").await;
        expect_refusal(other.refresh(&guest.refresh_token), 401, "session_ended").await;
    }
    wait_for_revocation(&other, &guests[1]).await;
    following.abort();
    let restarted = server.another_node().await;
    for guest in &guests {
        expect_refusal(restarted.get("/v1/me", guest), 401, "token_revoked").await;
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
    let renewed = server.renew(&guest).await;
    expect_refusal(other.refresh(&guest.refresh_token), 401, "refresh_token_reused").await;
    expect_refusal(server.refresh(&renewed.refresh_token), 401, "session_ended").await;
    server.another_node().await.expect_ended(&renewed).await;
}
