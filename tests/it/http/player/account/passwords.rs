//! Names with passwords: the first password, changes, signing in, and lockouts.

use std::time::Duration;

use bahay::accounts::{self, HashOptions};
use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::http::server::{
    DEVICE, Guest, Node, OTHER_DEVICE, PASSWORD, Server, Setup, answer, count_successes,
    expect_delay, expect_refusal, expect_refusal_of, ok, refusal, refused, status_of, text,
};
use crate::support::db::read_value;
use crate::support::house::cheap_auth_options;

const OTHER: &str = "two carabaos and a jeepney";

fn sign_in(node: &Node, name: &str, password: &str) -> RequestBuilder {
    node.post("/v1/sign-in/password", &json!({ "name": name, "password": password }))
}

fn change_password(node: &Node, guest: &Guest, current: &str, new: &str) -> RequestBuilder {
    let body = json!({ "current_password": current, "password": new });
    node.call(Method::PUT, "/v1/me/password", guest).json(&body)
}

/// Starts a server with a guest who has the name Maria and a password.
async fn start_with_maria(setup: Setup) -> (Server, Guest) {
    let server = Server::with_setup(setup).await;
    let guest = server.guest(DEVICE).await;
    ok(server.set_password(&guest, DEVICE, "Maria", PASSWORD).await).await;
    (server, guest)
}

#[tokio::test]
async fn a_guest_with_a_password_keeps_everything_and_signs_in_by_name() {
    let (server, guest) = Server::with_guest().await;
    let token = guest.access_token.as_str();
    let wallet = ok(server.get("/v1/me/wallet", token)).await;
    let me = ok(server.set_password(token, DEVICE, "Maria", PASSWORD).await).await;
    assert_eq!(text(&me["id"]), guest.id);
    assert_eq!(me["name"], "Maria");
    // The player signs in on any node and in any letter case, and by its device as before.
    let other = server.another_node().await;
    for name in ["Maria", "maria", " MARIA ", "Ｍａｒｉａ"] {
        let signed_in = ok(sign_in(&other, name, PASSWORD)).await;
        assert_eq!(signed_in["player"], me, "{name}");
        let token = text(&signed_in["access_token"]);
        assert_eq!(ok(server.get("/v1/me/wallet", &token)).await, wallet);
    }
    assert_eq!(server.guest(DEVICE).await.id, guest.id);
    ok(server.get("/v1/me", token)).await;
    let methods = ok(server.get("/v1/me/sign-in-methods", token)).await;
    let set_at = "2026-03-01T12:00:00.000Z";
    assert_eq!(methods, json!({ "devices": 1, "password_set_at": set_at, "identities": [] }));
}

#[tokio::test]
async fn a_first_password_is_validated_and_set_once() {
    let (server, guest) = Server::with_guest().await;
    let long = "é".repeat(129);
    for password in ["", "1234567", &long] {
        let set = server.set_password(&guest, DEVICE, "Maria", password).await;
        expect_refusal_of(password, set, 422, "body_invalid").await;
    }
    for password in ["password", "IloveYou123", "mariamaria", "maria1maria", "aaaaaaaaaa"] {
        let set = server.set_password(&guest, DEVICE, "Maria Maria", password).await;
        expect_refusal_of(password, set, 422, "password_easy").await;
    }
    expect_refusal(change_password(&server, &guest, PASSWORD, OTHER), 409, "password_not_set")
        .await;
    ok(server.set_password(&guest, DEVICE, "Maria", PASSWORD).await).await;
    let body = json!({ "name": "Maria", "password": OTHER });
    let proof = server.proof(&guest, &json!({ "by": "password", "password": PASSWORD })).await;
    let again = server.post_by(&guest, "/v1/me/password", &body).header("account-proof", proof);
    expect_refusal(again, 409, "password_set").await;
    ok(sign_in(&server, "Maria", PASSWORD)).await;
    // The name is reserved for Maria now.
    let other = server.guest(OTHER_DEVICE).await;
    for name in ["Maria", "MARIA", "Mаria"] {
        let claim = server.set_password(&other, OTHER_DEVICE, name, OTHER).await;
        expect_refusal(claim, 409, "name_taken").await;
    }
    let house = server.set_password(&other, OTHER_DEVICE, "Bahay Support", OTHER).await;
    expect_refusal(house, 422, "name_reserved").await;
}

#[tokio::test]
async fn one_of_twenty_concurrent_claims_gets_the_name() {
    let (server, other) = Server::with_other().await;
    let races = (0..20).map(|number| {
        let node = server.alternate(&other, number);
        async move {
            let device = format!("device-0000000000-{number}");
            let guest = node.guest(&device).await;
            // The claims differ in their spelling.
            let name = if number % 3 == 0 { "MARIA" } else { "Maria" };
            answer(200, node.set_password(&guest, &device, name, PASSWORD).await).await
        }
    });
    assert_eq!(count_successes("one name", join_all(races).await, 409, "name_taken"), 1);
}

