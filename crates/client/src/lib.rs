//! A client that uses only the public API: REST for everything around the table, and one WebSocket
//! for play. The demo, the tests and the load tester play through it; it shares no knowledge of the
//! server's implementation.
//!
//! [`Play`] is one connection and reports everything that happens to it. [`ReconnectingPlay`] is a
//! player who reconnects automatically.

mod play;
mod reconnecting;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TableId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use bahay_protocol::brief::Form;

pub use play::{ClientTable, Play, PlayError, RawMessage, SocketAuth};
pub use reconnecting::{
    CommandNumber, CommandOutcome, PlayEvent, ReconnectError, ReconnectingPlay, table_events,
};

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
    #[error("the server's answer is invalid: {0}")]
    Nonsense(String),
    #[error("no socket could be opened: {0}")]
    Offline(String),
}

/// A signed-in player. Clones share the connections for requests.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    player: PlayerId,
    device_id: String,
    access_token: String,
    refresh_token: String,
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

#[derive(Deserialize)]
struct SignInResponse {
    player: SignInPlayer,
    access_token: String,
    refresh_token: String,
}

#[derive(Deserialize)]
struct RefreshResponse {
    access_token: String,
    refresh_token: String,
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

#[derive(Deserialize)]
struct Problem {
    code: String,
    #[serde(default)]
    detail: String,
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
        let signed_in: SignInResponse = send_request(request.json(&body)).await?;
        let SignInResponse { player, access_token, refresh_token } = signed_in;
        Ok(Self {
            http,
            base,
            player: player.id,
            device_id: device_id.to_owned(),
            access_token,
            refresh_token,
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
        &self.access_token
    }

    pub fn refresh_token(&self) -> &str {
        &self.refresh_token
    }

    /// Exchanges the refresh token for new tokens, at any node. Clones keep the old tokens, which
    /// must not be used again.
    pub async fn renew_tokens_at(&mut self, base: &str) -> Result<(), ClientError> {
        let base = base.trim_end_matches('/');
        let request = self.http.post(format!("{base}/v1/token/refresh"));
        let body = json!({ "refresh_token": self.refresh_token, "device_id": self.device_id });
        let RefreshResponse { access_token, refresh_token } =
            send_request(request.json(&body)).await?;
        (self.access_token, self.refresh_token) = (access_token, refresh_token);
        Ok(())
    }

    /// Requests a ticket that opens one socket.
    pub async fn ticket(&self) -> Result<String, ClientError> {
        let request = self.http.post(format!("{}/v1/play/tickets", self.base));
        let TicketResponse { ticket } =
            send_request(request.bearer_auth(&self.access_token)).await?;
        Ok(ticket)
    }

    pub async fn wallet(&self) -> Result<Wallet, ClientError> {
        self.read("/v1/me/wallet").await
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
        let offline = |error: PlayError| ClientError::Offline(error.to_string());
        let mut play =
            Play::connect(&self.base, SocketAuth::Header(self.access_token.clone()), self.form)
                .await
                .map_err(offline)?;
        // The player is online from the first message, the hello.
        play.next_raw().await.map_err(offline)?;
        let held_socket = tokio::spawn(async move { while play.next_raw().await.is_ok() {} });
        self.replace_held_socket(Some(AbortOnDrop(held_socket.abort_handle())));
        Ok(())
    }

    fn replace_held_socket(&self, held_socket: Option<AbortOnDrop>) {
        *self.held_socket.lock().unwrap_or_else(PoisonError::into_inner) = held_socket;
    }

    async fn request_seat(&self, room: &str) -> Result<TableId, ClientError> {
        let request = self.http.post(format!("{}/v1/rooms/{room}/seat", self.base));
        let SeatResponse { table } = send_request(request.bearer_auth(&self.access_token)).await?;
        Ok(table)
    }

    /// Leaves the table.
    pub async fn leave(&self) -> Result<(), ClientError> {
        let request = self.http.delete(format!("{}/v1/table", self.base));
        let _: Value = send_request(request.bearer_auth(&self.access_token)).await?;
        Ok(())
    }

    /// Ends the session.
    pub async fn sign_out(&self) -> Result<(), ClientError> {
        let request = self.http.post(format!("{}/v1/sign-out", self.base));
        let _: Value = send_request(request.bearer_auth(&self.access_token)).await?;
        Ok(())
    }

    /// Returns the record of a finished game, as the server's document.
    pub async fn record(&self, game: GameId) -> Result<Value, ClientError> {
        self.read(&format!("/v1/games/{game}/record")).await
    }

    /// Reads a resource.
    pub async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let request = self.http.get(format!("{}{path}", self.base));
        send_request(request.bearer_auth(&self.access_token)).await
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
        self.play_with(SocketAuth::Header(self.access_token.clone())).await
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
        let problem: Problem = serde_json::from_slice(&body).map_err(|error| {
            ClientError::Nonsense(format!("status {status} without a problem document: {error}"))
        })?;
        let Problem { code, detail } = problem;
        return Err(ClientError::Refused { status: status.as_u16(), code, detail });
    }
    let body = if body.is_empty() { b"null".as_slice() } else { &body };
    serde_json::from_slice(body).map_err(|error| ClientError::Nonsense(error.to_string()))
}
