//! Problem details, the form of every refusal: `application/problem+json` (RFC 9457).
//!
//! The [`Code`] is the stable part; `bahay_api` lists the codes. REST and the upgrade to a socket
//! refuse in this form.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use axum::Json;
use axum::http::header::{
    CONNECTION, CONTENT_TYPE, RETRY_AFTER, SEC_WEBSOCKET_VERSION, UPGRADE, WWW_AUTHENTICATE,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bahay_api::Code;

use crate::auth::AuthError;
use crate::db::{self, Failure};
use crate::records::RecordError;

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");
const CHALLENGE_MISSING: HeaderValue = HeaderValue::from_static("Bearer realm=\"bahay\"");
const CHALLENGE_INVALID: HeaderValue =
    HeaderValue::from_static("Bearer realm=\"bahay\", error=\"invalid_token\"");
/// The delay, in seconds, after which a temporary failure is worth a retry.
const RETRY_AFTER_SHORT: HeaderValue = HeaderValue::from_static("1");

/// Turns codes into problems.
pub trait CodeExt {
    /// Returns a problem with this code and no detail.
    fn problem(self) -> Problem;

    /// Returns a problem with this code and a detail about this occurrence.
    fn with_detail(self, detail: impl Into<Cow<'static, str>>) -> Problem;
}

impl CodeExt for Code {
    fn problem(self) -> Problem {
        Problem { code: self, detail: None, retry_after: None }
    }

    fn with_detail(self, detail: impl Into<Cow<'static, str>>) -> Problem {
        Problem { code: self, detail: Some(detail.into()), retry_after: None }
    }
}

/// A refusal, before it is turned into a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub code: Code,
    /// A text for people about this occurrence.
    pub detail: Option<Cow<'static, str>>,
    /// The delay after which a retry makes sense, if it is known better than from the status.
    pub retry_after: Option<Duration>,
}

impl Problem {
    /// Returns `internal`, for a failure that the client cannot mend. Logs the error once, as an
    /// error, and does not show it to the client.
    pub fn internal(error: &dyn fmt::Display) -> Self {
        tracing::error!(%error, "a request failed");
        Code::Internal.problem()
    }

    /// Sets the delay after which the client may retry.
    #[must_use]
    pub fn with_retry_after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }

    /// Returns `unavailable`, for a dependency that does not answer. Logs the error once, as a
    /// warning.
    pub fn unavailable(error: &dyn fmt::Display) -> Self {
        tracing::warn!(%error, "a request was refused as unavailable");
        Code::Unavailable.with_detail("retry later; a retry is safe")
    }
}

impl From<AuthError> for Problem {
    fn from(error: AuthError) -> Self {
        let code = match error {
            AuthError::Missing => Code::TokenMissing,
            AuthError::Malformed => Code::TokenMalformed,
            AuthError::Forged => Code::TokenForged,
            AuthError::Expired => Code::TokenExpired,
            AuthError::Revoked => Code::TokenRevoked,
            AuthError::Unavailable => Code::Unavailable,
        };
        code.with_detail(error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.code.status();
        let mut response = (status, Json(self.code.body(self.detail))).into_response();
        response.extensions_mut().insert(self.code);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, PROBLEM_JSON);
        if self.code == Code::UpgradeRequired {
            // The first header is required by RFC 9110 (15.5.22), which in turn requires the
            // second; RFC 6455 (4.4) requires the third.
            headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
            headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
            headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        }
        if status == StatusCode::UNAUTHORIZED {
            let challenge = match self.code {
                Code::TokenMissing => CHALLENGE_MISSING,
                _ => CHALLENGE_INVALID,
            };
            headers.insert(WWW_AUTHENTICATE, challenge);
        } else if let Some(wait) = self.retry_after {
            headers.insert(RETRY_AFTER, retry_after_value(wait));
        } else if status == StatusCode::SERVICE_UNAVAILABLE
            || self.code == Code::IdempotencyKeyInUse
        {
            headers.insert(RETRY_AFTER, RETRY_AFTER_SHORT);
        }
        response
    }
}

/// Returns the header value of a delay, rounded up to whole seconds so that a client that waits as
/// told is admitted.
fn retry_after_value(wait: Duration) -> HeaderValue {
    let part = u64::from(wait.subsec_nanos() > 0);
    HeaderValue::from(wait.as_secs().saturating_add(part).max(1))
}

/// The error of a query.
impl From<db::Error> for Problem {
    fn from(error: db::Error) -> Self {
        if Failure::classify(&error).is_transient() {
            Self::unavailable(&error)
        } else {
            Self::internal(&error)
        }
    }
}

/// The error of reading a game's record.
impl From<RecordError> for Problem {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Database(error) => error.into(),
            RecordError::Unreachable { .. } => {
                tracing::warn!(%error, "a record cannot be read from the archive");
                Code::ArchiveUnreachable.with_detail("the record exists: retry later")
            }
            RecordError::Damaged { .. } => Self::internal(&error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AuthError, Problem};

    #[test]
    fn rest_and_socket_use_the_same_token_codes() {
        for error in AuthError::ALL {
            assert_eq!(Problem::from(error).code.as_str(), error.code());
        }
    }
}
