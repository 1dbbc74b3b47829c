//! Staying signed in, and no longer being it.

use std::time::Duration;

use bahay::accounts::{REFRESH_TOKEN_LIFE, SESSION_LIFE};
use futures_util::future::join_all;
use reqwest::Method;

use super::server::{Guest, Node, Server, expect_refusal, ok, refused, text};

const DEVICE: &str = "device-0123456789";

async fn expect_signed_in(node: &Node, access_token: &str) {
    ok(node.get("/v1/me", access_token)).await;
}

async fn sign_out(node: &Node, guest: &Guest) {
    ok(node.request(Method::POST, "/v1/sign-out").bearer_auth(&guest.access_token)).await;
}

#[tokio::test]
async fn refreshing_gives_new_tokens_of_the_same_session() {
    let server = Server::new().await;
    let guest = server.node.guest(DEVICE).await;
    server.clock.advance(Duration::from_mins(20));
    expect_refusal(server.node.get("/v1/me", &guest.access_token), 401, "token_expired").await;
    let tokens = ok(server.node.refresh(&guest.refresh_token)).await;
    assert_eq!(tokens["session"], guest.answer["session"]);
    assert_ne!(tokens["refresh_token"], guest.answer["refresh_token"]);
    assert_eq!(tokens["access_expires_at"], "2026-03-01T12:35:00.000Z");
    expect_signed_in(&server.node, &text(&tokens["access_token"])).await;
    ok(server.node.refresh(&text(&tokens["refresh_token"]))).await;
}

#[tokio::test]
async fn a_refresh_token_that_comes_twice_ends_its_session_and_no_other() {
    let server = Server::new().await;
    let stolen = server.node.guest(DEVICE).await;
    let other = server.node.guest(DEVICE).await;
    let tokens = ok(server.node.refresh(&stolen.refresh_token)).await;
    let newest = text(&tokens["refresh_token"]);
    let node = &server.node;
    expect_refusal(node.refresh(&stolen.refresh_token), 401, "refresh_token_reused").await;
    expect_refusal(node.refresh(&newest), 401, "session_ended").await;
    expect_refusal(node.refresh(&stolen.refresh_token), 401, "session_ended").await;
    expect_refusal(node.get("/v1/me", &stolen.access_token), 401, "token_revoked").await;
    let access_token = text(&tokens["access_token"]);
    expect_refusal(node.get("/v1/me", &access_token), 401, "token_revoked").await;
    expect_signed_in(node, &other.access_token).await;
    ok(node.refresh(&other.refresh_token)).await;
}

#[tokio::test]
async fn of_twenty_raced_refreshes_at_most_one_passes_and_the_session_ends() {
    let server = Server::new().await;
    let guest = server.node.guest(DEVICE).await;
    let races = (0..20).map(|_| async {
        server.node.refresh(&guest.refresh_token).send().await.expect("the server answers").status()
    });
    let passed = join_all(races).await.into_iter().filter(|status| status.is_success()).count();
    assert_eq!(passed, 1);
    expect_refusal(server.node.get("/v1/me", &guest.access_token), 401, "token_revoked").await;
}

#[tokio::test]
async fn tokens_end_with_their_time() {
    let server = Server::new().await;
    let guest = server.node.guest(DEVICE).await;
    server.clock.advance(REFRESH_TOKEN_LIFE - Duration::from_millis(1));
    let tokens = ok(server.node.refresh(&guest.refresh_token)).await;
    server.clock.advance(REFRESH_TOKEN_LIFE);
    let late = server.node.refresh(&text(&tokens["refresh_token"]));
    expect_refusal(late, 401, "refresh_token_expired").await;
}

#[tokio::test]
async fn refreshing_does_not_outlive_the_session() {
    let server = Server::new().await;
    let guest = server.node.guest(DEVICE).await;
    let step = REFRESH_TOKEN_LIFE - Duration::from_secs(1);
    let mut refresh_token = guest.refresh_token;
    let mut age = Duration::ZERO;
    while age + step < SESSION_LIFE {
        server.clock.advance(step);
        age += step;
        let tokens = ok(server.node.refresh(&refresh_token)).await;
        refresh_token = text(&tokens["refresh_token"]);
    }
    server.clock.advance(SESSION_LIFE - age);
    expect_refusal(server.node.refresh(&refresh_token), 401, "refresh_token_expired").await;
}

#[tokio::test]
async fn signing_out_ends_this_session_at_once() {
    let server = Server::new().await;
    let guest = server.node.guest(DEVICE).await;
    let other = server.node.guest(DEVICE).await;
    sign_out(&server.node, &guest).await;
    let node = &server.node;
    expect_refusal(node.get("/v1/me", &guest.access_token), 401, "token_revoked").await;
    expect_refusal(node.refresh(&guest.refresh_token), 401, "session_ended").await;
    expect_signed_in(node, &other.access_token).await;
}

#[tokio::test]
async fn other_nodes_hear_of_an_ended_session_and_so_does_one_that_starts_later() {
    let server = Server::new().await;
    let other = server.another_node().await;
    let following = tokio::spawn({
        let accounts = other.accounts.clone();
        async move { accounts.follow_revocations().await }
    });
    let guest = server.node.guest(DEVICE).await;
    expect_signed_in(&other, &guest.access_token).await;
    sign_out(&server.node, &guest).await;
    let heard = async {
        while other.get("/v1/me", &guest.access_token).send().await.expect("an answer").status()
            != 401
        {
            tokio::task::yield_now().await;
        }
    };
    let heard = tokio::time::timeout(Duration::from_secs(5), heard).await;
    assert!(heard.is_ok(), "the other node has not heard");
    following.abort();

    let later = server.another_node().await;
    expect_refusal(later.get("/v1/me", &guest.access_token), 401, "token_revoked").await;
}

#[tokio::test]
async fn an_unknown_refresh_token_is_nobodys() {
    let server = Server::new().await;
    let unknown = format!("rt_{}", "0".repeat(64));
    for token in [unknown.as_str(), "", "rt_", "nonsense"] {
        let refused = refused(server.node.refresh(token)).await;
        assert_eq!(refused, (401, "refresh_token_unknown".into()), "{token}");
    }
}
