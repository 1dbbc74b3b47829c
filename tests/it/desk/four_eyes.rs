//! The four-eyes principle: an administrator requests a correction and tries to approve it with
//! credentials that it has handed out itself.

use std::time::Duration;

use bahay::operators::Role;
use bahay_engine::table::PlayerId;
use reqwest::RequestBuilder;
use serde_json::json;
use uuid::Uuid;

use super::browser::{Browser, advance_to_next_code};
use crate::http::server::{Server, adjustment, expect_refusal, ok, refused, text};
use crate::support::db::{count_rows, count_waiting, lock_table};
use crate::support::waiting::wait_until;

const OPERATORS: &str = "/desk/operators";

/// The player's wallet before the correction, in hundredths of a coin.
const BEFORE: i64 = 1_000;

/// Requests an adjustment of a million coins and returns the path of the request.
async fn request_correction(browser: &mut Browser<'_>, player: PlayerId) -> String {
    request_adjustment(browser, player, "1000000").await
}

async fn request_adjustment(browser: &mut Browser<'_>, player: PlayerId, amount: &str) -> String {
    let (attempt, player) = (Uuid::new_v4().to_string(), player.to_string());
    let fields = [
        ("attempt", &*attempt),
        ("kind", "adjustment"),
        ("player", &player),
        ("amount", amount),
        ("reason", "a game was lost to a fault of ours"),
    ];
    let asked =
        browser.send("/desk/corrections/new", "/desk/corrections", &fields).await.expect(303);
    asked.location.expect("the response redirects to the request")
}

/// Approves a request at the desk and returns the status of the response.
async fn approve(browser: &mut Browser<'_>, request: &str) -> u16 {
    let answer = browser.send(request, &format!("{request}/approval"), &[]).await;
    if answer.status == 403 {
        answer.shows("independent");
    }
    answer.status
}

/// Adds an operator at the desk and returns its enrolment code.
async fn add(browser: &mut Browser<'_>, name: &str, role: &str) -> String {
    let page =
        browser.send(OPERATORS, OPERATORS, &[("name", name), ("role", role)]).await.expect(200);
    // The issuer sees no token.
    page.hides("bahay_op_");
    page.enrolment_code()
}

/// Resets an operator at the desk and returns its enrolment code.
async fn reset(browser: &mut Browser<'_>, name: &str) -> String {
    let page =
        browser.send(OPERATORS, &format!("{OPERATORS}/{name}/enrolment"), &[]).await.expect(200);
    page.enrolment_code()
}

/// Builds a request for a correction over the API.
fn request_over_api(server: &Server, token: &str, player: PlayerId) -> RequestBuilder {
    server.post_once(token, "/v1/operator/corrections", &adjustment(player, 1))
}

#[tokio::test]
async fn a_token_does_not_suffice_for_decisions() {
    let server = Server::new().await;
    let player = server.bank.player(BEFORE).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let request = request_correction(&mut luz, player).await;
    let id = request.rsplit('/').next().unwrap();
    let token = server.operator("kuya.ben", Role::Finance).await;
    for (what, body) in
        [("approval", json!({})), ("rejection", json!({ "reason": "not in our books" }))]
    {
        let path = format!("/v1/operator/corrections/{id}/{what}");
        expect_refusal(server.post_once(&token, &path, &body), 403, "second_factor_missing").await;
    }
    expect_refusal(request_over_api(&server, &token, player), 403, "second_factor_missing").await;
    // A token does not suffice to add a colleague either.
    let admin = server.operator("cora", Role::Admin).await;
    let add = json!({ "name": "puppet.two", "role": "finance" });
    for (path, body) in [
        ("/v1/operator/operators", add),
        ("/v1/operator/operators/kuya.ben/enrolment", json!({})),
        ("/v1/operator/token", json!({})),
    ] {
        expect_refusal(server.post_by(&admin, path, &body), 403, "second_factor_missing").await;
    }
    assert_eq!(server.bank.wallets(&[player]).await, [BEFORE]);
}

