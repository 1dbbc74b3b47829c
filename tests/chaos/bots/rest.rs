//! The few REST calls of a client. Each has a short timeout, since another node may answer.

use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

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

/// Returns a tournament with the player's entry.
pub(crate) async fn tournament(base: &str, token: &str, id: Uuid) -> Result<Value, RestError> {
    ask(http().get(format!("{base}/v1/tournaments/{id}")).bearer_auth(token)).await
}

pub(crate) async fn register(base: &str, token: &str, id: Uuid) -> Result<(), RestError> {
    let request = http().put(format!("{base}/v1/tournaments/{id}/entry")).bearer_auth(token);
    ask(request.json(&json!({}))).await.map(drop)
}

pub(crate) async fn withdraw(base: &str, token: &str, id: Uuid) -> Result<(), RestError> {
    let request = http().delete(format!("{base}/v1/tournaments/{id}/entry")).bearer_auth(token);
    ask(request).await.map(drop)
}

/// Ends a pause in an arena tournament.
pub(crate) async fn resume(base: &str, token: &str, id: Uuid) -> Result<(), RestError> {
    let request = http().delete(format!("{base}/v1/tournaments/{id}/pause")).bearer_auth(token);
    ask(request).await.map(drop)
}

/// Returns the table at which the player plays, whose seat is then the player's.
pub(crate) async fn own_table(base: &str, token: &str, id: Uuid) -> Result<String, RestError> {
    let request = http().get(format!("{base}/v1/tournaments/{id}/table")).bearer_auth(token);
    text(&ask(request).await?, "/table")
}

/// Returns the whole list of results of a tournament.
pub(crate) async fn results(base: &str, token: &str, id: Uuid) -> Result<Vec<Value>, RestError> {
    let path = format!("{base}/v1/tournaments/{id}/results?limit=100");
    let mut results = Vec::new();
    let mut next = path.clone();
    loop {
        let page = ask(http().get(&next).bearer_auth(token)).await?;
        for item in page["items"].as_array().into_iter().flatten() {
            results.extend(item["results"].as_array().into_iter().flatten().cloned());
        }
        let Some(cursor) = page["next_cursor"].as_str() else { return Ok(results) };
        next = format!("{path}&cursor={cursor}");
    }
}
