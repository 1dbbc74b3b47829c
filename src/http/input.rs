//! Extractors for what a client says, each with the refusals of [`Problem`].

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{self, FromRequest, FromRequestParts, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use super::{Code, Problem};

/// A JSON body that is what the type asks for, and has nothing that it does not ask for: the
/// types say `deny_unknown_fields`.
#[derive(Clone, Copy, Debug)]
pub struct Body<T>(pub T);

/// What the path holds.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

/// What the query holds.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_json(&request) {
            return Err(
                Code::BodyNotJson.because("send the header `content-type: application/json`")
            );
        }
        let bytes = Bytes::from_request(request, state).await.map_err(unread)?;
        parse(&bytes).map(Self)
    }
}

/// First whether it is JSON at all, then whether it is an object, since serde would also take a
/// list for one, then whether it is the right one.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice::<IgnoredAny>(bytes)
        .map_err(|error| Code::BodyMalformed.because(error.to_string()))?;
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(Code::BodyInvalid.because("the body must be a JSON object"));
    }
    if has_zero(bytes) {
        return Err(Code::BodyInvalid.because("U+0000 is in no text here"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let code = match error.classify() {
            Category::Data => Code::BodyInvalid,
            Category::Syntax | Category::Eof | Category::Io => Code::BodyMalformed,
        };
        code.because(error.to_string())
    })
}

/// Whether a text of a document holds U+0000, which PostgreSQL takes in no text. JSON writes it as an
/// escape alone.
fn has_zero(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        if rest[at..].starts_with(br"\u0000") {
            return true;
        }
        // What is escaped may be a backslash.
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    false
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = extract::Path::from_request_parts(parts, state).await;
        let extract::Path(value) =
            path.map_err(|rejection| Code::PathInvalid.because(rejection.body_text()))?;
        // Nothing has a name with U+0000 in it, and PostgreSQL could not be asked for one.
        if parts.uri.path().contains("%00") {
            return Err(Code::RouteNotFound.plain());
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
            .map_err(|rejection| Code::QueryInvalid.because(rejection.body_text()))
    }
}

/// `application/json`, whatever parameters follow.
pub(super) fn is_json(request: &Request) -> bool {
    let header = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = header.and_then(|text| text.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

pub(super) fn unread(rejection: BytesRejection) -> Problem {
    match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
            Code::BodyTooLarge.because("a body has at most 16384 bytes")
        }
        // The library's enums are open, so every other kind is taken together.
        _ => Code::BodyUnreadable.plain(),
    }
}
