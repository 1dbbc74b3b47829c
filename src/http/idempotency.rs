//! Calls that move coins, and may be repeated: the header `Idempotency-Key`.
//!
//! A handler that takes a [`Once`] gives its work to [`Once::answer`]. With a key, the answer of the
//! work that was done is stored, and a repeated call gets it byte for byte, marked by a header. A
//! refusal changed nothing, so it is not stored: the call may pass later under the same key. Nor is an
//! answer of 500 or above, of which it is not known what it has changed; its attempt is remembered.
//!
//! The work is carried on when the client goes away, so that its answer is there when it comes
//! back.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use axum::body::{Body as AnswerBody, Bytes, to_bytes};
use axum::extract::{FromRef, FromRequest, MatchedPath, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tracing::Instrument as _;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::auth::Player;
use crate::db::Failure;
use crate::entropy;
use crate::idempotency::{Answer, Call, Claim, Idempotency, Lease};
use crate::operators::Operator;

use super::input::{is_json, parse, unread};
use super::{Code, Problem, Services};

pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(super) const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The longest key, in bytes.
const KEY_BYTES_MAX: usize = 128;

/// For a call that may carry a key.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes the header")]
pub(super) struct OptionalKey {
    /// A name for this call, of your choice: 1 to 128 visible ASCII characters. If the answer
    /// does not arrive, repeat the call with the same key, and it is done once; the answer is
    /// then the first one, with `Idempotency-Replayed: true`. Kept for 48 hours. A refusal is not
    /// kept: the call, repeated, is carried out anew.
    #[param(
        rename = "Idempotency-Key",
        value_type = String,
        pattern = "^[!-~]{1,128}$",
        required = false
    )]
    key: Option<String>,
}

/// For a call that must carry a key.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes the header")]
pub(super) struct RequiredKey {
    /// A name for this call, of your choice: 1 to 128 visible ASCII characters. If the answer
    /// does not arrive, repeat the call with the same key, and it is done once; the answer is
    /// then the first one, with `Idempotency-Replayed: true`. Kept for 48 hours. A refusal is not
    /// kept: the call, repeated, is carried out anew.
    #[param(rename = "Idempotency-Key", pattern = "^[!-~]{1,128}$")]
    key: String,
}

/// Keys of a player, and of an operator, that are kept at a time. A player books far less in 48
/// hours; operators work by programs too.
const PLAYER_KEYS_MAX: u32 = 1_000;
const OPERATOR_KEYS_MAX: u32 = 10_000;

/// Whose keys they are.
pub(super) trait Caller {
    const KEYS_MAX: u32;

    fn caller(&self) -> String;
}

impl Caller for Player {
    const KEYS_MAX: u32 = PLAYER_KEYS_MAX;

    fn caller(&self) -> String {
        format!("player:{}", self.id)
    }
}

impl Caller for Operator {
    const KEYS_MAX: u32 = OPERATOR_KEYS_MAX;

    fn caller(&self) -> String {
        format!("operator:{}", self.id)
    }
}

/// A request that is carried out once.
#[derive(Debug)]
pub(super) struct Once {
    store: Idempotency,
    key: Option<String>,
    route: String,
    input_hash: [u8; 32],
    is_json: bool,
    bytes: Bytes,
}

impl<S> FromRequest<S> for Once
where
    S: Send + Sync,
    Idempotency: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let key = key(request.headers())?;
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        let matched = request.extensions().get::<MatchedPath>();
        let route = matched.map_or(path.as_str(), MatchedPath::as_str);
        let route = format!("{method} {route}");
        let is_json = is_json(&request);
        let bytes = Bytes::from_request(request, state).await.map_err(unread)?;
        let mut hash = Sha256::new();
        hash.update(format!("{method} {path}\n"));
        hash.update(&bytes);
        let input_hash = hash.finalize().into();
        Ok(Self { store: Idempotency::from_ref(state), key, route, input_hash, is_json, bytes })
    }
}

/// The one header, if there is one.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut keys = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = keys.next() else {
        return Ok(None);
    };
    let is_sound = (1..=KEY_BYTES_MAX).contains(&key.len())
        && key.as_bytes().iter().all(u8::is_ascii_graphic)
        && keys.next().is_none();
    let key = key.to_str().ok().filter(|_| is_sound);
    key.map(|key| Some(key.to_owned())).ok_or_else(|| Code::IdempotencyKeyInvalid.plain())
}

