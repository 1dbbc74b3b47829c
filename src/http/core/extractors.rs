//! Extractors of bodies, paths and queries, whose rejections are [`Problem`]s.

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{self, FromRequest, FromRequestParts, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use crate::clock::BoundedTimestamp;
use crate::http::{Code, CodeExt as _, Problem};

/// A JSON body. Unknown fields are rejected, because the body types are marked
/// `deny_unknown_fields`.
#[derive(Clone, Copy, Debug)]
pub struct Body<T>(pub T);

/// The parameters of the path.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

/// The parameters of the query.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        require_json(is_json(&request))?;
        let bytes = Bytes::from_request(request, state).await.map_err(body_problem)?;
        parse_json(&bytes).map(Self)
    }
}

/// Rejects a body of another content type than JSON.
pub(crate) fn require_json(is_json: bool) -> Result<(), Problem> {
    let wrong =
        || Code::BodyNotJson.with_detail("send the header `content-type: application/json`");
    is_json.then_some(()).ok_or_else(wrong)
}

/// Parses a JSON object. Syntax is checked first, then whether the value is an object (serde would
/// also accept a list for a struct), then the fields.
pub(crate) fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice::<IgnoredAny>(bytes)
        .map_err(|error| Code::BodyMalformed.with_detail(error.to_string()))?;
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(Code::BodyInvalid.with_detail("the body must be a JSON object"));
    }
    if contains_nul(bytes) {
        return Err(Code::BodyInvalid.with_detail("strings must not contain U+0000"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let code = match error.classify() {
            Category::Data => Code::BodyInvalid,
            Category::Syntax | Category::Eof | Category::Io => Code::BodyMalformed,
        };
        code.with_detail(error.to_string())
    })
}

/// Returns whether a string in a document contains U+0000, which PostgreSQL does not store. JSON
/// can write it only as an escape.
fn contains_nul(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        if rest[at..].starts_with(br"\u0000") {
            return true;
        }
        // The escaped character may itself be a backslash.
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    false
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = extract::Path::from_request_parts(parts, state).await;
        let extract::Path(value) =
            path.map_err(|rejection| Code::PathInvalid.with_detail(rejection.body_text()))?;
        // No name contains U+0000, and PostgreSQL would reject it in a query.
        if parts.uri.path().contains("%00") {
            return Err(Code::RouteNotFound.problem());
        }
        Ok(Self(value))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = extract::Query::from_request_parts(parts, state).await;
        query
            .map(|extract::Query(value)| Self(value))
            .map_err(|rejection| Code::QueryInvalid.with_detail(rejection.body_text()))
    }
}

/// Returns whether the content type is `application/json`, with any parameters.
pub(crate) fn is_json(request: &Request) -> bool {
    let header = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = header.and_then(|text| text.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

pub(crate) fn body_problem(rejection: BytesRejection) -> Problem {
    match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
            Code::BodyTooLarge.with_detail("a body has at most 16384 bytes")
        }
        // The library's enums are non-exhaustive; all other rejections are treated alike.
        _ => Code::BodyUnreadable.problem(),
    }
}

/// Rejects a period whose end is not later than its beginning.
pub(crate) fn check_period(
    from: Option<BoundedTimestamp>,
    to: Option<BoundedTimestamp>,
) -> Result<(), Problem> {
    match from.zip(to).is_some_and(|(from, to)| from >= to) {
        true => Err(Code::QueryInvalid.with_detail("`from` is not before `to`")),
        false => Ok(()),
    }
}
