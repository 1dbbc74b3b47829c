//! One person who acts as two: an administrator asks for a correction, and would decide on it by
//! what it has handed out itself.

use std::time::Duration;

use bahay::operators::Role;
use bahay_engine::table::PlayerId;
use serde_json::json;
use uuid::Uuid;

use super::browser::{Browser, PASSWORD, between, next_code};
use crate::http::server::{Server, expect_refusal, ok, text};

const OPERATORS: &str = "/desk/operators";

/// Coins of a player that somebody wants to have more of.
const BEFORE: i64 = 1_000;

/// Asks for a million coins; gives the page of the request.
async fn ask(browser: &mut Browser<'_>, player: PlayerId) -> String {
    let (attempt, player) = (Uuid::new_v4().to_string(), player.to_string());
    let fields = [
        ("attempt", &*attempt),
        ("kind", "adjustment"),
        ("player", &player),
        ("amount", "1000000"),
        ("reason", "a game was lost to a fault of ours"),
    ];
    let asked = browser.send("/desk/corrections/new", "/desk/corrections", &fields).await;
    assert_eq!(asked.status, 303, "{}", asked.text);
    asked.location.expect("the way to the request")
}

/// Approves a request at the desk; gives the status of the answer.
async fn approve(browser: &mut Browser<'_>, request: &str) -> u16 {
    let answer = browser.send(request, &format!("{request}/approval"), &[]).await;
    if answer.status == 403 {
        assert!(answer.text.contains("independent"), "{}", answer.text);
    }
    answer.status
}

/// Makes an operator at the desk; gives its token and its enrolment code.
async fn add(browser: &mut Browser<'_>, name: &str, role: &str) -> (String, String) {
    let told = browser.send(OPERATORS, OPERATORS, &[("name", name), ("role", role)]).await;
    assert_eq!(told.status, 200, "{}", told.text);
    (
        format!("bahay_op_{}", between(&told.text, "bahay_op_", "<")),
        format!("bahay_en_{}", between(&told.text, "bahay_en_", "<")),
    )
}

#[tokio::test]
async fn a_token_decides_on_nothing() {
    let server = Server::new().await;
    let player = server.bank.player(BEFORE).await;
    let mut luz = Browser::new(&server);
    luz.enrol("ate.luz", Role::Admin).await;
    let ben = server.operator("kuya.ben", Role::Finance).await;
    let request = ask(&mut luz, player).await;
    let id = request.rsplit('/').next().unwrap();
    let (added, _) = add(&mut luz, "puppet", "finance").await;
    let told = luz.send(OPERATORS, "/desk/operators/kuya.ben/token", &[]).await;
    let renewed = format!("bahay_op_{}", between(&told.text, "bahay_op_", "<"));
    for token in [&added, &renewed] {
        for (what, body) in
            [("approval", json!({})), ("rejection", json!({ "reason": "not in our books" }))]
        {
            let path = format!("/v1/operator/corrections/{id}/{what}");
            let decide = server.node.post(&path, &body).bearer_auth(token);
            let decide = decide.header("Idempotency-Key", Uuid::new_v4().to_string());
            expect_refusal(decide, 403, "second_factor_missing").await;
        }
    }
    assert_ne!(ben, renewed);
    // Nor does whoever made it decide on what is asked for by it.
    let body = json!({
        "kind": "adjustment", "player": player, "amount": 1, "reason": "found under the table"
    });
    let asked = server.node.post("/v1/operator/corrections", &body).bearer_auth(&renewed);
    let asked = ok(asked.header("Idempotency-Key", Uuid::new_v4().to_string())).await;
    let theirs = format!("/desk/corrections/{}", text(&asked["id"]));
    assert_eq!(approve(&mut luz, &theirs).await, 403);
    // And by a token alone nobody makes itself a colleague.
    let admin = server.operator("cora", Role::Admin).await;
    let add = json!({ "name": "puppet.two", "role": "finance" });
    for (path, body) in [
        ("/v1/operator/operators", add),
        ("/v1/operator/operators/kuya.ben/token", json!({})),
        ("/v1/operator/operators/kuya.ben/enrolment", json!({})),
    ] {
        let make = server.node.post(path, &body).bearer_auth(&admin);
        expect_refusal(make, 403, "second_factor_missing").await;
    }
    assert_eq!(server.bank.wallets(&[player]).await, [BEFORE]);
}

