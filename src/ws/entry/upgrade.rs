//! The upgrade of a request to a socket: checks the origin and the rate limits, and authenticates
//! the client by its header, by its subprotocol (`handshake`) or by its first message
//! (`authentication`).
//!
//! Bounds: sockets per address, fewer of them unauthenticated; handshakes per account and second. A
//! refused request gets an HTTP response with a problem document.

use std::sync::Arc;

use axum::Extension;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::extract::{ConnectInfo, RawQuery, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::auth::ReturningPlayer;
use crate::problem::Problem;
use crate::rate_limit::{Address, AdmissionError, ConnectionPermit, Peer, WriteHalf};
use crate::ws::entry::authentication;
use crate::ws::entry::handshake::{self, Credentials};
use crate::ws::entry::session_confirmation;
use crate::ws::link::socket::PlayerSocket;
use crate::ws::protocol::MESSAGE_BYTES_MAX;
use crate::ws::protocol::brief::Form;
use crate::ws::session::{ReceivedCommand, Session};
use crate::ws::state::PlayState;

/// The capacity of a connection's read buffer. Most commands are shorter.
const READ_BYTES: usize = 512;

/// `GET /v1/play`: opens the socket.
pub(in crate::ws) async fn upgrade(
    State(state): State<Arc<PlayState>>,
    Extension(from): Extension<Address>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let admitted = match admit(&state, from, &headers).await {
        Ok(admitted) => admitted,
        Err(error) => return error.into_response(),
    };
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => {
            tracing::debug!(%rejection, "the request is no WebSocket upgrade");
            let is_without_key =
                matches!(rejection, WebSocketUpgradeRejection::WebSocketKeyHeaderMissing(_));
            let refused = if is_without_key {
                AdmissionError::WebSocketKey
            } else {
                AdmissionError::NotASocket
            };
            return Problem::from(refused).into_response();
        }
    };
    if !handshake::has_valid_key(&headers) {
        return Problem::from(AdmissionError::WebSocketKey).into_response();
    }
    let Some(write_half) = peer.write_half.upgrade() else {
        // The connection is closed already.
        return StatusCode::BAD_REQUEST.into_response();
    };
    let credentials = handshake::read_credentials(&headers);
    let join = handshake::read_join(query.as_deref());
    upgrade
        .protocols(Form::ALL.map(Form::subprotocol))
        .read_buffer_size(READ_BYTES)
        // Frames are written one by one by `writer`.
        .write_buffer_size(0)
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| serve(socket, write_half, state, admitted, credentials, join))
}

/// An admitted client.
struct Admitted {
    client: ClientIdentity,
    from: Address,
    /// Held until the socket closes.
    permit: ConnectionPermit,
}

/// The identity of a client, if it is known already.
enum ClientIdentity {
    Player(ReturningPlayer),
    /// Holds one of the address's permits for unauthenticated sockets.
    Unauthenticated(ConnectionPermit),
}

async fn admit(state: &PlayState, from: Address, headers: &HeaderMap) -> Result<Admitted, Problem> {
    // A header that is not UTF-8 is no allowed origin either.
    let origin = headers.get(ORIGIN).map(|value| as_text(value).unwrap_or("?"));
    let host = headers.get(HOST).and_then(as_text);
    state.rate_limits.check_origin(origin, host)?;
    let player = if headers.contains_key(AUTHORIZATION) {
        let player = state.auth.authenticate_returning(headers).await?;
        Some(session_confirmation::admit(state, player).await?)
    } else {
        None
    };
    let permit = state.rate_limits.acquire_socket(from)?;
    let client = match player {
        Some(player) => {
            state.rate_limits.check_socket_handshake(player.id())?;
            ClientIdentity::Player(player)
        }
        None => {
            ClientIdentity::Unauthenticated(state.rate_limits.acquire_unauthenticated_socket(from)?)
        }
    };
    Ok(Admitted { client, from, permit })
}

/// Returns a header's value as UTF-8, which may contain an internationalized name.
fn as_text(value: &HeaderValue) -> Option<&str> {
    str::from_utf8(value.as_bytes()).ok()
}

async fn serve(
    socket: WebSocket,
    write_half: Arc<WriteHalf>,
    state: Arc<PlayState>,
    admitted: Admitted,
    credentials: Option<Credentials>,
    join: Option<ReceivedCommand>,
) {
    let Admitted { client, from, permit } = admitted;
    let mut socket = PlayerSocket::new(
        socket,
        write_half,
        state.lobby.tables().counts().play().clone(),
        state.hooks,
    );
    let (player, entry, repeated_credentials) = match client {
        // Repeated credentials are refused, as if they came in a message.
        ClientIdentity::Player(player) => {
            (player, None, credentials.map(Credentials::into_command).map(Ok))
        }
        ClientIdentity::Unauthenticated(unauthenticated_permit) => {
            let authenticated =
                Box::pin(authentication::authenticate(&mut socket, &state, credentials)).await;
            drop(unauthenticated_permit);
            match authenticated {
                Ok(Some(client)) => (client.player, Some(client.command), None),
                Ok(None) => return,
                Err(reason) => return Box::pin(socket.close(reason)).await,
            }
        }
    };
    let session = Session::new(player, from, permit, socket.writer().clone(), state);
    let initial = repeated_credentials.into_iter().chain(join).collect();
    // A task of its own, because this one keeps the space of the finished steps.
    tokio::spawn(session.run(socket, entry, initial));
}
