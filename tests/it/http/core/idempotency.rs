//! Retries under an `Idempotency-Key`.

use std::time::Duration;

use bahay::clock::Clock;
use bahay::operators::Role;
use bahay::retention::{ExpiringRows, Retention, RetentionPeriods};
use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use sqlx::PgPool;
use uuid::Uuid;

use crate::http::server::{
    DEVICE, Guest, Node, OTHER_DEVICE, Server, WELCOME, adjustment, expect_delay, ok, refusal, text,
};
use crate::support::db::{count_rows, execute, lock_table, read_value};
use crate::support::waiting::wait_until;

const DAILY: &str = "/v1/me/rewards/daily";
const RELIEF: &str = "/v1/me/rewards/relief";

/// Removes stored responses, as if their calls had never been answered.
const FORGET: &str = "update idempotency_keys set status = null, content_type = null, body = null";

/// Ends the leases of all calls.
const END_LEASES: &str = "update idempotency_keys set leased_until = now() - interval '1 ms'";

fn claim(node: &Node, guest: &Guest, key: &str) -> RequestBuilder {
    node.call(Method::POST, DAILY, guest).header("Idempotency-Key", key)
}

/// Returns the status, the content type, whether the response was replayed, and the bytes of the
/// body.
async fn send(request: RequestBuilder) -> (u16, String, bool, Vec<u8>) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    let replayed = response.headers().get("idempotency-replayed");
    let is_replayed = replayed.is_some_and(|value| value == "true");
    (status, kind, is_replayed, response.bytes().await.unwrap().to_vec())
}

/// Asserts a success that is not replayed, and returns the body.
async fn assert_executed(request: RequestBuilder) -> Vec<u8> {
    let (status, _, is_replayed, body) = send(request).await;
    assert_eq!((status, is_replayed), (200, false));
    body
}

/// Asserts the status and code of a refusal that is not replayed.
async fn assert_refused(request: RequestBuilder, status: u16, code: &str) {
    let response = request.send().await.unwrap();
    assert!(!response.headers().contains_key("idempotency-replayed"));
    assert_eq!(refusal(response).await, (status, code.to_owned()));
}

#[tokio::test]
async fn a_retry_gets_the_first_response_byte_for_byte() {
    let (server, other) = Server::with_other().await;
    let guest = server.guest(DEVICE).await;
    let (status, kind, is_replayed, body) = send(claim(&server, &guest, "a")).await;
    assert_eq!((status, is_replayed), (200, false));
    for node in [&server.node, &other] {
        // Time has passed, and the response is the same.
        server.clock.advance(Duration::from_mins(1));
        let again = send(claim(node, &guest, "a")).await;
        assert_eq!(again, (200, kind.clone(), true, body.clone()));
    }
    server.bank.audit_clean().await;
}

async fn count_keys(pool: &PgPool) -> i64 {
    count_rows(pool, "idempotency_keys").await
}

/// A refusal is not stored: a retry under its key executes the call anew.
#[tokio::test]
async fn a_refusal_frees_its_key() {
    let (server, other) = Server::with_other().await;
    let guest = server.guest(DEVICE).await;
    assert_eq!(send(claim(&server, &guest, "a")).await.0, 200);
    for number in 0..50 {
        let refused = claim(&server, &guest, &format!("refused-{number}"));
        assert_refused(refused, 409, "daily_claimed").await;
    }
    assert_eq!(count_keys(&server.bank.pool).await, 1);
    assert_refused(claim(&server, &guest, "b"), 409, "daily_claimed").await;
    server.clock.advance(Duration::from_hours(24));
    let guest = server.guest(DEVICE).await;
    assert_executed(claim(&other, &guest, "b")).await;
    assert!(send(claim(&server, &guest, "b")).await.2);
    server.bank.audit_clean().await;
}

/// A call that was taken over may have taken effect in an earlier attempt, so a refusal keeps the
/// attempt.
#[tokio::test]
async fn a_refusal_after_a_takeover_keeps_the_attempt() {
    let (server, guest) = Server::with_guest().await;
    let owner = server.owner_pool().await;
    assert_eq!(send(claim(&server, &guest, "a")).await.0, 200);
    let abandoned = "
        insert into idempotency_keys (caller, route, key, input_hash, attempt, lease, leased_until)
        select caller, route, 'b', input_hash, gen_random_uuid(), gen_random_uuid(), now()
        from idempotency_keys";
    execute(&owner, abandoned).await;
    let attempt = async || {
        let attempt = "select attempt from idempotency_keys where key = 'b'";
        read_value::<Uuid>(&owner, attempt).await
    };
    let before = attempt().await;
    assert_refused(claim(&server, &guest, "b"), 409, "daily_claimed").await;
    assert_eq!(attempt().await, before);
}

