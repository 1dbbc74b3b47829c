//! A client that knows only the public API: REST for everything around the table, one WebSocket
//! for play. The demo, the tests and the load tester play through it; nothing here knows how the
//! server does what it does.
//!
//! [`Play`] is one connection, which shows whatever happens to it. [`ReconnectingPlay`] is a player who comes
//! back by itself.

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

use crate::ws::protocol::brief::Form;

pub use play::{ClientTable, Play, PlayError, RawMessage, SocketAuth};
pub use reconnecting::{CommandNumber, CommandOutcome, ReconnectingPlay, ReconnectError, PlayEvent, table_events};

/// Longer than any answer should take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What a call came to, when not to an answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server refused, with a problem document.
    #[error("{status} {code}: {detail}")]
    Refused { status: u16, code: String, detail: String },
    #[error("the server could not be reached: {0}")]
    Unreachable(#[from] reqwest::Error),
    #[error("the server's answer makes no sense: {0}")]
    Nonsense(String),
    #[error("no socket could be held open: {0}")]
    Offline(String),
}

/// A player signed in at a server.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    player: PlayerId,
    device_id: String,
    access_token: String,
    refresh_token: String,
    /// How it wants messages on the socket.
    form: Form,
    /// Shared by clones, and closed with the last of them.
    held_socket: HeldSocket,
}

/// A socket that only shows that the player is there.
type HeldSocket = Arc<Mutex<Option<AbortOnDrop>>>;

/// A task that ends with this.
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
    /// To spend.
    pub available: Coins,
    /// Held as stakes of a running game.
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
    /// Signs in as a guest. `base` is as in `http://127.0.0.1:8080`.
    pub async fn guest(base: &str, device_id: &str, name: &str) -> Result<Self, ClientError> {
        let http = reqwest::Client::builder().timeout(TIMEOUT).no_proxy().build()?;
        Self::sign_in_guest(http, base, device_id, name).await
    }

    /// Signs in somebody else, who shares the connections for requests with this one.
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

    /// The same player, who wants messages on the socket in another form.
    #[must_use]
    pub fn with_form(&self, form: Form) -> Self {
        Self { form, ..self.clone() }
    }

    /// The same player at another node of the house.
    #[must_use]
    pub fn with_base(&self, base: &str) -> Self {
        Self { base: base.trim_end_matches('/').to_owned(), ..self.clone() }
    }

    /// As in `http://127.0.0.1:8080`.
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

    /// Trades the refresh token for new tokens, at any node. Clones keep the old ones, which must
    /// not be used again.
    pub async fn renew_tokens_at(&mut self, base: &str) -> Result<(), ClientError> {
        let base = base.trim_end_matches('/');
        let request = self.http.post(format!("{base}/v1/token/refresh"));
        let body = json!({ "refresh_token": self.refresh_token, "device_id": self.device_id });
        let RefreshResponse { access_token, refresh_token } = send_request(request.json(&body)).await?;
        (self.access_token, self.refresh_token) = (access_token, refresh_token);
        Ok(())
    }

    /// A ticket that opens one socket.
    pub async fn ticket(&self) -> Result<String, ClientError> {
        let request = self.http.post(format!("{}/v1/play/tickets", self.base));
        let TicketResponse { ticket } = send_request(request.bearer_auth(&self.access_token)).await?;
        Ok(ticket)
    }

    pub async fn wallet(&self) -> Result<Wallet, ClientError> {
        self.read("/v1/me/wallet").await
    }

    /// Asks a room for a seat; gives the table. A player without an open socket is given none, so one
    /// is opened then: see [`Self::hold_socket`].
    pub async fn seat(&self, room: &str) -> Result<TableId, ClientError> {
        match self.request_seat(room).await {
            Err(ClientError::Refused { code, .. }) if code == "socket_required" => {
                self.hold_socket().await?;
                self.request_seat(room).await
            }
            answered => answered,
        }
    }

    /// Holds a socket open that shows that the player is there, until [`Self::play`] has opened
    /// another one.
    pub async fn hold_socket(&self) -> Result<(), ClientError> {
        let offline = |error: PlayError| ClientError::Offline(error.to_string());
        let mut play = Play::connect(&self.base, SocketAuth::Header(self.access_token.clone()), self.form)
            .await
            .map_err(offline)?;
        // The first thing said is the hello, from which on the player counts as there.
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

    /// The record of a finished game, as the server's document.
    pub async fn record(&self, game: GameId) -> Result<Value, ClientError> {
        self.read(&format!("/v1/games/{game}/record")).await
    }

    /// Reads any resource.
    pub async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let request = self.http.get(format!("{}{path}", self.base));
        send_request(request.bearer_auth(&self.access_token)).await
    }

    /// The figures of a server's process, in the text format of Prometheus, from where it answers
    /// supervisors.
    pub async fn metrics(&self, probes: &str) -> Result<String, ClientError> {
        let probes = probes.trim_end_matches('/');
        let response = self.http.get(format!("{probes}/metrics")).send().await?;
        Ok(response.error_for_status()?.text().await?)
    }

    /// Opens the socket for play.
    pub async fn play(&self) -> Result<Play, PlayError> {
        self.play_with(SocketAuth::Header(self.access_token.clone())).await
    }

    /// The same, with whatever shows who the player is.
    pub async fn play_with(&self, way: SocketAuth) -> Result<Play, PlayError> {
        let play = Play::connect(&self.base, way, self.form).await?;
        self.replace_held_socket(None);
        Ok(play)
    }
}

async fn send_request<T: DeserializeOwned>(request: reqwest::RequestBuilder) -> Result<T, ClientError> {
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
