//! Who comes in, before any handler: finds the address that a request counts by, leaves it for
//! the socket, and refuses whoever comes too often or names more than one host.
//!
//! An account counts apart from its address, by a token that is good; a bad one is its handler's
//! to refuse. The probes of supervisors are let in always.

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
use crate::edge::{Address, Edge, Peer, Refused};

use super::{Code, Problem};

/// Answered whoever asks, so that a flood does not make a supervisor believe the server dead.
const FREE: &str = "/healthz";

/// Paths at which device ids, passwords and refresh tokens can be guessed.
const SIGN_INS: [&str; 5] =
    ["/v1/sign-in/", "/v1/token/", "/v1/me/password", "/v1/me/proof", "/v1/me/device"];

/// The same of operators. These have a rate of their own, so that players who share an address with
/// an operator do not use it up; showing a page counts for nothing.
const OPERATOR_SIGN_INS: [&str; 3] = ["/v1/operator/sign-in", "/desk/sign-in", ENROLMENT];

const ENROLMENT: &str = "/desk/enrolment";

const FORWARDED_FOR: &str = "x-forwarded-for";

/// What the gate asks.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pub(super) edge: Edge,
    pub(super) auth: Auth,
}

/// The state of the address's rate of operators' sign-ins, for the handler of a sign-in. The desk
/// judges by it, because a browser that its operator has signed in with before is not held to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OperatorSignInRate {
    /// The time until there is room again, if the rate is used up.
    pub(super) limited_for: Option<Duration>,
}

impl<S: Send + Sync> FromRequestParts<S> for OperatorSignInRate {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

/// Lets a request pass, or refuses it.
pub(super) async fn pass(gate: Gate, mut request: Request, next: Next) -> Response {
    let from = gate.address(&request);
    request.extensions_mut().insert(from);
    match gate.admit(from, &mut request) {
        Ok(()) if names_one_host(&request) => next.run(request).await,
        Ok(()) => Code::HostInvalid.plain().into_response(),
        Err(refused) => refused.into_response(),
    }
}

/// As every request must since HTTP/1.1 (RFC 9112, 3.2). Of two names a proxy in front may have believed
/// the other one.
fn names_one_host(request: &Request) -> bool {
    let names = request.headers().get_all(HOST).iter().count();
    names == 1 || (names == 0 && request.version() != Version::HTTP_11)
}

impl Gate {
    fn admit(&self, from: Address, request: &mut Request) -> Result<(), Refused> {
        let path = request.uri().path();
        if path == FREE {
            return Ok(());
        }
        self.edge.request(from)?;
        if SIGN_INS.iter().any(|sign_in| path.starts_with(sign_in)) {
            self.edge.sign_in(from)?;
        }
        if request.method() == Method::POST
            && OPERATOR_SIGN_INS.iter().any(|sign_in| path.starts_with(sign_in))
        {
            let limited_for = match self.edge.operator_sign_in(from) {
                Err(Refused::TooMany { retry_after }) if !path.starts_with(ENROLMENT) => {
                    Some(retry_after)
                }
                counted => counted.map(|()| None)?,
            };
            request.extensions_mut().insert(OperatorSignInRate { limited_for });
        }
        match self.auth.claimant(request.headers()) {
            Some(player) => self.edge.request_of(player),
            None => Ok(()),
        }
    }

    fn address(&self, request: &Request) -> Address {
        let peer = request.extensions().get::<ConnectInfo<Peer>>();
        // Without it, which is a server wired differently from ours, all count as one.
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.address.ip());
        let forwarded = request.headers().get_all(FORWARDED_FOR).iter();
        // What is no text is no address either.
        let forwarded = forwarded.map(|value| value.to_str().unwrap_or("?"));
        self.edge.proxies().client(peer, forwarded)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        Problem::from(self).into_response()
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Origin => Code::OriginRefused.because(refused.to_string()),
            Refused::NotASocket => Code::UpgradeRequired.because(refused.to_string()),
            Refused::WebSocketKey => Code::UpgradeInvalid.because(refused.to_string()),
            Refused::TooMany { retry_after } => {
                Code::TooManyRequests.because(refused.to_string()).again_after(retry_after)
            }
        }
    }
}
