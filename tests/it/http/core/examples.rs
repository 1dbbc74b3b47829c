//! The server accepts the examples in openapi.yaml.

use bahay::operators::Role;
use reqwest::Method;
use serde_json::Value;
use uuid::Uuid;

use super::contract::{fill_path, list_operations};
use super::example_bodies::ExampleBodies;
use crate::http::server::{Server, ok};

/// The codes of a request whose body could not be parsed.
const UNREADABLE: [&str; 5] =
    ["body_malformed", "body_unreadable", "body_not_json", "body_too_large", "body_invalid"];

#[tokio::test]
async fn the_server_accepts_every_example() {
    let server = Server::new().await;
    let operator = server.session("ate.luz", Role::Admin).await;
    let document = ok(server.request(Method::GET, "/openapi.json")).await;
    let mut sent = 0;
    for (path, method, said) in list_operations(&document) {
        let name = format!("{method} {path}");
        let method: Method = method.to_uppercase().parse().unwrap();
        let schema = &said["requestBody"]["content"]["application/json"]["schema"];
        if schema.is_null() {
            continue;
        }
        sent += 1;
        let example = ExampleBodies(&document).build(schema);
        let request = server.request(method, &fill_path(path)).json(&example);
        let request = request.header("Idempotency-Key", Uuid::new_v4().to_string());
        let scheme = said["security"][0].as_object().and_then(|scheme| scheme.keys().next());
        let request = match scheme.map(String::as_str) {
            Some("operator_token") => request.bearer_auth(&operator),
            // Some operations end the player's session, so each request uses a session of its own.
            Some(_) => {
                let guest = server.guest(&format!("device-{}", Uuid::new_v4())).await;
                request.bearer_auth(&guest.access_token)
            }
            None => request,
        };
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(!status.is_server_error() || text.contains("unavailable"), "{name}: {text}");
        let code = serde_json::from_str::<Value>(&text).unwrap_or_default()["code"].clone();
        assert!(!UNREADABLE.iter().any(|unreadable| code == *unreadable), "{name}: {text}");
    }
    assert!(sent > 20, "{sent}");
}
