//! What happens to every request around its handler.
//!
//! From the outside in: a request id, the log's span, security headers, CORS if wanted, the gate
//! that counts (`gate`), a panic caught, the time limit, the size limit. A panic is a bug in one request, not the end of the
//! process.

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
use crate::edge::{Edge, Origins, Peer};
use crate::{entropy, telemetry};

use super::gate::{self, Gate};
use super::idempotency::{IDEMPOTENCY_KEY, REPLAYED};
use super::proof::ACCOUNT_PROOF;
use super::{Code, DeskOptions, Problem, security_log, watched_body};

/// The largest body that is read, in bytes. Ours have some hundred.
const BODY_BYTES_MAX: usize = 16 * 1024;

/// The longest request id that is taken over from a client or proxy, in bytes.
const REQUEST_ID_BYTES_MAX: usize = 64;

/// By which a proxy says which trace a request is part of.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// By which a proxy says whether TLS ended there.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// How REST behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The longest that a request may take before it is refused.
    pub timeout: Duration,
    /// Who is let in. Its origins may call us from a browser; without any there is no CORS.
    pub edge: Edge,
    /// How operators come to the desk.
    pub desk: DeskOptions,
}

impl Default for Options {
    fn default() -> Self {
        let (edge, desk) = Default::default();
        Self { timeout: Duration::from_secs(10), edge, desk }
    }
}

pub(super) fn around(routes: Router, options: &Options, auth: Auth) -> Router {
    let timeout = options.timeout;
    let edge = options.edge.clone();
    let gate = Gate { edge: edge.clone(), auth: auth.clone() };
    let routes = routes
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(from_fn(move |request, next| limit_time(timeout, request, next)))
        .layer(CatchPanicLayer::custom(answer_panic))
        .layer(from_fn(move |request, next| security_log::watch(auth.clone(), request, next)))
        .layer(from_fn(move |request, next| gate::pass(gate.clone(), request, next)));
    let routes = match cors(options.edge.origins()) {
        Some(cors) => routes.layer(cors),
        None => routes,
    };
    let secured = edge.clone();
    routes
        .layer(from_fn(move |request, next| only_https(secured.clone(), request, next)))
        .layer(SetResponseHeaderLayer::overriding(
            X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ))
        // Answers belong to one player and one moment, unless a handler says otherwise.
        .layer(SetResponseHeaderLayer::if_not_present(
            CACHE_CONTROL,
            HeaderValue::from_static("no-store"),
        ))
        // A failure is logged where it is handled, so the layer does not log it again.
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(move |request: &_| span(&edge, request))
                .on_failure(()),
        )
        .layer(from_fn(identify))
}

/// Tells a browser that came by HTTPS to come by nothing else from now on. Over plain HTTP nothing is
/// said: there anybody on the way could say it, and browsers do not listen (RFC 6797).
async fn only_https(edge: Edge, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<Peer>>().map(|peer| peer.0.address.ip());
    let said = request.headers().get(FORWARDED_PROTO).and_then(|said| said.to_str().ok());
    let seconds = peer.and_then(|peer| edge.hsts_seconds(peer, said));
    let mut response = next.run(request).await;
    if let Some(seconds) = seconds
        && let Ok(value) = HeaderValue::from_str(&format!("max-age={seconds}"))
    {
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

/// Gives each request an id, or takes over the one that it brings, and sends it back.
async fn identify(mut request: Request, next: Next) -> Response {
    let is_sound = |id: &&HeaderValue| {
        (1..=REQUEST_ID_BYTES_MAX).contains(&id.len())
            && id.as_bytes().iter().all(u8::is_ascii_graphic)
    };
    let id = request.headers().get(REQUEST_ID).filter(is_sound).cloned().unwrap_or_else(|| {
        HeaderValue::from_str(&entropy::uuid().to_string()).expect("a UUID is plain ASCII")
    });
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let mut response = next.run(request).await;
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// No query and no headers but that of a trace: nothing secret is in a path. Only a proxy of ours says
/// which trace a request is part of: who names a trace chooses whether it is kept.
fn span<B>(edge: &Edge, request: &axum::http::Request<B>) -> Span {
    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    let span = tracing::info_span!(
        "request", %id, method = %request.method(), path = request.uri().path()
    );
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    let is_ours = peer.is_some_and(|peer| edge.proxies().contain(peer.0.address.ip()));
    let named = request.headers().get(TRACEPARENT).filter(|_| is_ours);
    let named = named.and_then(|named| named.to_str().ok());
    telemetry::continue_trace(&span, named);
    span
}

async fn limit_time(timeout: Duration, request: Request, next: Next) -> Response {
    let (request, has_come) = watched_body::watched(request);
    match tokio::time::timeout(timeout, next.run(request)).await {
        Ok(response) => response,
        // Whoever handles it has waited for the body, and done nothing.
        Err(_) if !has_come.load(Ordering::Relaxed) => Code::RequestTimeout
            .because("the body did not come in time: nothing was done")
            .into_response(),
        Err(_) => {
            tracing::warn!(timeout_ms = timeout.as_millis(), "a request took too long");
            Code::TimedOut
                .because("whether anything was done is not known: read before you repeat")
                .into_response()
        }
    }
}

fn answer_panic(panic: Box<dyn Any + Send + 'static>) -> Response {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Problem::internal(&format_args!("panic: {}", text.unwrap_or("without words"))).into_response()
}

fn cors(origins: &Origins) -> Option<CorsLayer> {
    if origins.is_empty() {
        return None;
    }
    let ours = origins.clone();
    let is_ours = move |origin: &HeaderValue, _: &Parts| {
        origin.to_str().is_ok_and(|origin| ours.contains(origin))
    };
    Some(
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(is_ours))
            .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
            .allow_headers([AUTHORIZATION, CONTENT_TYPE, IDEMPOTENCY_KEY, ACCOUNT_PROOF])
            .expose_headers([REQUEST_ID, REPLAYED, RETRY_AFTER])
            .max_age(Duration::from_hours(1)),
    )
}
