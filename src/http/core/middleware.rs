//! The middleware around every handler.
//!
//! From the outside in: request id, tracing span, security headers, CORS if origins are configured,
//! rate limits (`request_limits`), panic handling, timeout, and body size limit. A panic is a bug
//! in one request and does not end the process.

use std::any::Any;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::trace::TraceLayer;
use tracing::Span;

use crate::auth::Auth;
use crate::rate_limit::{Origins, Peer, RateLimits};
use crate::{entropy, telemetry};

use super::authentication::ACCOUNT_PROOF;
use super::connection::body_progress;
use super::idempotency::{IDEMPOTENCY_KEY, REPLAYED};
use super::request_limits::{RequestLimits, limit_requests};
use super::security_log::log_security_event;
use crate::http::{Code, CodeExt as _, Problem};

/// The maximum size of a body, in bytes. Valid bodies have some hundred bytes.
const BODY_BYTES_MAX: usize = 16 * 1024;

/// The maximum length of a request id that is adopted from a client or proxy, in bytes.
const REQUEST_ID_BYTES_MAX: usize = 64;

/// The header in which a proxy names the trace of a request.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The header in which a proxy states whether the client connected over TLS.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The options of the HTTP server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The time after which a request is refused.
    pub timeout: Duration,
    /// The rate limits and allowed origins. Pages of these origins may call the server from a
    /// browser; without any origin there is no CORS.
    pub rate_limits: RateLimits,
    /// The options of the operators' desk.
    pub desk: DeskOptions,
}

/// Options of the desk.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeskOptions {
    /// Allows cookies over plain HTTP, for development on one machine.
    pub plain_http: bool,
}

impl Default for Options {
    fn default() -> Self {
        let (rate_limits, desk) = Default::default();
        Self { timeout: Duration::from_secs(10), rate_limits, desk }
    }
}

pub(crate) fn apply(routes: Router, options: &Options, auth: Auth) -> Router {
    let timeout = options.timeout;
    let rate_limits = options.rate_limits.clone();
    let limits = RequestLimits { rate_limits: rate_limits.clone(), auth: auth.clone() };
    let routes = routes
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(from_fn(move |request, next| limit_time(timeout, request, next)))
        .layer(CatchPanicLayer::custom(handle_panic))
        .layer(from_fn(move |request, next| log_security_event(auth.clone(), request, next)))
        .layer(from_fn(move |request, next| limit_requests(limits.clone(), request, next)));
    let routes = match cors_layer(options.rate_limits.origins()) {
        Some(cors) => routes.layer(cors),
        None => routes,
    };
    let hsts_limits = rate_limits.clone();
    routes
        .layer(from_fn(move |request, next| add_hsts(hsts_limits.clone(), request, next)))
        .layer(SetResponseHeaderLayer::overriding(
            X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ))
        // A response is meant for one player at one time, unless a handler sets another policy.
        .layer(SetResponseHeaderLayer::if_not_present(
            CACHE_CONTROL,
            HeaderValue::from_static("no-store"),
        ))
        // Failures are logged by their handlers.
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(move |request: &_| make_span(&rate_limits, request))
                .on_failure(()),
        )
        .layer(from_fn(assign_request_id))
}

/// Adds `Strict-Transport-Security` for clients that connected over TLS. The header is omitted over
/// plain HTTP, where it could be forged and where browsers ignore it (RFC 6797).
async fn add_hsts(rate_limits: RateLimits, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<Peer>>().map(|peer| peer.0.address.ip());
    let proto = request.headers().get(FORWARDED_PROTO).and_then(|proto| proto.to_str().ok());
    let seconds = peer.and_then(|peer| rate_limits.hsts_seconds(peer, proto));
    let mut response = next.run(request).await;
    if let Some(seconds) = seconds
        && let Ok(value) = HeaderValue::from_str(&format!("max-age={seconds}"))
    {
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

/// Assigns an id to each request, or adopts a valid id from its header, and returns the id in the
/// response.
async fn assign_request_id(mut request: Request, next: Next) -> Response {
    let is_valid = |id: &&HeaderValue| {
        (1..=REQUEST_ID_BYTES_MAX).contains(&id.len())
            && id.as_bytes().iter().all(u8::is_ascii_graphic)
    };
    let id = request.headers().get(REQUEST_ID).filter(is_valid).cloned().unwrap_or_else(|| {
        HeaderValue::from_str(&entropy::uuid().to_string()).expect("a UUID is plain ASCII")
    });
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let mut response = next.run(request).await;
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// Creates the span of a request. It records no query and no header except the trace context, and a
/// path contains no secrets. The trace context is accepted from trusted proxies only, because it
/// decides whether a trace is sampled.
fn make_span<B>(rate_limits: &RateLimits, request: &axum::http::Request<B>) -> Span {
    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    let span = tracing::info_span!(
        "request", %id, method = %request.method(), path = request.uri().path()
    );
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    let is_trusted = peer.is_some_and(|peer| rate_limits.proxies().contains(peer.0.address.ip()));
    let trace = request.headers().get(TRACEPARENT).filter(|_| is_trusted);
    let trace = trace.and_then(|trace| trace.to_str().ok());
    telemetry::continue_trace(&span, trace);
    span
}

async fn limit_time(timeout: Duration, request: Request, next: Next) -> Response {
    let (request, is_complete) = body_progress::track_body(request);
    match tokio::time::timeout(timeout, next.run(request)).await {
        Ok(response) => response,
        // The handler was still waiting for the body, and has done nothing.
        Err(_) if !is_complete.load(Ordering::Relaxed) => Code::RequestTimeout
            .with_detail("the body did not arrive in time: nothing was done")
            .into_response(),
        Err(_) => {
            tracing::warn!(timeout_ms = timeout.as_millis(), "a request took too long");
            Code::TimedOut
                .with_detail("the request may have taken effect: read the state before you retry")
                .into_response()
        }
    }
}

fn handle_panic(panic: Box<dyn Any + Send + 'static>) -> Response {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("without a message");
    Problem::internal(&format_args!("panic: {text}")).into_response()
}

fn cors_layer(origins: &Origins) -> Option<CorsLayer> {
    if origins.is_empty() {
        return None;
    }
    let allowed = origins.clone();
    let is_allowed = move |origin: &HeaderValue, _: &Parts| {
        origin.to_str().is_ok_and(|origin| allowed.contains(origin))
    };
    Some(
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(is_allowed))
            .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
            .allow_headers([AUTHORIZATION, CONTENT_TYPE, IDEMPOTENCY_KEY, ACCOUNT_PROOF])
            .expose_headers([REQUEST_ID, REPLAYED, RETRY_AFTER])
            .max_age(Duration::from_hours(1)),
    )
}
