//! Calls of the REST API as a program makes them that has only an address and a token.

use bahay_client_tokio::Client;
use reqwest::header::RETRY_AFTER;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use uuid::Uuid;

/// A client of HTTP that ignores the proxies of the environment.
pub(crate) fn http_client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// The answer to a call.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In seconds.
    pub(crate) retry_after: Option<u64>,
    pub(crate) body: Value,
}

impl Answer {
    /// Returns the status and the code of a problem.
    pub(crate) fn refusal(&self) -> (u16, &str) {
        (self.status, self.body["code"].as_str().unwrap_or_default())
    }

    /// Asserts the status and the code of a problem, and returns it.
    #[track_caller]
    pub(crate) fn expect_refusal(self, status: u16, code: &str) -> Value {
        assert_eq!(self.refusal(), (status, code), "{}", self.body);
        self.body
    }

    /// Asserts the status and returns the body.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }
}

pub(crate) fn request(base: &str, token: &str, method: &str, path: &str) -> RequestBuilder {
    let method: Method = method.parse().unwrap();
    http_client().request(method, format!("{base}{path}")).bearer_auth(token)
}

pub(crate) async fn send(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let retry_after = response.headers().get(RETRY_AFTER);
    let retry_after = retry_after.map(|text| text.to_str().unwrap().parse().unwrap());
    let text = response.text().await.unwrap();
    let body = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() };
    Answer { status, retry_after, body }
}

/// Sends a request. Operators' acts have a new idempotency key.
pub(crate) async fn call_at(
    base: &str,
    token: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Answer {
    let mut request = request(base, token, method, path);
    if path.starts_with("/v1/operator") {
        request = request.header("idempotency-key", Uuid::new_v4().to_string());
    }
    if let Some(body) = body {
        request = request.json(body);
    }
    send(request).await
}

/// Sends a player's request, with the open socket that a seat at its own table requires.
pub(crate) async fn call(
    client: &Client,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Answer {
    if method == "POST" && path.contains("-tables") {
        client.hold_socket().await.unwrap();
    }
    call_at(client.base(), client.access_token(), method, path, body).await
}

pub(crate) async fn get(client: &Client, path: &str) -> Answer {
    call(client, "GET", path, None).await
}

pub(crate) async fn post(client: &Client, path: &str) -> Answer {
    call(client, "POST", path, None).await
}

pub(crate) async fn post_json(client: &Client, path: &str, body: &Value) -> Answer {
    call(client, "POST", path, Some(body)).await
}

pub(crate) async fn delete(client: &Client, path: &str) -> Answer {
    call(client, "DELETE", path, None).await
}

/// Returns the items of a page.
#[track_caller]
pub(crate) fn items(page: &Value) -> &Vec<Value> {
    page["items"].as_array().expect("a page has items")
}

/// Asserts that an object has these fields; it may have others.
#[track_caller]
pub(crate) fn assert_fields(object: &Value, expected: Value) {
    let Value::Object(expected) = expected else { panic!("{expected} is not an object") };
    for (name, field) in expected {
        assert_eq!(object[&name], field, "{name} of {object}");
    }
}
