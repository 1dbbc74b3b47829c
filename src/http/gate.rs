//! Who comes in, before any handler: finds the address that a request counts by, leaves it for
//! the socket, and refuses whoever comes too often or names more than one host.
//!
//! An account counts apart from its address, by a token that is good; a bad one is its handler's
//! to refuse. The probes of supervisors are let in always.

use std::net::{IpAddr, Ipv4Addr};

use axum::extract::{ConnectInfo, Request};
use axum::http::Version;
use axum::http::header::HOST;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::auth::Auth;
use crate::edge::{Address, Edge, Peer, Refused};

use super::{Code, Problem};

/// Answered whoever asks, so that a flood does not make a supervisor believe the server dead.
const FREE: &str = "/healthz";

/// Where somebody who guesses device ids, passwords or refresh tokens has to knock.
const SIGN_INS: [&str; 8] = [
    "/v1/sign-in/",
    "/v1/token/",
    "/v1/me/password",
    "/v1/me/proof",
    "/v1/me/device",
    "/v1/operator/sign-in",
    "/desk/sign-in",
    "/desk/enrolment",
];

const FORWARDED_FOR: &str = "x-forwarded-for";

/// What the gate asks.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pub(super) edge: Edge,
    pub(super) auth: Auth,
}

/// Lets a request pass, or refuses it.
pub(super) async fn pass(gate: Gate, mut request: Request, next: Next) -> Response {
    let from = gate.address(&request);
    request.extensions_mut().insert(from);
    match gate.admit(from, &request) {
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
    fn admit(&self, from: Address, request: &Request) -> Result<(), Refused> {
        let path = request.uri().path();
        if path == FREE {
            return Ok(());
        }
        self.edge.request(from)?;
        if SIGN_INS.iter().any(|sign_in| path.starts_with(sign_in)) {
            self.edge.sign_in(from)?;
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
