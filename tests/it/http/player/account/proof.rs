//! Account proofs. A copied access token can play, but cannot take over the account: changes of the
//! sign-in methods and the deletion of the account require a proof. Also tests the change of a
//! device's id.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::http::server::{
    DEVICE, Guest, Node, OTHER_DEVICE, PASSWORD, Server, expect_refusal, expect_refusal_of, ok,
};

/// The calls that require a proof, by method and path.
const PROVEN: [(Method, &str); 5] = [
    (Method::POST, "/v1/me/password"),
    (Method::POST, "/v1/me/identities"),
    (Method::DELETE, "/v1/me/identities/local"),
    (Method::DELETE, "/v1/me/devices"),
    (Method::DELETE, "/v1/me"),
];

fn device_proof_body(device: &str) -> Value {
    json!({ "by": "device", "device_id": device })
}

fn password_proof_body(password: &str) -> Value {
    json!({ "by": "password", "password": password })
}

fn send_call(node: &Node, (method, path): &(Method, &str), guest: &Guest) -> RequestBuilder {
    let body = match *path {
        "/v1/me/password" => json!({ "name": "Maria", "password": PASSWORD }),
        _ => json!({ "issuer": "local", "id_token": "x", "device_id": DEVICE }),
    };
    node.call(method.clone(), path, guest).json(&body)
}

/// An access token alone cannot change the account: not without a proof, nor with an invented one,
/// one of another session or player, or an expired one.
#[tokio::test]
async fn an_access_token_alone_cannot_change_the_account() {
    let (server, guest) = Server::with_guest().await;
    let elsewhere = server.guest(DEVICE).await;
    let of_elsewhere = server.device_proof(&elsewhere, DEVICE).await;
    let stranger = server.guest(OTHER_DEVICE).await;
    let strangers = server.device_proof(&stranger, OTHER_DEVICE).await;
    let made_up = format!("ap_{}", "0".repeat(80));
    let old = server.device_proof(&guest, DEVICE).await;
    server.clock.advance(Duration::from_mins(5));
    for one in PROVEN {
        expect_refusal(send_call(&server, &one, &guest), 403, "proof_missing").await;
        let good = server.device_proof(&guest, DEVICE).await;
        let twice = send_call(&server, &one, &guest).header("account-proof", &good);
        expect_refusal(twice.header("account-proof", &good), 403, "proof_missing").await;
        for proof in [&of_elsewhere, &strangers, &made_up, &old, "nonsense"] {
            let call = send_call(&server, &one, &guest).header("account-proof", proof);
            expect_refusal(call, 403, "proof_refused").await;
        }
    }
    // The account is unchanged.
    let methods = ok(server.get("/v1/me/sign-in-methods", &guest)).await;
    assert_eq!(methods, json!({ "devices": 1, "password_set_at": null, "identities": [] }));
    assert_eq!(server.guest(DEVICE).await.id, guest.id);
}

#[tokio::test]
async fn a_device_is_a_proof_only_without_password_and_identity() {
    let (server, guest) = Server::with_guest().await;
    let prove = |proof: Value| server.post_by(&guest, "/v1/me/proof", &proof);
    let unknown = device_proof_body("device-of-nobody-at-all");
    expect_refusal(prove(unknown), 403, "device_wrong").await;
    server.guest(OTHER_DEVICE).await;
    expect_refusal(prove(device_proof_body(OTHER_DEVICE)), 403, "device_wrong").await;
    expect_refusal(prove(password_proof_body(PASSWORD)), 409, "password_not_set").await;
    ok(server.set_password(&guest, DEVICE, "Maria", PASSWORD).await).await;
    // The finder of a lost telephone holds the device, but does not know the password.
    expect_refusal(prove(device_proof_body(DEVICE)), 403, "proof_insufficient").await;
    for _ in 0..5 {
        expect_refusal(prove(password_proof_body("wrong password")), 403, "password_wrong").await;
    }
    expect_refusal(prove(password_proof_body(PASSWORD)), 429, "sign_in_locked").await;
    server.clock.advance(Duration::from_mins(1));
    for _ in 0..4 {
        expect_refusal(prove(password_proof_body("wrong password")), 403, "password_wrong").await;
    }
    // The right password resets the count of failures.
    let proof = server.proof(&guest, &password_proof_body(PASSWORD)).await;
    expect_refusal(prove(password_proof_body("wrong password")), 403, "password_wrong").await;
    ok(server.delete_proven("/v1/me", &guest, &proof)).await;
}

fn change_device(node: &Node, guest: &Guest, old: &str, new: &str) -> RequestBuilder {
    let body = json!({ "device_id": old, "new_device_id": new });
    node.call(Method::PUT, "/v1/me/device", guest).json(&body)
}

/// A copy of the old id becomes useless: neither the id nor the sessions that it opened are valid.
#[tokio::test]
async fn a_changed_device_id_replaces_the_old_one() {
    let (server, guest) = Server::with_guest().await;
    let thief = server.guest(DEVICE).await;
    assert_eq!(thief.id, guest.id);
    let new = "device-drawn-anew-1";
    for _ in 0..2 {
        ok(change_device(&server, &guest, DEVICE, new)).await;
    }
    server.expect_ended(&thief).await;
    assert_ne!(server.guest(DEVICE).await.id, guest.id);
    assert_eq!(server.guest(new).await.id, guest.id);
    ok(server.get("/v1/me", &guest)).await;
    ok(server.refresh(&guest.refresh_token)).await;
    assert_eq!(ok(server.get("/v1/me/sign-in-methods", &guest)).await["devices"], 1);
}

#[tokio::test]
async fn a_device_id_changes_only_to_a_free_one_and_by_its_player() {
    let (server, guest) = Server::with_guest().await;
    let other = server.guest(OTHER_DEVICE).await;
    for (old, new, status, code) in [
        (OTHER_DEVICE, "device-drawn-anew-1", 403, "device_wrong"),
        ("device-of-nobody-at-all", "device-drawn-anew-1", 403, "device_wrong"),
        ("device-of-nobody-at-all", OTHER_DEVICE, 403, "device_wrong"),
        (DEVICE, OTHER_DEVICE, 409, "device_taken"),
        (DEVICE, DEVICE, 422, "body_invalid"),
        (DEVICE, "short", 422, "body_invalid"),
    ] {
        let case = format!("{old} to {new}");
        expect_refusal_of(case, change_device(&server, &guest, old, new), status, code).await;
    }
    assert_eq!(server.guest(DEVICE).await.id, guest.id);
    assert_eq!(server.guest(OTHER_DEVICE).await.id, other.id);
}