#[tokio::test]
async fn the_keys_of_a_caller_are_limited() {
    let (server, guest) = Server::with_guest().await;
    let other = server.guest(OTHER_DEVICE).await;
    let owner = server.owner_pool().await;
    assert_eq!(send(claim(&server, &guest, "a")).await.0, 200);
    let others = "
        insert into idempotency_keys (
            caller, route, key, input_hash, attempt, lease, leased_until, status, body, created_at
        )
        select k.caller, k.route, 'other-' || number, k.input_hash, gen_random_uuid(), k.lease,
            now(), 200, '', now() - interval '47 hours'
        from idempotency_keys k, generate_series(2, 1000) as number";
    execute(&owner, others).await;
    let one_more = claim(&server, &guest, "one-more");
    let retry_after = expect_delay(one_more, 429, "too_many_idempotency_keys").await;
    assert!((3_500..=3_600).contains(&retry_after), "{retry_after}");
    assert_eq!(count_keys(&owner).await, 1_000);
    // Stored responses are still replayed, and other callers are not affected.
    assert!(send(claim(&server, &guest, "a")).await.2);
    assert_eq!(send(claim(&server, &other, "a")).await.0, 200);
    // A key whose call was never answered can be taken over.
    execute(&owner, &format!("{FORGET} where key = 'other-2'")).await;
    assert_refused(claim(&server, &guest, "other-2"), 409, "daily_claimed").await;
}

#[tokio::test]
async fn a_key_is_bound_to_caller_route_and_input() {
    let (server, one) = Server::with_guest().await;
    let two = server.guest(OTHER_DEVICE).await;
    assert_eq!(send(claim(&server, &one, "k")).await.0, 200);
    assert_eq!(send(claim(&server, &two, "k")).await.0, 200);
    let relief = server.call(Method::POST, RELIEF, &one);
    assert_refused(relief.header("Idempotency-Key", "k"), 409, "relief_not_due").await;
    let with_body = claim(&server, &one, "k").body("something");
    assert_refused(with_body, 422, "idempotency_key_reused").await;

    let luz = server.session("ate.luz", Role::Finance).await;
    let ben = server.session("kuya.ben", Role::Admin).await;
    let path = "/v1/operator/corrections";
    let ask = |token: &str, amount: i64| {
        let ask = server.post_by(token, path, &adjustment(&one.id, amount));
        ask.header("Idempotency-Key", "k")
    };
    let first = ok(ask(&luz, 100)).await;
    assert_eq!(ok(ask(&luz, 100)).await, first);
    assert_refused(ask(&luz, 101), 422, "idempotency_key_reused").await;
    // The same key of another operator, or for another correction, names another call.
    let second = ok(ask(&ben, 200)).await;
    assert_ne!(first["id"], second["id"]);
    let approve = |id: &str| {
        let approve = server.call(Method::POST, &format!("{path}/{id}/approval"), &luz);
        approve.header("Idempotency-Key", "approve")
    };
    ok(approve(&text(&second["id"]))).await;
    let unknown = approve(&Uuid::new_v4().to_string());
    assert_refused(unknown, 422, "idempotency_key_reused").await;
}

#[tokio::test]
async fn a_key_has_1_to_128_visible_characters_and_occurs_once() {
    let (server, guest) = Server::with_guest().await;
    let long = "k".repeat(129);
    for key in ["", "with space", &long] {
        assert_refused(claim(&server, &guest, key), 422, "idempotency_key_invalid").await;
    }
    let twice = claim(&server, &guest, "a").header("Idempotency-Key", "b");
    assert_refused(twice, 422, "idempotency_key_invalid").await;
    let strange = server.call(Method::POST, DAILY, &guest);
    let strange = strange.header("Idempotency-Key", &b"\xc3\xa9"[..]);
    assert_refused(strange, 422, "idempotency_key_invalid").await;
    assert_eq!(send(claim(&server, &guest, &long[..128])).await.0, 200);
    let wallet = ok(server.get("/v1/me/wallet", &guest)).await;
    assert_eq!(wallet["available"], WELCOME.hundredths() + 10_000);
}

