//! One connection to a socket for play, which applies every message to the player's copy of the
//! table.

use std::pin::Pin;
use std::time::Duration;

use bahay_engine::catalog::AnyGame;
use bahay_engine::game::Game;
use bahay_engine::table::{Event, GameId, TableId, TableView};
use bahay_engine::variants;
use bahay_protocol::brief::Form;
use bahay_protocol::{Command, Credential, Message, MessageReader, OpenPrompt, Tag};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Message as Frame, Utf8Bytes};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::table::{AwaitedInput, ClientTable, VersionGap};

type Action = <AnyGame as Game>::Action;
type GameEvent = <AnyGame as Game>::Event;

/// An error that ends a connection or keeps it from opening.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error("the socket failed: {0}")]
    Socket(Box<tokio_tungstenite::tungstenite::Error>),
    /// The server rejected the upgrade.
    #[error("the socket was not opened: {status} {code}")]
    Upgrade { status: u16, code: String },
    /// The server closed the connection.
    #[error("closed with {code}: {reason}")]
    Closed { code: u16, reason: String },
    #[error("the server sent an invalid message: {0}")]
    Nonsense(String),
    #[error(transparent)]
    Gap(#[from] VersionGap),
    #[error("the command was refused: {code}: {detail}")]
    Refused { code: String, rule: Option<String>, detail: String },
}

impl From<tokio_tungstenite::tungstenite::Error> for PlayError {
    fn from(error: tokio_tungstenite::tungstenite::Error) -> Self {
        match error {
            tokio_tungstenite::tungstenite::Error::Http(response) => {
                let status = response.status().as_u16();
                let body = response.into_body().unwrap_or_default();
                let code = serde_json::from_slice(&body).map(|Problem { code, .. }| code);
                Self::Upgrade { status, code: code.unwrap_or_default() }
            }
            error => Self::Socket(Box::new(error)),
        }
    }
}

/// A problem document.
#[derive(serde::Deserialize)]
pub(crate) struct Problem {
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) detail: String,
}

/// The authentication of a connection.
#[derive(Clone)]
pub enum SocketAuth {
    /// An access token in the header of the upgrade.
    Header(String),
    /// An access token in the first message.
    Token(String),
    /// A ticket in the first message.
    Ticket(String),
    /// No authentication: the caller sends the first message.
    Deferred,
}

impl std::fmt::Debug for SocketAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Header(_) => "Header(…)",
            Self::Token(_) => "Token(…)",
            Self::Ticket(_) => "Ticket(…)",
            Self::Deferred => "Deferred",
        })
    }
}

/// The number of [`SILENCE`] intervals without a message after which a connection is dead: at least
/// 50 s. The server pings more often.
const SILENT_MAX: u8 = 3;
const SILENCE: Duration = Duration::from_secs(25);

/// The size of the read and write buffers in bytes. Most messages are much smaller, and the rest of
/// a buffer is cleared before every read. The default would be 128 KiB for each.
pub(crate) const BUFFER_BYTES: usize = 1024;

/// A message as received.
#[derive(Clone, Debug)]
pub enum RawMessage {
    Text(Utf8Bytes),
    Bytes(Bytes),
}

impl RawMessage {
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// One connection, with the player's copy of the table.
#[derive(Debug)]
pub struct Play {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    reader: MessageReader,
    next_id: u32,
    state: ClientTable,
    /// The silence timer, which keeps running while messages arrive: resetting it for each would
    /// cost more than reading the message.
    silence: Pin<Box<Sleep>>,
    /// The number of times that the timer has expired since the last message.
    silent: u8,
}

impl Play {
    pub(crate) async fn connect(
        base: &str,
        auth: SocketAuth,
        form: Form,
    ) -> Result<Self, PlayError> {
        let url = format!("{}/v1/play", base.replacen("http", "ws", 1));
        let mut request = url.into_client_request()?;
        if let SocketAuth::Header(token) = &auth {
            let bearer = HeaderValue::from_str(&format!("Bearer {token}"))
                .map_err(|error| PlayError::Nonsense(error.to_string()))?;
            request.headers_mut().insert("authorization", bearer);
        }
        let protocol = HeaderValue::from_static(form.subprotocol());
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER_BYTES)
            .write_buffer_size(BUFFER_BYTES);
        // Disables Nagle's algorithm, so that no command waits for the next one.
        let (socket, _) = connect_async_with_config(request, Some(config), true).await?;
        let mut play = Self {
            socket,
            reader: MessageReader::new(form),
            next_id: 1,
            state: ClientTable::default(),
            silence: Box::pin(sleep(SILENCE)),
            silent: 0,
        };
        let (token, ticket) = match auth {
            SocketAuth::Header(_) | SocketAuth::Deferred => return Ok(play),
            SocketAuth::Token(token) => (Some(Credential::new(token)), None),
            SocketAuth::Ticket(ticket) => (None, Some(Credential::new(ticket))),
        };
        let entering = play.send(|id| Command::Authenticate { id, token, ticket }).await?;
        play.wait_for_answer(entering).await?;
        Ok(play)
    }

