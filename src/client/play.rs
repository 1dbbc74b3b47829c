//! A socket for play, and the table as its player knows it: the last snapshot, brought up to date
//! by every update since. Updates come numbered; a gap or a repetition is an error here, because
//! a server must never send one.

use std::pin::Pin;
use std::time::Duration;

use bahay_engine::chance::{ClientSeed, Commitment};
use bahay_engine::game::Game;
use bahay_engine::table::{Event, GameId, PhaseView, TableId, TableView};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Message as Frame, Utf8Bytes};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::ws::protocol::brief::Form;
use crate::ws::protocol::{Command, Credential, Message, MessageReader, OpenPrompt, Tag};
use bahay_engine::catalog::AnyGame;

type Action = <AnyGame as Game>::Action;
type GameEvent = <AnyGame as Game>::Event;

/// Why a connection ended or could not be.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error("the socket failed: {0}")]
    Socket(Box<tokio_tungstenite::tungstenite::Error>),
    /// The server did not open the socket.
    #[error("the socket was not opened: {status} {code}")]
    Upgrade { status: u16, code: String },
    /// The server closed the connection.
    #[error("closed with {code}: {reason}")]
    Closed { code: u16, reason: String },
    #[error("the server sent what makes no sense: {0}")]
    Nonsense(String),
    /// An update did not follow the one before.
    #[error("update {got} came after version {had:?}")]
    Gap { had: Option<u64>, got: u64 },
    #[error("the command was refused: {code}: {detail}")]
    Refused { code: String, rule: Option<String>, detail: String },
}

impl From<tokio_tungstenite::tungstenite::Error> for PlayError {
    fn from(error: tokio_tungstenite::tungstenite::Error) -> Self {
        match error {
            tokio_tungstenite::tungstenite::Error::Http(response) => {
                let status = response.status().as_u16();
                let body = response.into_body().unwrap_or_default();
                let code = serde_json::from_slice(&body).map(|Problem { code }| code);
                Self::Upgrade { status, code: code.unwrap_or_default() }
            }
            error => Self::Socket(Box::new(error)),
        }
    }
}

#[derive(serde::Deserialize)]
struct Problem {
    code: String,
}

/// How a connection shows whose it is.
#[derive(Clone)]
pub enum SocketAuth {
    /// An access token in the header of the upgrade.
    Header(String),
    /// An access token in the first message.
    Token(String),
    /// A ticket in the first message.
    Ticket(String),
    /// Not at all: the caller says the first message.
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

/// A connection is dead after this many of these in which nothing is heard: 50 s at least. The server
/// pings more often.
const SILENT_MAX: u8 = 3;
const SILENCE: Duration = Duration::from_secs(25);

/// What a connection reads and writes at once: most messages are smaller by far, and what is left of
/// it is cleared before every read. By default it would be 128 KiB of each.
const BUFFER_BYTES: usize = 1024;

/// A message as it came.
#[derive(Clone, Debug)]
pub enum Said {
    Text(Utf8Bytes),
    Bytes(Bytes),
}

impl Said {
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// One connection, and what its player knows.
#[derive(Debug)]
pub struct Play {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    reader: MessageReader,
    next_id: u32,
    state: ClientTable,
    /// Runs on while messages come: setting a timer for each would cost more than reading it.
    silence: Pin<Box<Sleep>>,
    /// Times that it has run out since something was heard.
    silent: u8,
}

/// What a player knows of its table: also what is left when a connection has gone.
#[derive(Clone, Debug, Default)]
pub struct ClientTable {
    view: Option<TableView<AnyGame>>,
    version: Option<u64>,
    /// That of the version.
    tag: Option<Tag>,
    /// What the client's seed for a game is made of, once it has committed to it.
    text: Option<(GameId, String)>,
    prompt: Option<OpenPrompt<Action>>,
}

impl ClientTable {
    pub(super) fn view(&self) -> Option<&TableView<AnyGame>> {
        self.view.as_ref()
    }

    pub(super) fn version(&self) -> Option<u64> {
        self.version
    }

    pub(super) fn prompt(&self) -> Option<&OpenPrompt<Action>> {
        self.prompt.as_ref()
    }

    pub(super) fn advice(&self) -> Option<Action> {
        self.prompt.as_ref().filter(|prompt| !prompt.legal.is_empty())?;
        match &self.view.as_ref()?.phase {
            PhaseView::Playing { view, .. } => AnyGame::choose_action(view),
            PhaseView::Waiting
            | PhaseView::Preparing { .. }
            | PhaseView::Opening { .. }
            | PhaseView::Revealing { .. }
            | PhaseView::Settling { .. } => None,
        }
    }

