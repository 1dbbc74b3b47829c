//! A signed-in player: sessions, seats, wallets and records over REST.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bahay_client::{Player, StoreKey, stored_session};
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TableId};
use bahay_protocol::brief::Form;
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use crate::play::{Play, PlayError, Problem, SocketAuth};

/// The timeout of a request, longer than any answer should take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An error of a request.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server rejected the request with a problem document.
    #[error("{status} {code}: {detail}")]
    Refused { status: u16, code: String, detail: String },
    #[error("the server could not be reached: {0}")]
    Unreachable(#[from] reqwest::Error),
    /// A proxy answered instead of the server.
    #[error("a proxy answered {0}: the server is unavailable")]
    Unavailable(u16),
    #[error("the server's answer is invalid: {0}")]
    Nonsense(String),
    #[error("no socket could be opened: {0}")]
    Offline(#[source] PlayError),
}

impl ClientError {
    /// Returns whether the same request may succeed later, as during an upgrade of the server.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Unavailable(_) => true,
            Self::Refused { status, .. } => is_unavailable(*status),
            Self::Offline(PlayError::Socket(_)) => true,
            Self::Offline(PlayError::Upgrade { status, .. }) => is_unavailable(*status),
            Self::Nonsense(_) | Self::Offline(_) => false,
        }
    }
}

fn is_unavailable(status: u16) -> bool {
    matches!(status, 502..=504)
}

/// A signed-in player. Clones share the connections for requests.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    player: PlayerId,
    device_id: String,
    tokens: Tokens,
    /// The requested form of messages on the socket.
    form: Form,
    /// The held socket, shared by clones and closed with the last of them.
    held_socket: HeldSocket,
}

/// A socket that only keeps the player online.
type HeldSocket = Arc<Mutex<Option<AbortOnDrop>>>;

/// A task that is aborted when this is dropped.
#[derive(Debug)]
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A wallet, in hundredths of a coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wallet {
    /// The coins that can be spent.
    pub available: Coins,
    /// The stakes held in running games.
    pub held: Coins,
}

/// A room as the server lists it.
#[derive(Clone, Debug, Deserialize)]
pub struct RoomSummary {
    pub id: String,
    /// The number of seats at a table.
    pub seats: u8,
    /// The minimum number of players of a game.
    pub seats_min: u8,
}

#[derive(Deserialize)]
struct RoomList {
    items: Vec<RoomSummary>,
}

#[derive(Deserialize)]
struct SignInResponse {
    player: SignInPlayer,
    #[serde(flatten)]
    tokens: Tokens,
}

/// The tokens of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Tokens {
    access_token: String,
    access_expires_at: String,
    refresh_token: String,
    session: String,
}

#[derive(Deserialize)]
struct TicketResponse {
    ticket: String,
}

#[derive(Deserialize)]
struct SignInPlayer {
    id: PlayerId,
}

#[derive(Deserialize)]
struct SeatResponse {
    table: TableId,
}

impl Client {
    /// Signs in as a guest. `base` is the server's URL, such as `http://127.0.0.1:8080`.
    pub async fn guest(base: &str, device_id: &str, name: &str) -> Result<Self, ClientError> {
        let http = reqwest::Client::builder().timeout(TIMEOUT).no_proxy().build()?;
        Self::sign_in_guest(http, base, device_id, name).await
    }

    /// Signs in another guest, who shares this client's connections for requests.
    pub async fn another_guest(&self, device_id: &str, name: &str) -> Result<Self, ClientError> {
        Self::sign_in_guest(self.http.clone(), &self.base, device_id, name).await
    }

    async fn sign_in_guest(
        http: reqwest::Client,
        base: &str,
        device_id: &str,
        name: &str,
    ) -> Result<Self, ClientError> {
        let base = base.trim_end_matches('/').to_owned();
        let request = http.post(format!("{base}/v1/sign-in/guest"));
        let body = json!({ "device_id": device_id, "name": name });
        let SignInResponse { player, tokens } = send_request(request.json(&body)).await?;
        Ok(Self {
            http,
            base,
            player: player.id,
            device_id: device_id.to_owned(),
            tokens,
            form: Form::default(),
            held_socket: HeldSocket::default(),
        })
    }

    /// Returns the same player with another form of messages on the socket.
    #[must_use]
    pub fn with_form(&self, form: Form) -> Self {
        Self { form, ..self.clone() }
    }

    /// Returns the same player at another node of the house.
    #[must_use]
    pub fn with_base(&self, base: &str) -> Self {
        Self { base: base.trim_end_matches('/').to_owned(), ..self.clone() }
    }

    /// Returns the server's URL, such as `http://127.0.0.1:8080`.
    pub fn base(&self) -> &str {
        &self.base
    }

    pub fn player(&self) -> PlayerId {
        self.player
    }

    pub fn access_token(&self) -> &str {
        &self.tokens.access_token
    }

    pub fn refresh_token(&self) -> &str {
        &self.tokens.refresh_token
    }

    /// Returns what a client core stores of this player: the device and the session.
    pub(crate) fn stored_values(&self) -> BTreeMap<StoreKey, String> {
        let player = Player { id: self.player, name: String::new() };
        let tokens = serde_json::to_string(&self.tokens).unwrap_or_default();
        let session = stored_session(player, &tokens, false);
        let device = Some((StoreKey::Device, self.device_id.clone()));
        let session = session.map(|session| (StoreKey::Session, session));
        device.into_iter().chain(session).collect()
    }

