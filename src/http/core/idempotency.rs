//! Idempotent requests: the header `Idempotency-Key` of calls that move coins and may be retried.
//!
//! A handler that takes an [`IdempotentRequest`] passes its work to [`IdempotentRequest::execute`].
//! With a key, the response of successful work is stored, and a retry receives the same bytes,
//! marked by the header `Idempotency-Replayed`. A refusal has changed nothing and is not stored, so
//! a later retry under the same key may succeed. A response with status 500 or above is not stored
//! either, because its effects are unknown; the id of its attempt is kept.
//!
//! The work continues if the client disconnects, so that its response is available to a retry.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use axum::body::{Body as AnswerBody, Bytes, to_bytes};
use axum::extract::{FromRef, FromRequest, MatchedPath, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tracing::Instrument as _;
use uuid::Uuid;

use crate::auth::Player;
use crate::entropy;
use crate::idempotency::{Claim, Idempotency, IdempotentCall, Lease, StoredResponse};
use crate::operators::Operator;

use super::extractors::{body_problem, is_json, parse_json, require_json};
use crate::http::{Code, CodeExt as _, Problem};

pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The maximum length of a key, in bytes.
const KEY_BYTES_MAX: usize = 128;

/// The maximum number of keys stored for a player and for an operator. A player books far less in
/// 48 hours; operators also work through programs.
const PLAYER_KEYS_MAX: u32 = 1_000;
const OPERATOR_KEYS_MAX: u32 = 10_000;

/// The account to which idempotency keys belong.
pub(crate) trait Caller {
    const KEYS_MAX: u32;

    fn caller_key(&self) -> String;
}

impl Caller for Player {
    const KEYS_MAX: u32 = PLAYER_KEYS_MAX;

    fn caller_key(&self) -> String {
        format!("player:{}", self.id)
    }
}

impl Caller for Operator {
    const KEYS_MAX: u32 = OPERATOR_KEYS_MAX;

    fn caller_key(&self) -> String {
        format!("operator:{}", self.id)
    }
}

/// A request that takes effect at most once per idempotency key.
#[derive(Debug)]
pub(crate) struct IdempotentRequest {
    store: Idempotency,
    key: Option<String>,
    route: String,
    input_hash: [u8; 32],
    is_json: bool,
    bytes: Bytes,
}

impl<S> FromRequest<S> for IdempotentRequest
where
    S: Send + Sync,
    Idempotency: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let key = parse_key(request.headers())?;
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        let matched = request.extensions().get::<MatchedPath>();
        let route = matched.map_or(path.as_str(), MatchedPath::as_str);
        let route = format!("{method} {route}");
        let is_json = is_json(&request);
        let bytes = Bytes::from_request(request, state).await.map_err(body_problem)?;
        let mut hash = Sha256::new();
        hash.update(format!("{method} {path}\n"));
        hash.update(&bytes);
        let input_hash = hash.finalize().into();
        Ok(Self { store: Idempotency::from_ref(state), key, route, input_hash, is_json, bytes })
    }
}

/// Returns the key, or `None` without the header. Rejects an invalid or repeated header.
fn parse_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut keys = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = keys.next() else {
        return Ok(None);
    };
    let is_valid = (1..=KEY_BYTES_MAX).contains(&key.len())
        && key.as_bytes().iter().all(u8::is_ascii_graphic)
        && keys.next().is_none();
    let key = key.to_str().ok().filter(|_| is_valid);
    key.map(|key| Some(key.to_owned())).ok_or_else(|| Code::IdempotencyKeyInvalid.problem())
}

impl IdempotentRequest {
    /// Parses the body, which is required.
    pub(crate) fn parse_body<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        require_json(self.is_json)?;
        parse_json(&self.bytes)
    }

    /// Rejects a request without a key.
    pub(crate) fn require_key(self) -> Result<Self, Problem> {
        if self.key.is_some() { Ok(self) } else { Err(Code::IdempotencyKeyMissing.problem()) }
    }

    /// Performs the work, or returns the response that is stored under the key.
    ///
    /// The work receives the id of its attempt. The id is the same for every retry, so that the
    /// work can detect the effects of an earlier attempt whose response was lost.
    pub(crate) async fn execute<C, W, F, R>(self, caller: &C, work: W) -> Response
    where
        C: Caller,
        W: FnOnce(Uuid) -> F + Send + 'static,
        F: Future<Output = Result<R, Problem>> + Send,
        R: IntoResponse,
    {
        let Self { store, key, route, input_hash, .. } = self;
        let caller = caller.caller_key();
        let keys_max = C::KEYS_MAX;
        let call = key.map(|key| IdempotentCall { caller, route, key, input_hash, keys_max });
        // Erased, because a task of each type would be compiled separately.
        let work: Work = Box::new(|attempt| async move { respond(work(attempt)).await }.boxed());
        let answer = async move {
            match call {
                Some(call) => execute_once(store, call, work).await,
                None => work(entropy::uuid()).await,
            }
        };
        // A task of its own is not cancelled when the client disconnects.
        match tokio::spawn(answer.in_current_span()).await {
            Ok(response) => response,
            Err(error) => Problem::internal(&error).into_response(),
        }
    }
}

/// Returns the response to a request, given the id of the attempt.
type Work = Box<dyn FnOnce(Uuid) -> BoxFuture<'static, Response> + Send>;

async fn execute_once(store: Idempotency, call: IdempotentCall, work: Work) -> Response {
    let lease = match store.claim(call).await {
        Ok(Claim::Granted(lease)) => lease,
        Ok(Claim::Answered(answer)) => return replay_response(answer),
        Ok(Claim::InUse) => return Code::IdempotencyKeyInUse.problem().into_response(),
        Ok(Claim::Reused) => return Code::IdempotencyKeyReused.problem().into_response(),
        Ok(Claim::TooMany { retry_after }) => {
            let refused = Code::TooManyIdempotencyKeys.problem().with_retry_after(retry_after);
            return refused.into_response();
        }
        // Nothing has been done, because work begins only under a claim.
        Err(error) => return Problem::from(error).into_response(),
    };
    // A panic must not keep the key leased until the lease expires.
    let response = match AssertUnwindSafe(work(lease.attempt)).catch_unwind().await {
        Ok(response) => response,
        Err(_) => Problem::internal(&"a call with an idempotency key panicked").into_response(),
    };
    store_response(&store, &lease, response).await
}

async fn respond<R: IntoResponse>(work: impl Future<Output = Result<R, Problem>>) -> Response {
    match work.await {
        Ok(answer) => answer.into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// Stores the response of finished work. If storing fails, the client receives the response
/// nevertheless; a retry then repeats the work, which is safe.
async fn store_response(store: &Idempotency, lease: &Lease, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let bytes = match to_bytes(body, usize::MAX).await {
        Ok(bytes) => bytes,
        Err(error) => return Problem::internal(&error).into_response(),
    };
    let stored = if parts.status.is_server_error() {
        store.abandon(lease).await
    } else if parts.status.is_client_error() {
        store.release(lease).await
    } else {
        let content_type = parts.headers.get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let status = parts.status.as_u16();
        store.finish(lease, &StoredResponse { status, content_type, body: bytes.to_vec() }).await
    };
    if let Err(error) = stored {
        tracing::warn!(%error, "the response of an idempotency key could not be stored");
    }
    Response::from_parts(parts, AnswerBody::from(bytes))
}

fn replay_response(answer: StoredResponse) -> Response {
    let StoredResponse { status, content_type, body } = answer;
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