    /// Returns the player's copy of the table.
    pub fn view(&self) -> Option<&TableView<AnyGame>> {
        self.state.view()
    }

    pub fn version(&self) -> Option<u64> {
        self.state.version()
    }

    /// Returns the tag of the version.
    pub fn tag(&self) -> Option<Tag> {
        self.state.tag()
    }

    /// Returns the open prompt.
    pub fn prompt(&self) -> Option<&OpenPrompt<Action>> {
        self.state.prompt()
    }

    /// Returns the action that a house bot would choose; `None` if other players are to act.
    pub fn advice(&self) -> Option<Action> {
        self.state.advice()
    }

    /// Returns the input that the table awaits from the player.
    pub fn awaited_input(&self) -> Option<AwaitedInput> {
        self.state.awaited_input()
    }

    /// Drops the connection without a closing handshake, and returns the copy of the table.
    pub fn drop_connection(self) -> ClientTable {
        self.state
    }

    /// Continues from the copy of the table of another connection.
    pub fn resume(&mut self, state: ClientTable) {
        if let Some(view) = state.view() {
            self.reader.set_game_kind(&view.kind);
        }
        self.state = state;
    }

    /// Joins the player's table, from the known version if there is one. Returns the id of the
    /// command.
    pub async fn join(&mut self) -> Result<u32, PlayError> {
        let state = self.table();
        let from = self.version().filter(|_| state.is_some());
        let tag = self.tag().filter(|_| state.is_some());
        self.send(|id| Command::Join { id, from, tag, table: state }).await
    }

    /// Declares readiness, with a commitment to a seed from this text. [`Play::reveal`] sends the
    /// text when the table asks for it.
    pub async fn ready(&mut self, game: GameId, text: Option<String>) -> Result<u32, PlayError> {
        let commitment = self.state.commit(game, text);
        self.send(|id| Command::Ready { id, game, commitment }).await
    }

    /// Reveals the text that the table asks for; `None` if it asks for none.
    pub async fn reveal(&mut self) -> Result<Option<u32>, PlayError> {
        let Some((game, text)) = self.state.requested_seed_text() else {
            return Ok(None);
        };
        let text = text.to_owned();
        self.send(|id| Command::Reveal { id, game, text }).await.map(Some)
    }

    /// Answers the open prompt.
    pub async fn act(&mut self, action: Action) -> Result<u32, PlayError> {
        let (game, prompt) = match self.prompt() {
            Some(prompt) => (prompt.game, prompt.number),
            None => return Err(PlayError::Nonsense("no prompt is open".into())),
        };
        self.send(|id| Command::Act { id, game, prompt, action }).await
    }

    /// Asks for the action that a bot would choose, at a practice table only.
    pub async fn hint(&mut self) -> Result<u32, PlayError> {
        self.send(|id| Command::Hint { id }).await
    }

    pub async fn leave(&mut self) -> Result<u32, PlayError> {
        self.send(|id| Command::Leave { id }).await
    }

    /// Sends a command with the next id.
    pub async fn send(
        &mut self,
        command: impl FnOnce(u32) -> Command<Action>,
    ) -> Result<u32, PlayError> {
        let id = self.next_id;
        self.next_id += 1;
        let text = serde_json::to_string(&command(id))
            .map_err(|error| PlayError::Nonsense(error.to_string()))?;
        self.send_text(text).await?;
        Ok(id)
    }

