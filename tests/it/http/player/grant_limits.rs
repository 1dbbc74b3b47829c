//! The daily limits of grants per network, over HTTP.

use std::time::Duration;

use bahay::accounts;
use bahay::grant_limits::GrantLimits;
use bahay::ids::PlayerId;
use bahay::rewards::{RewardError, Rewards, Terms};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use crate::http::server::{Guest, Node, Server, Setup, expect_refusal, ok};
use crate::support::house::cheap_auth_options;

const DAY: Duration = Duration::from_hours(24);

async fn start_with_limit(welcomes: u32) -> Server {
    let grants = GrantLimits { welcomes, ..GrantLimits::default() };
    let auth_options = accounts::Options { grants, ..cheap_auth_options() };
    Server::with_setup(Setup { auth_options, ..Setup::default() }).await
}

async fn load_available(node: &Node, guest: &Guest) -> i64 {
    let wallet = ok(node.get("/v1/me/wallet", guest)).await;
    wallet["available"].as_i64().unwrap()
}

#[tokio::test]
async fn a_player_beyond_the_limit_gets_the_welcome_on_another_day() {
    let server = start_with_limit(2).await;
    let guests = server.guests(4).await;
    let mut wallets = vec![];
    for guest in &guests {
        wallets.push(load_available(&server, guest).await);
    }
    assert_eq!(wallets, [100_000, 100_000, 0, 0]);
    // Another sign-in on the same day does not help, and a daily reward is not possible before the
    // welcome grant.
    let again = server.guest("device-00000000-2").await;
    assert_eq!(load_available(&server, &again).await, 0);
    let standing = ok(server.get("/v1/me/rewards", &again)).await;
    assert_eq!(standing["daily"]["claimable"], false);
    assert_eq!(standing["daily"]["claimable_at"], "2026-03-02T00:00:00.000Z");
    let daily = server.call(Method::POST, "/v1/me/rewards/daily", &again);
    expect_refusal(daily, 409, "welcome_due").await;
    // Relief is available without coins, so the first game need not wait.
    let relief = server.call(Method::POST, "/v1/me/rewards/relief", &again);
    assert_eq!(ok(relief).await["available"], 10_000);
    ok(server.call(Method::POST, "/v1/rooms/newbie/seat", &again)).await;

    // A player who has received the welcome grant does not receive it again.
    server.clock.advance(DAY);
    let known = server.guest("device-00000000-0").await;
    assert_eq!(load_available(&server, &known).await, 100_000);
    // One player receives the grant by signing in, the other by refreshing.
    let signed_in = server.guest("device-00000000-2").await;
    assert_eq!(load_available(&server, &signed_in).await, 110_000);
    let guest = server.renew(&guests[3]).await;
    assert_eq!(load_available(&server, &guest).await, 100_000);
    ok(server.call(Method::POST, "/v1/me/rewards/daily", &guest)).await;
    server.bank.audit_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_newcomers_do_not_exceed_the_limit() {
    let server = start_with_limit(5).await;
    let signing_in = (0..20).map(|number| {
        let device = format!("device-0123456789-{number}");
        let node = &server.node;
        async move { node.guest(&device).await }
    });
    let guests = join_all(signing_in).await;
    let mut welcomed = 0;
    for guest in &guests {
        welcomed += i64::from(load_available(&server, guest).await > 0);
    }
    assert_eq!(welcomed, 5);
    let body = json!({ "device_id": "device-0123456789-99" });
    let late = server.sign_in(&body).await;
    assert_eq!(load_available(&server, &late).await, 0);
}

#[tokio::test]
async fn the_reliefs_of_a_network_are_limited_per_day() {
    let server = Server::new().await;
    let bank = &server.bank;
    let (pool, books, clock) = (bank.pool.clone(), bank.ledger.clone(), server.clock.clone());
    let limits = GrantLimits { reliefs: 2, ..GrantLimits::default() };
    let rewards = Rewards::new(pool, books, clock, Terms::default()).with_limits(limits);
    let claim = async |player: PlayerId, network: &str| {
        rewards.claim_relief(player, Some(network), Uuid::new_v4()).await
    };
    let players = bank.players([100; 4]).await;
    for player in &players[..2] {
        claim(*player, "2001:db8:1::/48").await.unwrap();
    }
    let refused = claim(players[2], "2001:db8:1::/48").await.unwrap_err();
    assert!(matches!(refused, RewardError::NetworkUsedUp { .. }), "{refused:?}");
    // A refused claim does not count against the player, and other networks have limits of their
    // own.
    assert_eq!(claim(players[2], "203.0.113.9").await.unwrap().left_today, 2);
    // A retried claim is the same claim.
    let attempt = Uuid::new_v4();
    for _ in 0..2 {
        let claimed = rewards.claim_relief(players[3], Some("203.0.113.9"), attempt).await;
        assert_eq!(claimed.unwrap().left_today, 2);
    }
    let last = claim(bank.player(100).await, "203.0.113.9").await.unwrap_err();
    assert!(matches!(last, RewardError::NetworkUsedUp { .. }), "{last:?}");
    server.clock.advance(DAY);
    claim(bank.player(100).await, "2001:db8:1::/48").await.unwrap();
    bank.audit_clean().await;
}
