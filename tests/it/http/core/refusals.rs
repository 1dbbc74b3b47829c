//! Invalid requests.

use bahay::operators::Role;
use reqwest::Method;
use serde_json::json;

use crate::http::server::{DEVICE, Server, expect_refusal, expect_refusal_of, ok, refused};
use crate::support::db::count_rows;

const SIGN_IN: &str = "/v1/sign-in/guest";

#[tokio::test]
async fn a_body_must_be_small_json_of_the_right_kind() {
    let server = Server::new().await;
    let post = |kind: &str, body: Vec<u8>| {
        server.request(Method::POST, SIGN_IN).header("content-type", kind).body(body)
    };
    let nested = "[".repeat(10_000);
    let large = format!(r#"{{"device_id":"{}"}}"#, "x".repeat(16 * 1024));
    for (body, status, code) in [
        ("", 400, "body_malformed"),
        ("{", 400, "body_malformed"),
        ("not json", 400, "body_malformed"),
        (r#"{"device_id":"0123456789abcdef"} {}"#, 400, "body_malformed"),
        (r#"{"device_id":"\ud800aaaaaaaaaaaaaaaa"}"#, 400, "body_malformed"),
        (&nested, 400, "body_malformed"),
        (&large, 413, "body_too_large"),
        ("{}", 422, "body_invalid"),
        ("[]", 422, "body_invalid"),
        ("null", 422, "body_invalid"),
        (r#"{"device_id":null}"#, 422, "body_invalid"),
        (r#"{"device_id":7}"#, 422, "body_invalid"),
        (r#"{"device_id":"short"}"#, 422, "body_invalid"),
        (r#"{"device_id":"with a space in it"}"#, 422, "body_invalid"),
        (r#"{"device_id":"0123456789abcdef","id":1}"#, 422, "body_invalid"),
        (r#"{"device_id":"0123456789abcdef","device_id":"0123456789abcdef"}"#, 422, "body_invalid"),
        (r#"{"device_id":"0123456789abcdef","name":"x"}"#, 422, "body_invalid"),
        (r#"{"device_id":"0123456789abcdef","time_zone":8}"#, 422, "body_invalid"),
        (r#"{"device_id":"0123456789abcdef","name":"Ana\u0000"}"#, 422, "body_invalid"),
    ] {
        let refused = refused(post("application/json", body.as_bytes().to_vec())).await;
        let start: String = body.chars().take(60).collect();
        assert_eq!(refused, (status, code.to_owned()), "{start}");
    }
    let not_text = post("application/json", b"{\"device_id\":\"\xff\xfe\"}".to_vec());
    expect_refusal(not_text, 400, "body_malformed").await;

    let good = json!({ "device_id": "0123456789abcdef" }).to_string().into_bytes();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
        expect_refusal_of(kind, post(kind, good.clone()), 415, "body_not_json").await;
    }
    let unnamed = server.request(Method::POST, SIGN_IN).body(good.clone());
    expect_refusal(unnamed, 415, "body_not_json").await;
    assert_eq!(count_rows(&server.bank.pool, "players").await, 0);
    ok(post("Application/JSON; charset=utf-8", good)).await;
}

/// PostgreSQL stores no U+0000, so it must be rejected before.
#[tokio::test]
async fn a_text_with_a_nul_is_refused() {
    let (server, guest) = Server::with_guest().await;
    let body = json!({ "name": "Ana\0", "password": "a long rain" });
    let sign_in = server.request(Method::POST, "/v1/sign-in/password").json(&body);
    expect_refusal(sign_in, 422, "body_invalid").await;
    let proof = server.device_proof(&guest, DEVICE).await;
    let unlink = server.delete_proven("/v1/me/identities/%00", &guest, &proof);
    expect_refusal(unlink, 404, "route_not_found").await;
    let sit = server.call(Method::POST, "/v1/rooms/newbie%00/seat", &guest);
    expect_refusal(sit, 404, "route_not_found").await;
    let token = server.operator("ana", Role::Admin).await;
    for path in ["/v1/operator/rooms/%00/revisions", "/v1/operator/ledger/accounts/%00"] {
        expect_refusal_of(path, server.get(path, &token), 404, "route_not_found").await;
    }
    // After an escaped backslash the same characters are ordinary text.
    let plain = server.request(Method::POST, "/v1/sign-in/password");
    let plain = plain.header("content-type", "application/json");
    let plain = plain.body(r#"{"name":"Ana\\u0000","password":"a long rain"}"#);
    expect_refusal(plain, 401, "credentials_wrong").await;
}

#[tokio::test]
async fn the_size_limit_holds_to_the_byte() {
    let (server, guest) = Server::with_guest().await;
    let padded = |bytes: usize| {
        let body = format!("{{{}}}", " ".repeat(bytes - 2));
        server
            .call(Method::PATCH, "/v1/me", &guest)
            .header("content-type", "application/json")
            .body(body)
    };
    ok(padded(16 * 1024)).await;
    expect_refusal(padded(16 * 1024 + 1), 413, "body_too_large").await;
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused_as_problems() {
    let server = Server::new().await;
    for path in ["/v1", "/v1/", "/v1/me/", "/v2/me", "/v1/sign-in", "/docs/../etc/passwd"] {
        expect_refusal_of(path, server.request(Method::GET, path), 404, "route_not_found").await;
    }
    for (method, path, allowed) in [
        (Method::GET, SIGN_IN, "POST"),
        (Method::PUT, "/v1/me", "GET,HEAD,PATCH,DELETE"),
        (Method::POST, "/healthz", "GET,HEAD"),
        (Method::TRACE, "/v1/me", "GET,HEAD,PATCH,DELETE"),
    ] {
        let response = server.request(method.clone(), path).send().await.unwrap();
        assert_eq!(response.headers()["allow"], allowed, "{method} {path}");
        let refused = crate::http::server::refusal(response).await;
        assert_eq!(refused, (405, "method_not_allowed".into()), "{method} {path}");
    }
}
