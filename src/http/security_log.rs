//! One line in the log for each thing that whoever watches over a house wants to know: sign-ins and
//! what was wrong with them, passwords and identities that change, sessions that end, accounts that
//! are deleted, pages of origins that may not call us. docs/SECURITY.md lists the lines.
//!
//! A line names the event, what came of it, the address, and the player where it is known. No token,
//! device, password or body is in it. What operators do is told where it is noted for the audit.

use axum::extract::Request;
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;

use crate::auth::Auth;
use crate::edge::Address;
use crate::ids::PlayerId;

use super::Code;

/// The target of the lines, for filters of the log.
pub const TARGET: &str = "bahay::security";

/// A player that a handler has come to know: left in the answer, for the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Concerns(pub(super) PlayerId);

/// Carries out a request, and tells of it if it matters.
pub(super) async fn watch(auth: Auth, request: Request, next: Next) -> Response {
    let event = event(request.method(), request.uri().path());
    let address = request.extensions().get::<Address>().copied();
    let by_token = match event {
        Some(_) => auth.claimant(request.headers()),
        None => None,
    };
    let response = next.run(request).await;
    let code = response.extensions().get::<Code>().copied();
    let event = match (event, code) {
        (_, Some(Code::OriginRefused)) => "origin",
        (Some(event), _) => event,
        (None, _) => return response,
    };
    let concerned = response.extensions().get::<Concerns>().map(|concerns| concerns.0);
    let player = concerned.or(by_token).map(tracing::field::display);
    let address = address.map(tracing::field::display);
    let status = response.status();
    // A page of the desk tells people and not programs what was wrong.
    let untold = if status.is_client_error() { "refused" } else { "done" };
    let outcome = code.map_or(untold, Code::as_str);
    let status = status.as_u16();
    tracing::info!(target: TARGET, event, outcome, status, player, address, "security");
    response
}

/// What a request is to those who watch over a house; `None` for what does not matter to them.
fn event(method: &Method, path: &str) -> Option<&'static str> {
    Some(match (method, path) {
        (&Method::POST, "/v1/sign-in/guest") => "sign_in_guest",
        (&Method::POST, "/v1/sign-in/password") => "sign_in_password",
        (&Method::POST, "/v1/sign-in/openid") => "sign_in_openid",
        (&Method::POST, "/v1/token/refresh") => "refresh",
        (&Method::POST, "/v1/sign-out") => "sign_out",
        (&Method::POST, "/v1/me/password") => "password_set",
        (&Method::PUT, "/v1/me/password") => "password_change",
        (&Method::POST, "/v1/me/identities") => "identity_link",
        (&Method::DELETE, path) if path.starts_with("/v1/me/identities/") => "identity_unlink",
        (&Method::DELETE, path) if path.starts_with("/v1/me/sessions") => "sessions_end",
        (&Method::DELETE, "/v1/me/devices") => "devices_forget",
        (&Method::PUT, "/v1/me/device") => "device_change",
        (&Method::POST, "/v1/me/proof") => "account_proof",
        (&Method::DELETE, "/v1/me") => "account_delete",
        (&Method::GET, "/v1/me/export") => "account_export",
        (&Method::POST, "/v1/operator/sign-in" | "/desk/sign-in") => "operator_sign_in",
        (&Method::POST, "/desk/enrolment" | "/desk/enrolment/completion") => "operator_enrolment",
        _ => return None,
    })
}
