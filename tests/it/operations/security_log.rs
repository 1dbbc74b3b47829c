//! The security lines of the log: one for each sign-in, failure and change, and none with a secret.

use std::fs::File;

use bahay_client_tokio::Client;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::db::TestDatabase;
use crate::support::process::{Server, serve};
use crate::support::rest::http_client;

const PASSWORD: &str = "rain on a tin roof";
const OTHER: &str = "two carabaos and a jeepney";

#[tokio::test(flavor = "multi_thread")]
async fn each_security_event_is_logged() {
    let database = TestDatabase::new().await;
    let path = std::env::temp_dir().join(format!("bahay-log-{}", Uuid::new_v4()));
    let mut command = serve(&database);
    command.env("RUST_LOG", "warn,bahay::security=info").env("BAHAY_LOG_JSON", "true");
    command.stderr(File::create(&path).unwrap());
    let mut server = Server::start(&mut command).await;
    let device = format!("test-device-{}", Uuid::new_v4());
    let client = Client::guest(&server.url, &device, "Althea").await.unwrap();
    let http = http_client();
    let ask = |method: Method, path: &str, body: Value| -> RequestBuilder {
        let request = http.request(method, format!("{}{path}", server.url)).json(&body);
        request.bearer_auth(client.access_token())
    };
    let shown = json!({ "by": "device", "device_id": device });
    let shown = ask(Method::POST, "/v1/me/proof", shown).send().await.unwrap();
    let shown: Value = shown.json().await.unwrap();
    let proof = shown["proof"].as_str().unwrap().to_owned();
    let password = |method, current: &str, new: &str| {
        let mut body = json!({ "password": new });
        match method {
            Method::POST => body["name"] = json!("Maria"),
            _ => body["current_password"] = json!(current),
        }
        ask(method, "/v1/me/password", body).header("account-proof", &proof)
    };
    let sign_in = |password: &str| {
        let body = json!({ "name": "Maria", "password": password });
        http.post(format!("{}/v1/sign-in/password", server.url)).json(&body)
    };
    let refresh = || {
        let body = json!({ "refresh_token": client.refresh_token() });
        http.post(format!("{}/v1/token/refresh", server.url)).json(&body)
    };
    let foreign =
        http.get(format!("{}/v1/play", server.url)).header("origin", "https://evil.example");
    let me = client.player().to_string();
    let expected = [
        (None, "sign_in_guest", "done", Some(&*me)),
        (None, "account_proof", "done", Some(&*me)),
        (Some(password(Method::POST, "", PASSWORD)), "password_set", "done", Some(&*me)),
        (
            Some(password(Method::PUT, "wrong", OTHER)),
            "password_change",
            "password_wrong",
            Some(&*me),
        ),
        (Some(sign_in("wrong")), "sign_in_password", "credentials_wrong", None),
        (Some(sign_in(PASSWORD)), "sign_in_password", "done", Some(&*me)),
        (Some(foreign), "origin", "origin_refused", None),
        (Some(refresh()), "refresh", "done", None),
        (Some(refresh()), "refresh", "refresh_token_reused", None),
        (Some(ask(Method::DELETE, "/v1/me", json!(null))), "account_delete", "token_revoked", None),
    ];
    let mut lines = Vec::new();
    for (request, event, outcome, player) in expected {
        if let Some(request) = request {
            request.send().await.unwrap();
        }
        lines.push((event.to_owned(), outcome.to_owned(), player.map(str::to_owned)));
    }
    server.terminate();
    server.wait();
    let log = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let told: Vec<_> = log.lines().filter_map(security).collect();
    assert_eq!(told, lines, "{log}");
    for secret in [PASSWORD, OTHER, &device, &proof, client.access_token(), client.refresh_token()]
    {
        assert!(!log.contains(secret), "a secret is in the log");
    }
}

/// Returns event, outcome and player of a security line.
fn security(line: &str) -> Option<(String, String, Option<String>)> {
    let line: Value = serde_json::from_str(line).ok()?;
    if line["target"] != "bahay::security" {
        return None;
    }
    assert_eq!(line["address"], "127.0.0.1", "{line}");
    let text = |field: &str| line[field].as_str().map(str::to_owned);
    Some((text("event")?, text("outcome")?, text("player")))
}
