//! Responses that browsers save as a CSV file.

use axum::body::Body;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};

/// Returns a response with a CSV file (RFC 4180) that has a header line. The name is plain ASCII
/// without quotes.
pub(crate) fn csv_response(name: &str, body: impl Into<Body>) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8; header=present"),
        (CONTENT_DISPOSITION, disposition.as_str()),
    ];
    (headers, body.into()).into_response()
}