#[tokio::test]
async fn a_changed_password_ends_all_other_sessions() {
    let (server, here) = start_with_maria(Setup::default()).await;
    let there = server.guest(DEVICE).await;
    expect_refusal(change_password(&server, &here, OTHER, OTHER), 403, "password_wrong").await;
    for easy in ["12345678", "maria2026", "Maria-maria"] {
        expect_refusal(change_password(&server, &here, PASSWORD, easy), 422, "password_easy").await;
    }
    ok(change_password(&server, &here, PASSWORD, OTHER)).await;
    ok(server.get("/v1/me", &here)).await;
    ok(server.refresh(&here.refresh_token)).await;
    server.expect_ended(&there).await;
    expect_refusal(sign_in(&server, "Maria", PASSWORD), 401, "credentials_wrong").await;
    ok(sign_in(&server, "Maria", OTHER)).await;
}

#[tokio::test]
async fn a_name_is_locked_after_five_failures_a_minute_on_every_node() {
    let (server, _) = start_with_maria(Setup::default()).await;
    let node = &server.node;
    let wrong = async |name: &str, status: u16, code: &str| {
        expect_refusal_of(name, sign_in(node, name, "wrong password"), status, code).await;
    };
    // Four failures do not matter if the fifth attempt succeeds.
    for _ in 0..4 {
        wrong("Maria", 401, "credentials_wrong").await;
    }
    ok(sign_in(node, "Maria", PASSWORD)).await;
    for spelling in ["Maria", "maria", "MARIA", "Maria", "m a r i a"] {
        wrong(spelling, 401, "credentials_wrong").await;
    }
    // The right password is refused too, as it is on another node.
    let restarted = server.another_node().await;
    for node in [node, &restarted] {
        let locked = sign_in(node, "Maria", PASSWORD);
        assert_eq!(expect_delay(locked, 429, "sign_in_locked").await, 60);
    }
    // An unknown name gets the same responses.
    for _ in 0..5 {
        wrong("Nobody Here", 401, "credentials_wrong").await;
    }
    wrong("Nobody Here", 429, "sign_in_locked").await;
    // Other names are not affected, and the lockout ends after a minute.
    node.guest(DEVICE).await;
    server.clock.advance(Duration::from_secs(59));
    expect_refusal(sign_in(node, "Maria", PASSWORD), 429, "sign_in_locked").await;
    server.clock.advance(Duration::from_secs(1));
    ok(sign_in(node, "Maria", PASSWORD)).await;
}

/// A guesser at one address locks out strangers behind the same address, but nobody else. A guesser
/// at many addresses locks out strangers everywhere, but no client that has signed in from there
/// before.
#[tokio::test]
async fn guesses_do_not_lock_out_known_devices() {
    let proxies = "127.0.0.1".parse().unwrap();
    let setup = Setup::with_rate_limits(|limits| limits.proxies = proxies);
    let (server, _) = start_with_maria(setup).await;
    let from = |address: &str, password: &str| {
        sign_in(&server, "Maria", password).header("x-forwarded-for", address)
    };
    ok(from("192.0.2.1", PASSWORD)).await;
    for _ in 0..5 {
        expect_refusal(from("203.0.113.1", "wrong password"), 401, "credentials_wrong").await;
    }
    expect_refusal(from("203.0.113.1", PASSWORD), 429, "sign_in_locked").await;
    ok(from("198.51.100.1", PASSWORD)).await;
    // The owner's device is behind the same address and is counted separately.
    let by_device = |address: &str, password: &str| {
        let body = json!({ "name": "Maria", "password": password, "device_id": DEVICE });
        server.post("/v1/sign-in/password", &body).header("x-forwarded-for", address)
    };
    ok(by_device("203.0.113.1", PASSWORD)).await;
    for place in 1..=5 {
        let address = format!("192.0.2.{}", place * 7);
        expect_refusal(by_device(&address, "wrong password"), 401, "credentials_wrong").await;
    }
    expect_refusal(by_device("192.0.2.99", PASSWORD), 429, "sign_in_locked").await;
    server.clock.advance(Duration::from_mins(1));
    // Ten more addresses: guesses at the name arrive from everywhere.
    for place in 2..=11 {
        for _ in 0..5 {
            let _ = from(&format!("203.0.113.{place}"), "wrong password").send().await.unwrap();
        }
    }
    expect_refusal(from("198.51.100.99", PASSWORD), 429, "sign_in_locked").await;
    ok(from("192.0.2.1", PASSWORD)).await;
    ok(by_device("198.51.100.98", PASSWORD)).await;
}

