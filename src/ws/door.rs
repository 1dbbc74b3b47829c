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

use crate::accounts::Bans;
use crate::auth::{Auth, AuthError, ReturningPlayer};
use crate::clock::Clock;
use crate::rate_limit::{Address, RateLimits, Peer, ConnectionPermit, AdmissionError, WriteHalf};
use crate::live_store::LiveStore;
use crate::lobby::Lobby;
use crate::notices::Notices;
use crate::social::Social;
use crate::ws::entry;
use crate::ws::link_monitor::LinkMonitor;
use crate::ws::opening::{self, Credentials};
use crate::ws::protocol::MESSAGE_BYTES_MAX;
use crate::ws::protocol::brief::Form;
use crate::ws::returning;
use crate::ws::session::{Said, Session};
use crate::ws::wire::Wire;
use bahay_engine::catalog::AnyGame;

/// What a connection reads at once, and keeps for that; commands are shorter.
const READ_BYTES: usize = 512;

/// Where a fault can be planted. Only tests do so.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultHooks {
    /// Called with every text of a client before it is read.
    pub heard: Option<fn(&str)>,
    /// Called with every table before something of it is shown to a player.
    pub shown: Option<fn(&Table<AnyGame>)>,
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
    /// Who may not speak, by whose clock.
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
        Err(turned_away) => return turned_away.into_response(),
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
    if !opening::has_sound_key(&headers) {
        return AdmissionError::WebSocketKey.into_response();
    }
    let Some(write_half) = peer.write_half.upgrade() else {
        // Nobody reads this any more.
        return StatusCode::BAD_REQUEST.into_response();
    };
    let said = Opening {
        credentials: opening::credentials(&headers),
        join: opening::join(query.as_deref()),
    };
    upgrade
        .protocols(Form::ALL.map(Form::subprotocol))
        .read_buffer_size(READ_BYTES)
        // What is written is a frame at a time, by `writer`.
        .write_buffer_size(0)
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| serve(socket, write_half, state, admitted, said))
}

/// What the request has said beside that a socket is wanted.
struct Opening {
    credentials: Option<Credentials>,
    join: Option<Said>,
}

/// Who has come through the door.
struct Admitted {
    who: Who,
    from: Address,
    /// Held as long as the socket is open.
    place: ConnectionPermit,
}

enum Who {
    Player(ReturningPlayer),
    /// Holds its place among the strangers.
    Stranger(ConnectionPermit),
}

/// Why somebody is not let in.
enum TurnedAway {
    RateLimit(AdmissionError),
    Auth(AuthError),
}

impl From<AdmissionError> for TurnedAway {
    fn from(refused: AdmissionError) -> Self {
        Self::RateLimit(refused)
    }
}

impl From<AuthError> for TurnedAway {
    fn from(error: AuthError) -> Self {
        Self::Auth(error)
    }
}

impl IntoResponse for TurnedAway {
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
) -> Result<Admitted, TurnedAway> {
    // What is no text is no origin of ours either.
    let origin = headers.get(ORIGIN).map(|value| as_text(value).unwrap_or("?"));
    let host = headers.get(HOST).and_then(as_text);
    state.rate_limits.check_origin(origin, host)?;
    let player = if headers.contains_key(AUTHORIZATION) {
        let player = state.auth.authenticate_returning(headers).await?;
        Some(returning::admit(state, player).await?)
    } else {
        None
    };
    let place = state.rate_limits.acquire_socket(from)?;
    let who = match player {
        Some(player) => {
            state.rate_limits.check_socket_handshake(player.id())?;
            Who::Player(player)
        }
        None => Who::Stranger(state.rate_limits.acquire_unauthenticated_socket(from)?),
    };
    Ok(Admitted { who, from, place })
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
    opening: Opening,
) {
    let Admitted { who, from, place } = admitted;
    let Opening { credentials, join } = opening;
    let mut wire =
        Wire::new(socket, write_half, state.lobby.tables().counts().play().clone(), state.hooks);
    let (player, entry, again) = match who {
        // Who says so twice is refused, as by a message.
        Who::Player(player) => (player, None, credentials.map(Credentials::command).map(Ok)),
        Who::Stranger(among_strangers) => {
            let entered = Box::pin(entry::authenticate(&mut wire, &state, credentials)).await;
            drop(among_strangers);
            match entered {
                Ok(Some(entered)) => (entered.player, Some(entered.command), None),
                Ok(None) => return,
                Err(ended) => return Box::pin(wire.end(ended)).await,
            }
        }
    };
    let session = Session::new(player, from, place, wire.writer().clone(), state);
    let first = again.into_iter().chain(join).collect();
    // In a task of its own, because this one keeps the room for all that is over now.
    tokio::spawn(session.run(wire, entry, first));
}
