//! The security log: one line for each event that matters to the security of the house. These are
//! sign-ins and their failures, changes of passwords and identities, ends of sessions, deletions of
//! accounts, and requests from pages of disallowed origins. docs/SECURITY.md lists the events.
//!
//! A line names the event, its outcome, the address, and the player if known. It contains no token,
//! device id, password or body. Operators' actions are logged where their audit entries are
//! written.

use axum::extract::Request;
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;

use crate::auth::Auth;
use crate::ids::PlayerId;
use crate::rate_limit::Address;

use crate::http::Code;

/// The target of the lines, for log filters.
pub const TARGET: &str = "bahay::security";

/// A player that a handler has identified, passed to the log in the extensions of the response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConcernedPlayer(pub(crate) PlayerId);

/// Handles a request and logs it if it is a security event.
pub(crate) async fn log_security_event(auth: Auth, request: Request, next: Next) -> Response {
    let event = event_name(request.method(), request.uri().path());
    let address = request.extensions().get::<Address>().copied();
    let token_player = match event {
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
    let concerned = response.extensions().get::<ConcernedPlayer>().map(|concerns| concerns.0);
    let player = concerned.or(token_player).map(tracing::field::display);
    let address = address.map(tracing::field::display);
    let status = response.status();
    // Pages of the desk state the reason as text for people, without a code.
    let default_outcome = if status.is_client_error() { "refused" } else { "done" };
    let outcome = code.map_or(default_outcome, Code::as_str);
    let status = status.as_u16();
    tracing::info!(target: TARGET, event, outcome, status, player, address, "security");
    response
}

/// Returns the name of a request as a security event, or `None` if it is not one.
fn event_name(method: &Method, path: &str) -> Option<&'static str> {
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