#[tokio::test]
async fn concurrent_guesses_are_counted() {
    let (server, _) = start_with_maria(Setup::default()).await;
    let guesses = (0..40)
        .map(|number| status_of(sign_in(&server, "Maria", &format!("wrong password {number}"))));
    let answers = join_all(guesses).await;
    assert_eq!(answers.iter().filter(|status| **status == 401).count(), 5);
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), 35);
}

#[tokio::test]
async fn guesses_at_the_current_password_are_counted() {
    let (server, guest) = start_with_maria(Setup::default()).await;
    for _ in 0..5 {
        let wrong = change_password(&server, &guest, "wrong password", OTHER);
        expect_refusal(wrong, 403, "password_wrong").await;
    }
    expect_refusal(change_password(&server, &guest, PASSWORD, OTHER), 429, "sign_in_locked").await;
}

#[tokio::test]
async fn a_known_name_is_indistinguishable_from_an_unknown_one() {
    let (server, _) = start_with_maria(Setup::default()).await;
    // A guest without a password, an unknown name, and a text that is not a valid name.
    server.sign_in(&json!({ "device_id": OTHER_DEVICE, "name": "Luz" })).await;
    let mut bodies = Vec::new();
    for name in ["Maria", "Luz", "Somebody", "", "x", "\u{202e}", &"long ".repeat(500)] {
        let response = sign_in(&server, name, "wrong password").send().await.unwrap();
        assert_eq!(response.status(), 401, "{name:?}");
        bodies.push(response.json::<Value>().await.unwrap());
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    // A password that could not be set is reported as a wrong one.
    for password in ["", "short", &"é".repeat(2_000)] {
        let name = format!("Nobody {}", password.len());
        expect_refusal(sign_in(&server, &name, password), 401, "credentials_wrong").await;
    }
}

#[tokio::test]
async fn cheaper_hashes_are_upgraded_at_the_next_sign_in() {
    let (server, _) = start_with_maria(Setup::default()).await;
    let hash = async || read_value::<String>(&server.bank.pool, "select hash from passwords").await;
    let before = hash().await;
    assert!(before.starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{before}");
    let hashes = HashOptions { memory_kib: 128, passes: 2, ..cheap_auth_options().hashes };
    let auth_options = accounts::Options { hashes, ..cheap_auth_options() };
    let dearer = server.node_with(Setup { auth_options, ..Setup::default() }).await;
    expect_refusal(sign_in(&dearer, "Maria", "wrong password"), 401, "credentials_wrong").await;
    assert_eq!(hash().await, before);
    ok(sign_in(&dearer, "Maria", PASSWORD)).await;
    let after = hash().await;
    assert!(after.starts_with("$argon2id$v=19$m=128,t=2,p=1$"), "{after}");
    ok(sign_in(&dearer, "Maria", PASSWORD)).await;
    assert_eq!(hash().await, after);
    assert!(!format!("{before}{after}").contains(PASSWORD));
}

#[tokio::test]
async fn sign_ins_beyond_the_hashing_queue_are_refused() {
    let hashes = HashOptions { at_once: 1, waiting_max: 0, ..HashOptions::default() };
    let auth_options = accounts::Options { hashes, ..cheap_auth_options() };
    let server = Server::with_setup(Setup { auth_options, ..Setup::default() }).await;
    let attempts = (0..20).map(|number| {
        let attempt = sign_in(&server, &format!("Nobody {number}"), PASSWORD).send();
        async {
            let response = attempt.await.expect("the server responds");
            if response.status() == 401 {
                return 401;
            }
            assert_eq!(response.headers()["retry-after"], "1");
            assert_eq!(refusal(response).await, (503, "sign_in_busy".into()));
            503
        }
    });
    let answers = join_all(attempts).await;
    assert!(answers.contains(&401) && answers.contains(&503), "{answers:?}");
    // The queue was full only for a moment.
    expect_refusal(sign_in(&server, "Nobody", PASSWORD), 401, "credentials_wrong").await;
}

#[tokio::test]
async fn signing_in_is_limited_by_address() {
    let rate = "1:3".parse().unwrap();
    let server = Server::with_rate_limits(|limits| limits.sign_ins_per_address = rate).await;
    let attempts =
        (0..12).map(|number| refused(sign_in(&server, &format!("Nobody {number}"), PASSWORD)));
    let answers = join_all(attempts).await;
    let limited = (429, "too_many_requests".to_owned());
    assert!(answers.contains(&limited), "{answers:?}");
    assert!(answers.contains(&(401, "credentials_wrong".into())), "{answers:?}");
}