impl Once {
    /// The body, which must be there.
    pub(super) fn body<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        if !self.is_json {
            return Err(
                Code::BodyNotJson.because("send the header `content-type: application/json`")
            );
        }
        parse(&self.bytes)
    }

    /// Refuses a call without a key.
    pub(super) fn keyed(self) -> Result<Self, Problem> {
        if self.key.is_some() { Ok(self) } else { Err(Code::IdempotencyKeyMissing.plain()) }
    }

    /// Does the work, or answers as it was answered before.
    ///
    /// The work is told its attempt: the same for every repetition, so that it can tell what an
    /// earlier one has done whose answer was lost.
    pub(super) async fn answer<C, W, F, R>(self, caller: &C, work: W) -> Response
    where
        C: Caller,
        W: FnOnce(Uuid) -> F + Send + 'static,
        F: Future<Output = Result<R, Problem>> + Send,
        R: IntoResponse,
    {
        let Self { store, key, route, input_hash, .. } = self;
        let caller = caller.caller();
        let keys_max = C::KEYS_MAX;
        let call = key.map(|key| Call { caller, route, key, input_hash, keys_max });
        let answer = async move {
            match call {
                Some(call) => answer_once(store, call, work).await,
                None => respond(work(entropy::uuid())).await,
            }
        };
        // On a task of its own, which does not end when the client goes away.
        match tokio::spawn(answer.in_current_span()).await {
            Ok(response) => response,
            Err(error) => Problem::internal(&error).into_response(),
        }
    }
}

async fn answer_once<W, F, R>(store: Idempotency, call: Call, work: W) -> Response
where
    W: FnOnce(Uuid) -> F,
    F: Future<Output = Result<R, Problem>>,
    R: IntoResponse,
{
    let lease = match store.claim(call).await {
        Ok(Claim::Granted(lease)) => lease,
        Ok(Claim::Answered(answer)) => return replay(answer),
        Ok(Claim::InUse) => return Code::IdempotencyKeyInUse.plain().into_response(),
        Ok(Claim::Reused) => return Code::IdempotencyKeyReused.plain().into_response(),
        Ok(Claim::TooMany { retry_after }) => {
            let refused = Code::TooManyIdempotencyKeys.plain().again_after(retry_after);
            return refused.into_response();
        }
        Err(error) => return unclaimed(Failure::classify(&error), &error).into_response(),
    };
    // A panic is one request's, and must not keep the key until the lease ends.
    let response = match AssertUnwindSafe(respond(work(lease.attempt))).catch_unwind().await {
        Ok(response) => response,
        Err(_) => Problem::internal(&"a call with an idempotency key panicked").into_response(),
    };
    keep(&store, &lease, response).await
}

async fn respond<R: IntoResponse>(work: impl Future<Output = Result<R, Problem>>) -> Response {
    match work.await {
        Ok(answer) => answer.into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// Stores the answer of work that was done. When that fails the client gets it all the same; a repetition is then
/// done again, which is safe.
async fn keep(store: &Idempotency, lease: &Lease, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let bytes = match to_bytes(body, usize::MAX).await {
        Ok(bytes) => bytes,
        Err(error) => return Problem::internal(&error).into_response(),
    };
    let kept = if parts.status.is_server_error() {
        store.give_up(lease).await
    } else if parts.status.is_client_error() {
        store.free(lease).await
    } else {
        let content_type = parts.headers.get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let status = parts.status.as_u16();
        store.finish(lease, &Answer { status, content_type, body: bytes.to_vec() }).await
    };
    if let Err(error) = kept {
        tracing::warn!(%error, "an answer could not be kept for its idempotency key");
    }
    Response::from_parts(parts, AnswerBody::from(bytes))
}

fn replay(answer: Answer) -> Response {
    let Answer { status, content_type, body } = answer;
    let mut response = Response::new(AnswerBody::from(body));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(REPLAYED, HeaderValue::from_static("true"));
    if let Some(kind) = content_type.and_then(|kind| HeaderValue::from_str(&kind).ok()) {
        headers.insert(CONTENT_TYPE, kind);
    }
    response
}

/// Nothing has been done: without the claim nobody may begin.
fn unclaimed(failure: Failure, error: &dyn fmt::Display) -> Problem {
    if failure.is_transient() { Problem::unavailable(error) } else { Problem::internal(error) }
}

impl FromRef<Services> for Idempotency {
    fn from_ref(services: &Services) -> Self {
        services.idempotency.clone()
    }
}
