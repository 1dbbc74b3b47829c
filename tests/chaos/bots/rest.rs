//! The few REST calls of a client. Each has a short timeout, since another node may answer.

use std::time::Duration;

use serde_json::{Value, json};

const TIMEOUT: Duration = Duration::from_secs(5);

/// The failure of a call.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum RestError {
    #[error("{code}")]
    Refused { status: u16, code: String },
    #[error("unreachable: {0}")]
    Unreachable(String),
}

impl From<reqwest::Error> for RestError {
    fn from(error: reqwest::Error) -> Self {
        Self::Unreachable(error.to_string())
    }
}

/// Sends a request and returns the body of its response.
async fn ask(request: reqwest::RequestBuilder) -> Result<Value, RestError> {
    let answer = request.timeout(TIMEOUT).send().await?;
    let status = answer.status();
    let body = answer.bytes().await?;
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    if status.is_success() {
        return Ok(body);
    }
    let code = body["code"].as_str().unwrap_or("no_problem_document").to_owned();
    Err(RestError::Refused { status: status.as_u16(), code })
}

fn text(body: &Value, pointer: &str) -> Result<String, RestError> {
    let found = body.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    found.ok_or_else(|| RestError::Unreachable(format!("an answer without {pointer}")))
}

/// Creates a client for one call, so that no connection outlives the node that answered.
fn http() -> reqwest::Client {
    let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build();
    http.expect("a plain client")
}

/// Returns the player's id and an access token.
pub(crate) async fn sign_in(
    base: &str,
    device: &str,
    name: &str,
) -> Result<(String, String), RestError> {
    let body = json!({ "device_id": device, "name": name });
    let answer = ask(http().post(format!("{base}/v1/sign-in/guest")).json(&body)).await?;
    Ok((text(&answer, "/player/id")?, text(&answer, "/access_token")?))
}

/// Returns the table at which a room has seated the player.
pub(crate) async fn seat(base: &str, token: &str, room: &str) -> Result<String, RestError> {
    let request = http().post(format!("{base}/v1/rooms/{room}/seat")).bearer_auth(token);
    text(&ask(request).await?, "/table")
}