    /// The commitment to a seed that is made of this text; to that of an earlier text, where the
    /// client has committed to one for this game already: the first command may have arrived.
    pub(super) fn commit(&mut self, game: GameId, text: Option<String>) -> Option<Commitment> {
        if self.text.as_ref().is_none_or(|(of, _)| *of != game) {
            self.text = text.map(|text| (game, text));
        }
        let (_, text) = self.text.as_ref()?;
        Some(ClientSeed::from_text(text).commitment())
    }

    /// The text that the table asks for, and in which game.
    pub(super) fn requested_seed_text(&self) -> Option<(GameId, &str)> {
        let (game, ..) = self.view.as_ref()?.asked_to_reveal()?;
        let (_, text) = self.text.as_ref().filter(|(of, _)| *of == game)?;
        Some((game, text))
    }
}

impl Play {
    pub(super) async fn connect(base: &str, way: SocketAuth, form: Form) -> Result<Self, PlayError> {
        let url = format!("{}/v1/play", base.replacen("http", "ws", 1));
        let mut request = url.into_client_request()?;
        if let SocketAuth::Header(token) = &way {
            let bearer = HeaderValue::from_str(&format!("Bearer {token}"))
                .map_err(|error| PlayError::Nonsense(error.to_string()))?;
            request.headers_mut().insert("authorization", bearer);
        }
        let protocol = HeaderValue::from_static(form.subprotocol());
        request.headers_mut().insert("sec-websocket-protocol", protocol);
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER_BYTES)
            .write_buffer_size(BUFFER_BYTES);
        // Without Nagle: a command is not to wait for the next one.
        let (socket, _) = connect_async_with_config(request, Some(config), true).await?;
        let mut play = Self {
            socket,
            reader: MessageReader::new(form),
            next_id: 1,
            state: ClientTable::default(),
            silence: Box::pin(sleep(SILENCE)),
            silent: 0,
        };
        let (token, ticket) = match way {
            SocketAuth::Header(_) | SocketAuth::Deferred => return Ok(play),
            SocketAuth::Token(token) => (Some(Credential::new(token)), None),
            SocketAuth::Ticket(ticket) => (None, Some(Credential::new(ticket))),
        };
        let entering = play.send(|id| Command::Authenticate { id, token, ticket }).await?;
        play.wait_for_answer(entering).await?;
        Ok(play)
    }

    /// The table as the player knows it.
    pub fn view(&self) -> Option<&TableView<AnyGame>> {
        self.state.view()
    }

    pub fn version(&self) -> Option<u64> {
        self.state.version()
    }

    /// The tag that came with the version.
    pub fn tag(&self) -> Option<Tag> {
        self.state.tag
    }

    pub(super) fn table_state_mut(&mut self) -> &mut ClientTable {
        &mut self.state
    }

    /// The question that is open.
    pub fn prompt(&self) -> Option<&OpenPrompt<Action>> {
        self.state.prompt()
    }

    /// What the house's bot would play here; `None` when others are to act.
    pub fn advice(&self) -> Option<Action> {
        self.state.advice()
    }

    /// Breaks the connection off without a word; gives what was state until then.
    pub fn drop_connection(self) -> ClientTable {
        self.state
    }

    /// Takes up where another connection of this player was.
    pub fn resume(&mut self, state: ClientTable) {
        if let Some(view) = &state.view {
            self.reader.at_table_of(&view.kind);
        }
        self.state = state;
    }

    /// Joins the table where the player sits, from what is state of it. Gives the command's id.
    pub async fn join(&mut self) -> Result<u32, PlayError> {
        let state = self.table();
        let from = self.version().filter(|_| state.is_some());
        let tag = self.state.tag.filter(|_| state.is_some());
        self.send(|id| Command::Join { id, from, tag, table: state }).await
    }

    /// Ready, with a seed that is made of this text. Of it only the commitment is sent;
    /// [`Play::reveal`] says the text when the table asks for it.
    pub async fn ready(&mut self, game: GameId, text: Option<String>) -> Result<u32, PlayError> {
        let commitment = self.state.commit(game, text);
        self.send(|id| Command::Ready { id, game, commitment }).await
    }