/// An operator works regularly; a day later its administrator tries to request a correction in the
/// operator's name, with a token created or renewed for it, in order to approve the request itself.
#[tokio::test]
async fn an_administrator_cannot_request_corrections_in_the_name_of_a_colleague() {
    let server = Server::new().await;
    let player = server.bank.player(BEFORE).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let code = add(&mut luz, "kuya.ben", "finance").await;
    let mut ben = Browser::new(&server);
    let factor = ben.complete_enrolment(&code).await;
    luz.send("/desk/operators", "/desk/operators/kuya.ben/token", &[]).await.expect(404);
    let luz_session = luz.cookies["__Host-bahay-desk"].clone();
    let made = json!({ "name": "cora", "role": "finance" });
    let made = server.post_by(&luz_session, "/v1/operator/operators", &made);
    let made = ok(made).await;
    assert_eq!(made.as_object().unwrap().keys().collect::<Vec<_>>(), ["enrolment_code"]);
    let renew = server.post_by(&luz_session, "/v1/operator/operators/kuya.ben/token", &json!({}));
    expect_refusal(renew, 404, "route_not_found").await;

    server.clock.advance(Duration::from_hours(25));
    ben.sign_in_with("kuya.ben", &factor).await.expect(303);
    let token = ben.create_token().await;
    expect_refusal(request_over_api(&server, &token, player), 403, "second_factor_missing").await;
    assert_eq!(count_rows(&server.bank.pool, "corrections").await, 0);
}

/// A replaced code binds its issuer for a day after the replacement; a sign-in with another code
/// does not shorten this time.
#[tokio::test]
async fn issuer_and_owner_of_a_code_are_dependent_for_a_day_after_its_end() {
    let server = Server::new().await;
    let player = server.bank.player(BEFORE).await;
    let mut luz = Browser::new(&server);
    let luz_factor = luz.enrol("ate.luz", Role::Admin).await;
    let mut cora = Browser::new(&server);
    let cora_factor = cora.enrol("cora", Role::Admin).await;
    Browser::new(&server).enrol("kuya.ben", Role::Finance).await;

    reset(&mut luz, "kuya.ben").await;
    server.clock.advance(Duration::from_hours(11));
    cora.sign_in_with("cora", &cora_factor).await.expect(303);
    let second = reset(&mut cora, "kuya.ben").await;
    let mut ben = Browser::new(&server);
    let ben_factor = ben.complete_enrolment(&second).await;
    server.clock.advance(Duration::from_hours(24) - Duration::from_secs(60));
    advance_to_next_code(&server.clock);
    luz.sign_in_with("ate.luz", &luz_factor).await.expect(303);
    let request = request_correction(&mut luz, player).await;
    server.clock.advance(Duration::from_secs(29));
    ben.sign_in_with("kuya.ben", &ben_factor).await.expect(303);
    assert_eq!(approve(&mut ben, &request).await, 403, "a second less than a day");
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(approve(&mut ben, &request).await, 303);
    server.bank.audit_clean().await;
}

/// An unused code ends when it expires, not when another code replaces it later.
#[tokio::test]
async fn issuer_and_owner_of_an_unused_code_are_dependent_for_a_day_after_its_expiry() {
    let server = Server::new().await;
    let player = server.bank.player(BEFORE).await;
    let mut luz = Browser::new(&server);
    let factor = luz.enrol("ate.luz", Role::Admin).await;
    Browser::new(&server).enrol("kuya.ben", Role::Finance).await;
    reset(&mut luz, "kuya.ben").await;

    server.clock.advance(Duration::from_hours(48) - Duration::from_secs(1));
    let code = server.reset_operator("kuya.ben").await;
    let mut ben = Browser::new(&server);
    ben.complete_enrolment(&code).await;
    luz.sign_in_with("ate.luz", &factor).await.expect(303);
    let request = request_correction(&mut luz, player).await;
    assert_eq!(approve(&mut ben, &request).await, 403, "a second less than a day");
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(approve(&mut ben, &request).await, 303);
    let theirs = request_correction(&mut ben, player).await;
    assert_eq!(approve(&mut luz, &theirs).await, 303);
    server.bank.audit_clean().await;
}

