//! Authentication by the first message of a socket that was opened without a token in its header,
//! as browsers must: by an access token or a ticket. If the request carries the credentials
//! (`handshake`), no message is awaited.
//!
//! There is one attempt, within [`AUTHENTICATE_TIMEOUT`]; other commands are refused. Every failure
//! is reported in a refusal and closes the connection.

use axum::extract::ws::Message as Frame;

use crate::auth::{AuthError, ReturningPlayer, SocketTicket};
use crate::rate_limit;
use crate::ws::entry::handshake::{Credentials, readable_id};
use crate::ws::entry::session_confirmation;
use crate::ws::link::socket::{CloseReason, PlayerSocket, read_error_reason};
use crate::ws::protocol::limits::AUTHENTICATE_TIMEOUT;
use crate::ws::protocol::{Command, Message, close};
use crate::ws::refusal::SessionRefusal;
use crate::ws::session::control_events::wait_for_shutdown;
use crate::ws::state::PlayState;
use serde::de::IgnoredAny;

/// A client that has authenticated.
pub(in crate::ws) struct AuthenticatedClient {
    pub(in crate::ws) player: ReturningPlayer,
    /// The id of the command, which the session acknowledges.
    pub(in crate::ws) command: u32,
}

/// A refusal, and the reason with which the connection is closed.
struct AuthenticationRefusal {
    id: Option<u32>,
    code: &'static str,
    detail: String,
    retryable: bool,
    close_reason: CloseReason,
}

const NOT_AUTHENTICATED: CloseReason = (close::NOT_AUTHENTICATED, "authenticate first");

/// The close reason of a client that need not change anything: another token would be refused
/// alike.
const SESSIONS_UNAVAILABLE: CloseReason =
    (close::TOO_FAST, "sessions are unavailable; wait and connect again");

/// Authenticates the client. `None` if it disconnects first.
pub(in crate::ws) async fn authenticate(
    socket: &mut PlayerSocket,
    state: &PlayState,
    credentials: Option<Credentials>,
) -> Result<Option<AuthenticatedClient>, CloseReason> {
    let credentials = match credentials {
        Some(credentials) => Ok(credentials),
        None => match wait_for_first_text(socket, state).await? {
            Some(text) => read_credentials(&text),
            None => return Ok(None),
        },
    };
    let authenticated = match credentials {
        Ok(credentials) => check_credentials(credentials, state).await,
        Err(refusal) => Err(refusal),
    };
    match authenticated {
        Ok(client) => Ok(Some(client)),
        Err(AuthenticationRefusal { id, code, detail, retryable, close_reason }) => {
            let code = code.into();
            let refusal =
                Message::Refusal { id, code, rule: None, detail, retryable, retry_after_ms: None };
            socket.send([refusal].into_iter())?;
            Err(close_reason)
        }
    }
}

/// Waits for the first text of an unauthenticated client, up to the timeout. `None` if the client
/// disconnects first.
async fn wait_for_first_text(
    socket: &mut PlayerSocket,
    state: &PlayState,
) -> Result<Option<String>, CloseReason> {
    let mut stopping = state.stopping.clone();
    tokio::select! {
        text = read_first_text(socket) => text,
        () = wait_for_shutdown(&mut stopping) => Err((close::GOING_AWAY, "the server shuts down; connect again")),
        () = tokio::time::sleep(AUTHENTICATE_TIMEOUT) => Err(NOT_AUTHENTICATED),
    }
}

async fn read_first_text(socket: &mut PlayerSocket) -> Result<Option<String>, CloseReason> {
    loop {
        match socket.next_frame().await {
            Some(Ok(Frame::Text(text))) => return Ok(Some(text.as_str().to_owned())),
            Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Close(_))) => {}
            Some(Ok(Frame::Binary(_))) => return Err((close::PROTOCOL, "send JSON as text")),
            Some(Err(error)) => return Err(read_error_reason(error)),
            None => return Ok(None),
        }
    }
}

fn refuse(id: Option<u32>, code: &'static str, detail: String) -> AuthenticationRefusal {
    AuthenticationRefusal { id, code, detail, retryable: false, close_reason: NOT_AUTHENTICATED }
}

fn refuse_session(id: u32, refusal: SessionRefusal) -> AuthenticationRefusal {
    refuse(Some(id), refusal.code(), refusal.detail().to_owned())
}

fn read_credentials(text: &str) -> Result<Credentials, AuthenticationRefusal> {
    let command = serde_json::from_str::<Command<IgnoredAny>>(text).map_err(|error| {
        refuse(
            readable_id(text),
            SessionRefusal::Malformed.code(),
            format!("not a command: {error}"),
        )
    })?;
    let Command::Authenticate { id, token, ticket } = command else {
        return Err(refuse_session(command.id(), SessionRefusal::NotAuthenticated));
    };
    Ok(Credentials { id, token, ticket })
}

async fn check_credentials(
    credentials: Credentials,
    state: &PlayState,
) -> Result<AuthenticatedClient, AuthenticationRefusal> {
    let Credentials { id, token, ticket } = credentials;
    let player = match (token, ticket) {
        (Some(token), None) => match state.auth.authenticate_for_return(token.as_str()).await {
            Ok(player) => session_confirmation::admit(state, player).await,
            Err(error) => Err(error),
        },
        (None, Some(ticket)) => {
            let unknown = || refuse_session(id, SessionRefusal::TicketUnknown);
            let ticket: SocketTicket = ticket.as_str().parse().map_err(|_| unknown())?;
            let taken = state.live.take_ticket(ticket.hash()).await.map_err(|error| {
                tracing::warn!(%error, "a ticket could not be taken");
                let detail = "tickets are unavailable: try again with a new one".to_owned();
                AuthenticationRefusal {
                    retryable: true,
                    close_reason: SESSIONS_UNAVAILABLE,
                    ..refuse(Some(id), SessionRefusal::Unavailable.code(), detail)
                }
            })?;
            state.auth.redeem_ticket(&taken.ok_or_else(unknown)?).map(ReturningPlayer::Confirmed)
        }
        (None, None) | (Some(_), Some(_)) => {
            let detail = "give either a token or a ticket".to_owned();
            return Err(refuse(Some(id), SessionRefusal::Malformed.code(), detail));
        }
    };
    let player = player.map_err(|error: AuthError| AuthenticationRefusal {
        retryable: error.is_transient(),
        close_reason: if error.is_transient() { SESSIONS_UNAVAILABLE } else { NOT_AUTHENTICATED },
        ..refuse(Some(id), error.code(), error.to_string())
    })?;
    state.rate_limits.check_socket_handshake(player.id()).map_err(
        |refused: rate_limit::AdmissionError| AuthenticationRefusal {
            retryable: true,
            close_reason: (close::TOO_FAST, "too many connections"),
            ..refuse(Some(id), SessionRefusal::TooFast.code(), refused.to_string())
        },
    )?;
    Ok(AuthenticatedClient { player, command: id })
}