    /// Says the text that the table asks for; `None` where it asks for none.
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
            None => return Err(PlayError::Nonsense("nothing is asked".into())),
        };
        self.send(|id| Command::Act { id, game, prompt, action }).await
    }

    /// Asks what a bot would play here; only at a practice table.
    pub async fn hint(&mut self) -> Result<u32, PlayError> {
        self.send(|id| Command::Hint { id }).await
    }

    pub async fn leave(&mut self) -> Result<u32, PlayError> {
        self.send(|id| Command::Leave { id }).await
    }

    /// Sends a command under the next id.
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

    /// Sends any text, a command or not.
    pub async fn send_text(&mut self, text: String) -> Result<(), PlayError> {
        Ok(self.socket.send(Frame::Text(text.into())).await?)
    }

    /// Sends what no client should: a binary frame.
    pub async fn send_bytes(&mut self, bytes: Vec<u8>) -> Result<(), PlayError> {
        Ok(self.socket.send(Frame::Binary(bytes.into())).await?)
    }

    /// The next message, after it has been taken into the view.
    pub async fn next(&mut self) -> Result<Message<AnyGame>, PlayError> {
        let message = self.next_unapplied().await?;
        self.apply(&message)?;
        Ok(message)
    }

    /// The next message, without looking at what it says.
    pub async fn next_unapplied(&mut self) -> Result<Message<AnyGame>, PlayError> {
        let said = self.next_raw().await?;
        self.decode(&said)
    }

    fn decode(&mut self, said: &RawMessage) -> Result<Message<AnyGame>, PlayError> {
        self.reader.read(said.as_bytes()).map_err(|error| {
            let said = String::from_utf8_lossy(said.as_bytes());
            PlayError::Nonsense(format!("{error} in {said}"))
        })
    }

    /// Takes what [`Play::next_said`] gave into the view.
    pub fn apply_raw(&mut self, said: &RawMessage) -> Result<Message<AnyGame>, PlayError> {
        let message = self.decode(said)?;
        self.apply(&message)?;
        Ok(message)
    }

    /// Waits until a command is answered; what happens meanwhile is taken in and given too.
    pub async fn wait_for_answer(&mut self, command: u32) -> Result<Vec<Event<GameEvent>>, PlayError> {
        let mut happened = Vec::new();
        loop {
            match self.next().await? {
                Message::Ack { id, .. } if id == command => return Ok(happened),
                Message::Refusal { id: Some(id), code, rule, detail, .. } if id == command => {
                    let rule = rule.map(|rule| rule.into_owned());
                    return Err(PlayError::Refused { code: code.into_owned(), rule, detail });
                }
                Message::Update { events, .. } => happened.extend(events),
                Message::Hello { .. }
                | Message::Closed { .. }
                | Message::Said { .. }
                | Message::Snapshot { .. }
                | Message::Ticket { .. }
                | Message::Invited { .. }
                | Message::Advice { .. }
                | Message::Ack { .. }
                | Message::Refusal { .. } => {}
            }
        }
    }

    /// The next message as it came. Nothing is lost when this is dropped before it is ready.
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
                    let reason = "nothing was heard for long".to_owned();
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
                    return Err(PlayError::Nonsense(format!("a frame that is no text: {other}")));
                }
                Some(Err(error)) => return Err(error.into()),
                None => {
                    let reason = "without a word".to_owned();
                    return Err(PlayError::Closed { code: 1006, reason });
                }
            }
        }
    }

    fn apply(&mut self, message: &Message<AnyGame>) -> Result<(), PlayError> {
        match message {
            Message::Snapshot { version, tag, view, prompt, .. } => {
                self.state.view = Some((**view).clone());
                self.state.version = Some(*version);
                self.state.tag = Some(*tag);
                self.state.prompt.clone_from(prompt);
            }
            Message::Update { version, tag, events, prompt, .. } => {
                let (Some(view), Some(had)) = (&mut self.state.view, self.state.version) else {
                    return Err(PlayError::Gap { had: None, got: *version });
                };
                if *version != had + 1 {
                    return Err(PlayError::Gap { had: Some(had), got: *version });
                }
                for event in events {
                    view.observe(event);
                }
                self.state.version = Some(*version);
                self.state.tag = Some(*tag);
                if self.reader.form().is_short() {
                    self.state.prompt = OpenPrompt::of(view);
                } else {
                    self.state.prompt.clone_from(prompt);
                }
            }
            Message::Closed { .. } => {
                self.state = ClientTable::default();
            }
            Message::Hello { .. }
            | Message::Said { .. }
            | Message::Ticket { .. }
            | Message::Invited { .. }
            | Message::Advice { .. }
            | Message::Ack { .. }
            | Message::Refusal { .. } => {}
        }
        Ok(())
    }

    /// The table that the player knows.
    pub fn table(&self) -> Option<TableId> {
        self.view().map(|view| view.table)
    }
}
