//! Opens sockets: from an origin that may, to a player whose token is in the header, or to a
//! stranger who is to say at once who it is (`entry`), if the request has not said so (`opening`).
//!
//! Bounds: an address has so many sockets, fewer of them strangers; an account may open so many a
//! second. Whoever is refused here is refused in HTTP, with a problem document.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Extension;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::extract::{ConnectInfo, RawQuery, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bahay_engine::table::Table;
use tokio::sync::{mpsc, watch};

use crate::accounts::SanctionReader;
use crate::auth::{Auth, AuthError, ReturningPlayer};
use crate::clock::Clock;
use crate::rate_limit::{Address, RateLimits, Peer, ConnectionPermit, AdmissionError, WriteHalf};
use crate::live_store::LiveStore;
use crate::lobby::Lobby;
use crate::notices::Notices;
use crate::social::Social;
use crate::ws::authentication;
use crate::ws::link_monitor::LinkMonitor;
use crate::ws::handshake::{self, Credentials};
use crate::ws::protocol::MESSAGE_BYTES_MAX;
use crate::ws::protocol::brief::Form;
use crate::ws::session_confirmation;
use crate::ws::session::{ReceivedCommand, Session};
use crate::ws::socket::PlayerSocket;
use bahay_engine::catalog::AnyGame;

/// What a connection reads at once, and keeps for that; commands are shorter.
const READ_BYTES: usize = 512;

/// Where a fault can be planted. Only tests do so.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultHooks {
    /// Called with every text of a client before it is read.
    pub before_parse: Option<fn(&str)>,
    /// Called with every table before something of it is shown to a player.
    pub before_showing: Option<fn(&Table<AnyGame>)>,
}

/// What connections share.
#[derive(Clone, Debug)]
pub struct PlayState {
    pub auth: Auth,
    pub lobby: Lobby,
    pub live: LiveStore,
    pub rate_limits: RateLimits,
    /// Notices connections that have gone dead.
    pub links: LinkMonitor,
    pub notices: Notices,
    pub social: Social,
    /// ClientIdentity may not speak, by whose clock.
    pub sanctions: SanctionReader,
    pub clock: Clock,
    /// Turns true when the server stops.
    pub stopping: watch::Receiver<bool>,
    /// Never sent on: who waits for its end waits for the last connection.
    pub alive: mpsc::Sender<Infallible>,
    pub hooks: FaultHooks,
}

/// `GET /v1/play`: opens the socket.
pub(super) async fn upgrade(
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
            tracing::debug!(%rejection, "no socket was asked for");
            let is_without_key =
                matches!(rejection, WebSocketUpgradeRejection::WebSocketKeyHeaderMissing(_));
            let refused = if is_without_key { AdmissionError::WebSocketKey } else { AdmissionError::NotASocket };
            return refused.into_response();
        }
    };
    if !handshake::has_valid_key(&headers) {
        return AdmissionError::WebSocketKey.into_response();
    }
    let Some(write_half) = peer.write_half.upgrade() else {
        // Nobody reads this any more.
        return StatusCode::BAD_REQUEST.into_response();
    };
    let request = HandshakeRequest {
        credentials: handshake::read_credentials(&headers),
        join: handshake::read_join(query.as_deref()),
    };
    upgrade
        .protocols(Form::ALL.map(Form::subprotocol))
        .read_buffer_size(READ_BYTES)
        // What is written is a frame at a time, by `writer`.
        .write_buffer_size(0)
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| serve(socket, write_half, state, admitted, request))
}

/// What the request has said beside that a socket is wanted.
struct HandshakeRequest {
    credentials: Option<Credentials>,
    join: Option<ReceivedCommand>,
}

/// ClientIdentity has come through the door.
struct Admitted {
    client: ClientIdentity,
    from: Address,
    /// Held as long as the socket is open.
    permit: ConnectionPermit,
}

enum ClientIdentity {
    Player(ReturningPlayer),
    /// Holds its place among the strangers.
    Unauthenticated(ConnectionPermit),
}

/// Why somebody is not let in.
enum UpgradeError {
    RateLimit(AdmissionError),
    Auth(AuthError),
}

impl From<AdmissionError> for UpgradeError {
    fn from(refused: AdmissionError) -> Self {
        Self::RateLimit(refused)
    }
}

impl From<AuthError> for UpgradeError {
    fn from(error: AuthError) -> Self {
        Self::Auth(error)
    }
}

impl IntoResponse for UpgradeError {
    fn into_response(self) -> Response {
        match self {
            Self::RateLimit(refused) => refused.into_response(),
            Self::Auth(error) => error.into_response(),
        }
    }
}

async fn admit(
    state: &PlayState,
    from: Address,
    headers: &HeaderMap,
) -> Result<Admitted, UpgradeError> {
    // What is no text is no origin of ours either.
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
        None => ClientIdentity::Unauthenticated(state.rate_limits.acquire_unauthenticated_socket(from)?),
    };
    Ok(Admitted { client, from, permit })
}

/// Reads a header that may hold an international name as it is.
fn as_text(value: &HeaderValue) -> Option<&str> {
    str::from_utf8(value.as_bytes()).ok()
}

async fn serve(
    socket: WebSocket,
    write_half: Arc<WriteHalf>,
    state: Arc<PlayState>,
    admitted: Admitted,
    request: HandshakeRequest,
) {
    let Admitted { client, from, permit } = admitted;
    let HandshakeRequest { credentials, join } = request;
    let mut socket =
        PlayerSocket::new(socket, write_half, state.lobby.tables().counts().play().clone(), state.hooks);
    let (player, entry, repeated_credentials) = match client {
        // ClientIdentity says so twice is refused, as by a message.
        ClientIdentity::Player(player) => (player, None, credentials.map(Credentials::into_command).map(Ok)),
        ClientIdentity::Unauthenticated(unauthenticated_permit) => {
            let authenticated = Box::pin(authentication::authenticate(&mut socket, &state, credentials)).await;
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
    // In a task of its own, because this one keeps the room for all that is over now.
    tokio::spawn(session.run(socket, entry, initial));
}
