//! Pages instead of problem details: refusals of the layers around the desk, such as an unknown
//! path, a malformed id, a rate limit or a timeout, are displayed to people.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::middleware::Next;
use axum::response::Response;
use bahay_desk_ui::draw_refusal;
use maud::html;
use serde_json::Value;

use super::layout::page_status;
use super::with_security_headers;
use crate::http::Code;

/// The maximum size of problem details, in bytes. A detail may quote a query.
const PROBLEM_BYTES_MAX: usize = 64 * 1024;

/// Replaces problem details by a page, below `/desk`. Other headers stay as they are.
pub(crate) async fn draw_problems(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_desk = path == "/desk" || path.starts_with("/desk/");
    let response = next.run(request).await;
    let is_problem = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/problem+json"));
    let code = response.extensions().get::<Code>().copied().filter(|_| is_desk && is_problem);
    let Some(code) = code else {
        return response;
    };
    let (mut parts, body) = response.into_parts();
    let problem = to_bytes(body, PROBLEM_BYTES_MAX).await.unwrap_or_default();
    let problem: Value = serde_json::from_slice(&problem).unwrap_or_default();
    // The details of a malformed request are for programmers.
    let detail = problem["detail"].as_str().filter(|_| !is_request_malformed(code));
    let detail = detail.map(|detail| html! { (detail) });
    let page = draw_refusal(code, detail.as_ref()).into_string();
    parts.status = page_status(code);
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    with_security_headers(Response::from_parts(parts, Body::from(page)))
}

/// Returns whether a code refuses a request that could not be parsed.
const fn is_request_malformed(code: Code) -> bool {
    matches!(code, Code::PathInvalid | Code::QueryInvalid | Code::BodyInvalid)
}