/// An operator is disabled while its decision waits for a lock: nothing is booked.
#[tokio::test]
async fn a_decision_of_a_session_that_ends_meanwhile_books_nothing() {
    let server = Server::new().await;
    let player = server.bank.player(BEFORE).await;
    let luz = server.session("ate.luz", Role::Finance).await;
    let ben = server.session("kuya.ben", Role::Finance).await;
    let asked = ok(request_over_api(&server, &luz, player)).await;
    let owner = server.owner_pool().await;
    let barrier = lock_table(&owner, "corrections in exclusive mode").await;
    let path = format!("/v1/operator/corrections/{}/approval", text(&asked["id"]));
    let decide = server.post_once(&ben, &path, &json!({}));
    let decide = tokio::spawn(async move { refused(decide).await });
    wait_until("the decision waits", async || count_waiting(&owner).await > 0).await;
    server.disable_operator("kuya.ben").await;
    barrier.rollback().await.unwrap();
    assert_eq!(decide.await.unwrap(), (401, "session_ended".to_owned()));
    assert_eq!(server.bank.wallets(&[player]).await, [BEFORE]);
}

#[tokio::test]
async fn an_operator_enrolled_by_the_requester_cannot_approve() {
    let server = Server::new().await;
    let player = server.bank.player(BEFORE).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    Browser::new(&server).enrol("kuya.ben", Role::Finance).await;
    let request = request_correction(&mut luz, player).await;

    // A new operator, and one that was reset.
    let code = add(&mut luz, "puppet", "finance").await;
    let mut puppet = Browser::new(&server);
    let puppets = puppet.complete_enrolment(&code).await;
    assert_eq!(approve(&mut puppet, &request).await, 403);
    let code = reset(&mut luz, "kuya.ben").await;
    let mut ben = Browser::new(&server);
    ben.complete_enrolment(&code).await;
    assert_eq!(approve(&mut ben, &request).await, 403);

    // Through a third operator.
    let code = add(&mut luz, "admin.two", "admin").await;
    let mut second = Browser::new(&server);
    second.complete_enrolment(&code).await;
    let code = add(&mut second, "puppet.two", "finance").await;
    let mut third = Browser::new(&server);
    third.complete_enrolment(&code).await;
    assert_eq!(approve(&mut third, &request).await, 403);

    // The opposite direction: the enrolled operator makes the request. And between two enrolled
    // operators.
    let theirs = request_adjustment(&mut puppet, player, "500000").await;
    assert_eq!(approve(&mut luz, &theirs).await, 403);
    assert_eq!(approve(&mut third, &theirs).await, 403);
    let reason = [("reason", "not in our books")];
    luz.send(&theirs, &format!("{theirs}/rejection"), &reason).await.expect(403);
    assert_eq!(server.bank.wallets(&[player]).await, [BEFORE]);

    // An independent operator may decide at once; the others may decide a day later.
    let mut cora = Browser::enrolled(&server, "cora", Role::Finance).await;
    assert_eq!(approve(&mut cora, &theirs).await, 303);
    server.clock.advance(Duration::from_hours(24) - Duration::from_secs(60));
    advance_to_next_code(&server.clock);
    puppet.sign_in_with("puppet", &puppets).await.expect(303);
    assert_eq!(approve(&mut puppet, &request).await, 403, "a minute less than a day");
    server.clock.advance(Duration::from_secs(60));
    assert_eq!(approve(&mut puppet, &request).await, 303);
    assert_eq!(server.bank.wallets(&[player]).await, [BEFORE + 150_000_000]);
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn a_reset_ends_the_token_too() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let ben = server.operator("kuya.ben", Role::Finance).await;
    reset(&mut luz, "kuya.ben").await;
    let list = server.get("/v1/operator/corrections", &ben);
    expect_refusal(list, 401, "operator_token_unknown").await;
}

#[tokio::test]
async fn a_token_expires() {
    let server = Server::new().await;
    let ben = server.operator("kuya.ben", Role::Viewer).await;
    let list = || server.get("/v1/operator/corrections", &ben);
    server.clock.advance(Duration::from_hours(24 * 90) - Duration::from_secs(1));
    assert_eq!(list().send().await.unwrap().status(), 200);
    server.clock.advance(Duration::from_secs(1));
    expect_refusal(list(), 401, "operator_token_expired").await;
}