    /// Sends any text, also one that is not a command.
    pub async fn send_text(&mut self, text: String) -> Result<(), PlayError> {
        Ok(self.socket.send(Frame::Text(text.into())).await?)
    }

    /// Sends a binary frame, which no client should send.
    pub async fn send_bytes(&mut self, bytes: Vec<u8>) -> Result<(), PlayError> {
        Ok(self.socket.send(Frame::Binary(bytes.into())).await?)
    }

    /// Waits for the next message and applies it to the copy of the table. Cancel safe.
    pub async fn next(&mut self) -> Result<Message<AnyGame>, PlayError> {
        let raw = self.next_raw().await?;
        self.apply_raw(&raw)
    }

    /// Waits for the next message without applying it.
    pub async fn next_unapplied(&mut self) -> Result<Message<AnyGame>, PlayError> {
        let raw = self.next_raw().await?;
        self.decode(&raw)
    }

    fn decode(&mut self, raw: &RawMessage) -> Result<Message<AnyGame>, PlayError> {
        self.reader.read(raw.as_bytes()).map_err(|error| {
            let raw = String::from_utf8_lossy(raw.as_bytes());
            PlayError::Nonsense(format!("{error} in {raw}"))
        })
    }

    /// Applies a message of [`Play::next_raw`] to the copy of the table.
    pub fn apply_raw(&mut self, raw: &RawMessage) -> Result<Message<AnyGame>, PlayError> {
        let message = self.decode(raw)?;
        self.apply(&message)?;
        Ok(message)
    }

    /// Applies a decoded message of [`Play::next_raw`] to the copy of the table.
    pub fn apply(&mut self, message: &Message<AnyGame>) -> Result<(), PlayError> {
        Ok(self.state.apply(message, self.reader.form())?)
    }

    /// Waits for the answer to a command: an ack, an update that carries the ack, or a refusal.
    /// Returns the events that arrived until then, which are applied as well.
    pub async fn wait_for_answer(
        &mut self,
        command: u32,
    ) -> Result<Vec<Event<GameEvent>>, PlayError> {
        let mut happened = Vec::new();
        loop {
            let message = self.next().await?;
            let is_acked = message.acked_command() == Some(command);
            match message {
                Message::Refusal { id: Some(id), code, rule, detail, .. } if id == command => {
                    let rule = rule.map(|rule| rule.into_owned());
                    return Err(PlayError::Refused { code: code.into_owned(), rule, detail });
                }
                Message::Update { events, .. } => happened.extend(events),
                variants!(Message: Hello, Closed, Said, Snapshot, Ticket, Invited, Standing, Advice, Ack,
                    Refusal) => {}
            }
            if is_acked {
                return Ok(happened);
            }
        }
    }

    /// Waits for the next message in its raw form. Cancel safe.
    pub async fn next_raw(&mut self) -> Result<RawMessage, PlayError> {
        loop {
            let frame = tokio::select! {
                biased;
                frame = self.socket.next() => frame,
                () = &mut self.silence => {
                    self.silence.set(sleep(SILENCE));
                    self.silent += 1;
                    if self.silent < SILENT_MAX {
                        continue;
                    }
                    let reason = "the connection was silent for too long".to_owned();
                    return Err(PlayError::Closed { code: 1006, reason });
                }
            };
            self.silent = 0;
            match frame {
                Some(Ok(Frame::Text(text))) => return Ok(RawMessage::Text(text)),
                Some(Ok(Frame::Binary(bytes))) if self.reader.form() == Form::Compact => {
                    return Ok(RawMessage::Bytes(bytes));
                }
                Some(Ok(Frame::Close(frame))) => {
                    let (code, reason) = frame.map_or((1005, String::new()), |frame| {
                        (frame.code.into(), frame.reason.as_str().to_owned())
                    });
                    return Err(PlayError::Closed { code, reason });
                }
                Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => {}
                Some(Ok(other)) => {
                    return Err(PlayError::Nonsense(format!("an unexpected frame: {other}")));
                }
                Some(Err(error)) => return Err(error.into()),
                None => {
                    let reason = "the connection ended without a closing frame".to_owned();
                    return Err(PlayError::Closed { code: 1006, reason });
                }
            }
        }
    }

    /// Returns the table of the player's copy.
    pub fn table(&self) -> Option<TableId> {
        self.state.table()
    }
}