#[tokio::test]
async fn nobody_decides_by_a_sign_in_that_the_requester_has_handed_out() {
    let server = Server::new().await;
    let player = server.bank.player(BEFORE).await;
    let mut luz = Browser::new(&server);
    luz.enrol("ate.luz", Role::Admin).await;
    Browser::new(&server).enrol("kuya.ben", Role::Finance).await;
    let request = ask(&mut luz, player).await;

    // A new operator, and one who was reset.
    let (_, code) = add(&mut luz, "puppet", "finance").await;
    let mut puppet = Browser::new(&server);
    let puppets = puppet.take_up(&code).await.factor;
    assert_eq!(approve(&mut puppet, &request).await, 403);
    let told = luz.send(OPERATORS, "/desk/operators/kuya.ben/enrolment", &[]).await;
    let code = format!("bahay_en_{}", between(&told.text, "bahay_en_", "<"));
    let mut ben = Browser::new(&server);
    ben.take_up(&code).await;
    assert_eq!(approve(&mut ben, &request).await, 403);

    // Over a third one.
    let (_, code) = add(&mut luz, "admin.two", "admin").await;
    let mut second = Browser::new(&server);
    second.take_up(&code).await;
    let (_, code) = add(&mut second, "puppet.two", "finance").await;
    let mut third = Browser::new(&server);
    third.take_up(&code).await;
    assert_eq!(approve(&mut third, &request).await, 403);

    // The other way round: the one who was let in asks. And between two who were.
    let theirs = ask(&mut puppet, player).await;
    assert_eq!(approve(&mut luz, &theirs).await, 403);
    assert_eq!(approve(&mut third, &theirs).await, 403);
    let rejected =
        luz.send(&theirs, &format!("{theirs}/rejection"), &[("reason", "not in our books")]).await;
    assert_eq!(rejected.status, 403, "{}", rejected.text);
    assert_eq!(server.bank.wallets(&[player]).await, [BEFORE]);

    // Somebody whom nobody of them has let in decides at once; a day later the others do too.
    let mut cora = Browser::new(&server);
    cora.enrol("cora", Role::Finance).await;
    assert_eq!(approve(&mut cora, &theirs).await, 303);
    server.clock.advance(Duration::from_hours(24) - Duration::from_secs(60));
    next_code(&server.clock);
    let code = puppets.code(server.clock.now());
    assert_eq!(puppet.sign_in("puppet", PASSWORD, &code).await.status, 303);
    assert_eq!(approve(&mut puppet, &request).await, 403, "a minute less than a day");
    server.clock.advance(Duration::from_secs(60));
    assert_eq!(approve(&mut puppet, &request).await, 303);
    assert_eq!(server.bank.wallets(&[player]).await, [BEFORE + 200_000_000]);
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn a_reset_ends_the_token_too() {
    let server = Server::new().await;
    let mut luz = Browser::new(&server);
    luz.enrol("ate.luz", Role::Admin).await;
    let ben = server.operator("kuya.ben", Role::Finance).await;
    let told = luz.send(OPERATORS, "/desk/operators/kuya.ben/enrolment", &[]).await;
    assert_eq!(told.status, 200, "{}", told.text);
    let list = server.node.get("/v1/operator/corrections", &ben);
    expect_refusal(list, 401, "operator_token_unknown").await;
}

#[tokio::test]
async fn a_token_expires() {
    let server = Server::new().await;
    let ben = server.operator("kuya.ben", Role::Viewer).await;
    let list = || server.node.get("/v1/operator/corrections", &ben);
    server.clock.advance(Duration::from_hours(24 * 90) - Duration::from_secs(1));
    assert_eq!(list().send().await.unwrap().status(), 200);
    server.clock.advance(Duration::from_secs(1));
    expect_refusal(list(), 401, "operator_token_expired").await;
}