    /// Returns the connections for requests.
    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Exchanges the refresh token for new tokens, at any node. Clones keep the old tokens, which
    /// must not be used again.
    pub async fn renew_tokens_at(&mut self, base: &str) -> Result<(), ClientError> {
        let base = base.trim_end_matches('/');
        let request = self.http.post(format!("{base}/v1/token/refresh"));
        let refresh_token = &self.tokens.refresh_token;
        let body = json!({ "refresh_token": refresh_token, "device_id": self.device_id });
        self.tokens = send_request(request.json(&body)).await?;
        Ok(())
    }

    /// Requests a ticket that opens one socket.
    pub async fn ticket(&self) -> Result<String, ClientError> {
        let TicketResponse { ticket } = self.request(Method::POST, "/v1/play/tickets").await?;
        Ok(ticket)
    }

    pub async fn wallet(&self) -> Result<Wallet, ClientError> {
        self.read("/v1/me/wallet").await
    }

    /// Returns the room with this id; `None` if the house has none.
    pub async fn room(&self, id: &str) -> Result<Option<RoomSummary>, ClientError> {
        let RoomList { items } = self.read("/v1/rooms").await?;
        Ok(items.into_iter().find(|room| room.id == id))
    }

    /// Requests a seat in a room and returns its table. If the server requires an open socket, one
    /// is opened first: see [`Self::hold_socket`].
    pub async fn seat(&self, room: &str) -> Result<TableId, ClientError> {
        match self.request_seat(room).await {
            Err(ClientError::Refused { code, .. }) if code == "socket_required" => {
                self.hold_socket().await?;
                self.request_seat(room).await
            }
            answered => answered,
        }
    }

    /// Opens a socket that keeps the player online, until [`Self::play`] has opened another one.
    pub async fn hold_socket(&self) -> Result<(), ClientError> {
        let connecting = Play::connect(&self.base, self.header_auth(), self.form);
        let mut play = connecting.await.map_err(ClientError::Offline)?;
        // The player is online from the first message, the hello.
        play.next_raw().await.map_err(ClientError::Offline)?;
        let held_socket = tokio::spawn(async move { while play.next_raw().await.is_ok() {} });
        self.replace_held_socket(Some(AbortOnDrop(held_socket.abort_handle())));
        Ok(())
    }

    fn replace_held_socket(&self, held_socket: Option<AbortOnDrop>) {
        *self.held_socket.lock().unwrap_or_else(PoisonError::into_inner) = held_socket;
    }

    async fn request_seat(&self, room: &str) -> Result<TableId, ClientError> {
        let path = format!("/v1/rooms/{room}/seat");
        let SeatResponse { table } = self.request(Method::POST, &path).await?;
        Ok(table)
    }

    /// Leaves the table.
    pub async fn leave(&self) -> Result<(), ClientError> {
        self.request::<Value>(Method::DELETE, "/v1/table").await.map(drop)
    }

    /// Ends the session.
    pub async fn sign_out(&self) -> Result<(), ClientError> {
        self.request::<Value>(Method::POST, "/v1/sign-out").await.map(drop)
    }

    /// Returns the record of a finished game, as the server's document.
    pub async fn record(&self, game: GameId) -> Result<Value, ClientError> {
        self.read(&format!("/v1/games/{game}/record")).await
    }

    /// Reads a resource.
    pub async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.request(Method::GET, path).await
    }

    /// Sends a request with a body as this player.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, ClientError> {
        let request = self.http.post(format!("{}{path}", self.base));
        send_request(request.bearer_auth(&self.tokens.access_token).json(body)).await
    }

    /// Puts a body as this player.
    pub async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, ClientError> {
        let request = self.http.put(format!("{}{path}", self.base));
        send_request(request.bearer_auth(&self.tokens.access_token).json(body)).await
    }

    /// Sends a request without a body as this player.
    async fn request<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
    ) -> Result<T, ClientError> {
        let request = self.http.request(method, format!("{}{path}", self.base));
        send_request(request.bearer_auth(&self.tokens.access_token)).await
    }

    /// Reads the metrics of a server process in the text format of Prometheus, from its address for
    /// probes.
    pub async fn metrics(&self, probes: &str) -> Result<String, ClientError> {
        let probes = probes.trim_end_matches('/');
        let response = self.http.get(format!("{probes}/metrics")).send().await?;
        Ok(response.error_for_status()?.text().await?)
    }

    /// Opens the socket for play with the access token in its header.
    pub async fn play(&self) -> Result<Play, PlayError> {
        self.play_with(self.header_auth()).await
    }

    fn header_auth(&self) -> SocketAuth {
        SocketAuth::Header(self.access_token().to_owned())
    }

    /// Opens the socket for play with other credentials.
    pub async fn play_with(&self, auth: SocketAuth) -> Result<Play, PlayError> {
        let play = Play::connect(&self.base, auth, self.form).await?;
        self.replace_held_socket(None);
        Ok(play)
    }
}

async fn send_request<T: DeserializeOwned>(
    request: reqwest::RequestBuilder,
) -> Result<T, ClientError> {
    let response = request.send().await?;
    let status = response.status();
    let body = response.bytes().await?;
    if !status.is_success() {
        return Err(match serde_json::from_slice(&body) {
            Ok(Problem { code, detail }) => {
                ClientError::Refused { status: status.as_u16(), code, detail }
            }
            Err(_) if is_unavailable(status.as_u16()) => ClientError::Unavailable(status.as_u16()),
            Err(error) => ClientError::Nonsense(format!(
                "status {status} without a problem document: {error}"
            )),
        });
    }
    let body = if body.is_empty() { b"null".as_slice() } else { &body };
    serde_json::from_slice(body).map_err(|error| ClientError::Nonsense(error.to_string()))
}
