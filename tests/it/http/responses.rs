//! The responses of a server: JSON of successes, and the form of refusals.

use std::fmt::Display;

use futures_util::future::join_all;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{RequestBuilder, Response};
use serde_json::Value;

pub(crate) fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// Returns the JSON of a successful response.
pub(crate) async fn ok(request: RequestBuilder) -> Value {
    let response = request.send().await.expect("the server responds");
    let status = response.status();
    let body = response.text().await.expect("a response has a body");
    assert!(status.is_success(), "{status}: {body}");
    if body.is_empty() { Value::Null } else { serde_json::from_str(&body).expect("JSON") }
}

/// Sends a request, and returns the JSON of a response with the status of success, or status and
/// code of a refusal.
pub(crate) async fn answer(success: u16, request: RequestBuilder) -> Result<Value, (u16, String)> {
    let response = request.send().await.expect("the server responds");
    let status = response.status();
    if !status.is_success() {
        return Err(refusal(response).await);
    }
    assert_eq!(status, success);
    Ok(response.json().await.expect("JSON"))
}

/// Sends requests at once.
pub(crate) async fn answer_all(
    success: u16,
    requests: impl IntoIterator<Item = RequestBuilder>,
) -> Vec<Result<Value, (u16, String)>> {
    join_all(requests.into_iter().map(|request| answer(success, request))).await
}

/// Counts the successes, and asserts that all other answers are this refusal.
#[track_caller]
pub(crate) fn count_successes(
    case: &str,
    answers: Vec<Result<Value, (u16, String)>>,
    status: u16,
    code: &str,
) -> usize {
    let total = answers.len();
    let refusals: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
    assert!(
        refusals.iter().all(|refusal| *refusal == (status, code.to_owned())),
        "{case}: {refusals:?}"
    );
    total - refusals.len()
}

/// Sends a request that must be refused, and returns status and code.
pub(crate) async fn refused(request: RequestBuilder) -> (u16, String) {
    refusal(request.send().await.expect("the server responds")).await
}

/// Asserts that a refusal has the form of a problem, and returns status and code.
pub(crate) async fn refusal(response: Response) -> (u16, String) {
    let status = response.status();
    assert!(status.is_client_error() || status.is_server_error(), "{status}");
    let kind = response.headers().get(CONTENT_TYPE).expect("a refusal has a body").clone();
    let has_id = response.headers().contains_key("x-request-id");
    let challenges = response.headers().contains_key("www-authenticate");
    let body = response.text().await.expect("a refusal has a body");
    assert_eq!(kind, "application/problem+json", "{body}");
    assert!(has_id, "{body}");
    assert_eq!(challenges, status == 401, "{body}");
    let problem: Value = serde_json::from_str(&body).expect("a problem is JSON");
    assert_eq!(problem["status"], status.as_u16(), "{body}");
    assert!(!text(&problem["title"]).is_empty(), "{body}");
    let code = text(&problem["code"]);
    assert_eq!(problem["type"], format!("/problems#{code}"), "{body}");
    (status.as_u16(), code)
}

/// Asserts the status and code of a refusal.
pub(crate) async fn expect_refusal(request: RequestBuilder, status: u16, code: &str) {
    assert_eq!(refused(request).await, (status, code.to_owned()));
}

/// Asserts the status and code of a refusal, and returns its `Retry-After` in seconds.
pub(crate) async fn expect_delay(request: RequestBuilder, status: u16, code: &str) -> u64 {
    let response = request.send().await.expect("the server responds");
    let delay = response.headers().get(RETRY_AFTER).expect("the refusal names a delay").clone();
    assert_eq!(refusal(response).await, (status, code.to_owned()));
    delay.to_str().expect("a delay is text").parse().expect("a delay is a number")
}

/// Asserts the status and code of a refusal in a table of cases.
pub(crate) async fn expect_refusal_of(
    case: impl Display,
    request: RequestBuilder,
    status: u16,
    code: &str,
) {
    assert_eq!(refused(request).await, (status, code.to_owned()), "{case}");
}

/// Sends a request, and returns the status of the response.
pub(crate) async fn status_of(request: RequestBuilder) -> u16 {
    request.send().await.expect("the server responds").status().as_u16()
}
