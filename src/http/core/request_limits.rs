//! The rate limits of requests, which are checked before any handler.
//!
//! Determines the client address of a request and stores it in the request's extensions, also for
//! the WebSocket upgrade. Rejects requests above a rate limit and requests that name more than one
//! host.
//!
//! An account has a rate limit of its own beside that of its address, if the access token is valid;
//! an invalid token is left to the handler to reject. Supervisors' liveness probes are never
//! limited.

use std::net::{IpAddr, Ipv4Addr};

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{ConnectInfo, FromRequestParts, Request};
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::{Method, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::auth::Auth;
use crate::rate_limit::{Address, AdmissionError, Peer, RateLimits};

use crate::http::{Code, CodeExt as _, Problem};

/// The liveness probe is exempt from the limits, so that a flood of requests does not make a
/// supervisor take the server for dead.
const UNLIMITED_PATH: &str = "/healthz";

/// Paths at which device ids, passwords and refresh tokens could be guessed.
const SIGN_IN_PATHS: [&str; 5] =
    ["/v1/sign-in/", "/v1/token/", "/v1/me/password", "/v1/me/proof", "/v1/me/device"];

/// Paths at which operators' credentials could be guessed. They have a rate limit of their own, so
/// that players who share an address with an operator do not exhaust it. Requests that only show a
/// page do not count.
const OPERATOR_SIGN_IN_PATHS: [&str; 3] = ["/v1/operator/sign-in", "/desk/sign-in", ENROLMENT_PATH];

const ENROLMENT_PATH: &str = "/desk/enrolment";

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The limits, and the authentication by which a request is attributed to an account.
#[derive(Clone, Debug)]
pub(crate) struct RequestLimits {
    pub(crate) rate_limits: RateLimits,
    pub(crate) auth: Auth,
}

/// The state of the address's rate limit for operator sign-ins, for the handler of a sign-in. The
/// desk decides by it, because a browser with which its operator has signed in before is exempt.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OperatorSignInRate {
    /// The time until the next sign-in is allowed, if the rate limit is exhausted.
    pub(crate) limited_for: Option<Duration>,
}

impl<S: Send + Sync> FromRequestParts<S> for OperatorSignInRate {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

/// Passes a request on to its handler, or rejects it.
pub(crate) async fn limit_requests(
    limits: RequestLimits,
    mut request: Request,
    next: Next,
) -> Response {
    let from = limits.client_address(&request);
    request.extensions_mut().insert(from);
    match limits.check_rates(from, &mut request) {
        Ok(()) if names_one_host(&request) => next.run(request).await,
        Ok(()) => Code::HostInvalid.problem().into_response(),
        Err(refused) => Problem::from(refused).into_response(),
    }
}

/// Returns whether the request names exactly one host, as HTTP/1.1 requires (RFC 9112, 3.2). If
/// there are two, a proxy in front may have used the other one.
fn names_one_host(request: &Request) -> bool {
    let names = request.headers().get_all(HOST).iter().count();
    names == 1 || (names == 0 && request.version() != Version::HTTP_11)
}

impl RequestLimits {
    fn check_rates(&self, from: Address, request: &mut Request) -> Result<(), AdmissionError> {
        let path = request.uri().path();
        if path == UNLIMITED_PATH {
            return Ok(());
        }
        self.rate_limits.check_request(from)?;
        if SIGN_IN_PATHS.iter().any(|sign_in| path.starts_with(sign_in)) {
            self.rate_limits.check_sign_in(from)?;
        }
        if request.method() == Method::POST
            && OPERATOR_SIGN_IN_PATHS.iter().any(|sign_in| path.starts_with(sign_in))
        {
            let limited_for = match self.rate_limits.check_operator_sign_in(from) {
                Err(AdmissionError::TooMany { retry_after })
                    if !path.starts_with(ENROLMENT_PATH) =>
                {
                    Some(retry_after)
                }
                counted => counted.map(|()| None)?,
            };
            request.extensions_mut().insert(OperatorSignInRate { limited_for });
        }
        match self.auth.claimant(request.headers()) {
            Some(player) => self.rate_limits.check_account_request(player),
            None => Ok(()),
        }
    }

    fn client_address(&self, request: &Request) -> Address {
        let peer = request.extensions().get::<ConnectInfo<Peer>>();
        // The connection info is missing only in a server that is wired differently; all its
        // clients then count as one.
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.address.ip());
        let forwarded = request.headers().get_all(FORWARDED_FOR).iter();
        // A value that is not text is not an address either.
        let forwarded = forwarded.map(|value| value.to_str().unwrap_or("?"));
        self.rate_limits.proxies().client(peer, forwarded)
    }
}

impl From<AdmissionError> for Problem {
    fn from(refused: AdmissionError) -> Self {
        match refused {
            AdmissionError::Origin => Code::OriginRefused.with_detail(refused.to_string()),
            AdmissionError::NotASocket => Code::UpgradeRequired.with_detail(refused.to_string()),
            AdmissionError::WebSocketKey => Code::UpgradeInvalid.with_detail(refused.to_string()),
            AdmissionError::TooMany { retry_after } => {
                Code::TooManyRequests.with_detail(refused.to_string()).with_retry_after(retry_after)
            }
        }
    }
}