#[tokio::test]
async fn a_call_in_progress_is_not_repeated() {
    let (server, guest) = Server::with_guest().await;
    let owner = server.owner_pool().await;
    let barrier = lock_table(&owner, "rewards in access exclusive mode").await;
    let first = claim(&server, &guest, "a");
    let first = tokio::spawn(async move { send(first).await });
    wait_until("the call has begun", async || count_keys(&owner).await > 0).await;
    let again = claim(&server, &guest, "a");
    assert_eq!(expect_delay(again, 409, "idempotency_key_in_use").await, 1);
    barrier.rollback().await.unwrap();
    let (status, kind, is_replayed, body) = first.await.unwrap();
    assert_eq!((status, is_replayed), (200, false));
    assert_eq!(send(claim(&server, &guest, "a")).await, (200, kind, true, body));
}

/// A node dies after the coins moved and before the response was stored.
#[tokio::test]
async fn a_call_of_a_dead_node_is_taken_over() {
    let (server, guest) = Server::with_guest().await;
    let owner = server.owner_pool().await;
    let (_, kind, _, body) = send(claim(&server, &guest, "a")).await;
    execute(&owner, FORGET).await;
    assert_refused(claim(&server, &guest, "a"), 409, "idempotency_key_in_use").await;
    execute(&owner, END_LEASES).await;
    // A request with another body does not take the call over.
    let other = claim(&server, &guest, "a").body("x");
    assert_refused(other, 422, "idempotency_key_reused").await;
    let taken = send(claim(&server.another_node().await, &guest, "a")).await;
    assert_eq!(taken, (200, kind.clone(), false, body.clone()));
    assert_eq!(send(claim(&server, &guest, "a")).await, (200, kind, true, body));

    // The same holds for a correction, which was requested once.
    let luz = server.session("ate.luz", Role::Finance).await;
    let request = adjustment(&guest.id, 5);
    let ask = || {
        let ask = server.post_by(&luz, "/v1/operator/corrections", &request);
        ask.header("Idempotency-Key", "ask")
    };
    let (status, _, _, body) = send(ask()).await;
    assert_eq!(status, 201);
    execute(&owner, FORGET).await;
    execute(&owner, END_LEASES).await;
    let again = send(ask()).await;
    assert_eq!((again.0, again.2, again.3), (201, false, body));
    assert_eq!(count_rows(&owner, "corrections").await, 1);
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn an_internal_error_is_not_stored() {
    let (server, guest) = Server::with_guest().await;
    let owner = server.owner_pool().await;
    execute(&owner, "alter table rewards rename to mislaid").await;
    assert_refused(claim(&server, &guest, "a"), 500, "internal").await;
    assert_refused(claim(&server, &guest, "a"), 500, "internal").await;
    execute(&owner, "alter table mislaid rename to rewards").await;
    assert_executed(claim(&server, &guest, "a")).await;
}

#[tokio::test]
async fn a_hundred_concurrent_retries_take_effect_once() {
    let (server, other) = Server::with_other().await;
    let guest = server.guest(DEVICE).await;
    let calls = (0..100).map(|number| claim(server.alternate(&other, number), &guest, "a").send());
    let mut bodies = Vec::new();
    for response in join_all(calls).await {
        let response = response.unwrap();
        if response.status() == 200 {
            bodies.push(response.bytes().await.unwrap());
        } else {
            assert_eq!(refusal(response).await, (409, "idempotency_key_in_use".into()));
        }
    }
    assert!(!bodies.is_empty() && bodies.iter().all(|body| *body == bodies[0]));
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn stored_responses_are_removed_after_two_days() {
    let (server, guest) = Server::with_guest().await;
    send(claim(&server, &guest, "old")).await;
    server.clock.advance(Duration::from_hours(24));
    let guest = server.guest(DEVICE).await;
    send(claim(&server, &guest, "new")).await;
    let owner = server.owner_pool().await;
    let age = "update idempotency_keys set created_at = now() - interval '47 hours 59 minutes'";
    execute(&owner, age).await;
    let pool = server.bank.database.pool().await;
    let retention = Retention::new(pool, Clock::system(), RetentionPeriods::default());
    let remove = async || retention.remove(ExpiringRows::IdempotencyAnswers).await.unwrap();
    assert_eq!(remove().await, 0);
    let age = "update idempotency_keys set created_at = now() - interval '48 hours 1 minute'";
    execute(&owner, &format!("{age} where key = 'old'")).await;
    assert_eq!(remove().await, 1);
    assert!(send(claim(&server, &guest, "new")).await.2);
    // The old key now names a new call, which finds today's reward claimed.
    assert_refused(claim(&server, &guest, "old"), 409, "daily_claimed").await;
}
