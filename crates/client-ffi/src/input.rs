//! The inputs of the client.

use std::collections::{BTreeMap, HashMap};

use bahay_client::{Call, ClientCore, HttpAnswer, Input, SeedText, SocketData, Time, Wish};
use bahay_engine::table::TableId;
use bahay_protocol::Phrase;

use crate::error::ClientError;
use crate::screen::PromptModel;

/// The present time by the caller's two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct ClientTime {
    /// Milliseconds of a monotonic clock, which may stand still in sleep. Its zero is arbitrary.
    pub now_ms: i64,
    /// Milliseconds since 1970-01-01 UTC, by a clock that may be set.
    pub wall_ms: i64,
}

impl From<ClientTime> for Time {
    fn from(ClientTime { now_ms, wall_ms }: ClientTime) -> Self {
        Self { now_ms, wall_ms }
    }
}

/// Something that happened to the client.
#[derive(Clone, PartialEq, Eq, uniffi::Enum)]
pub enum ClientInput {
    /// The player wants to play: the client signs in and connects. It also takes over from a newer
    /// connection, and signs in again after the end of a session.
    Start,
    /// The player wants to stop: the client closes its connection and drops open commands.
    Stop,
    /// The app is visible or awake again, or the network has returned or changed.
    Wake,
    /// The time of the last [`HandledInput::timeout_ms`] has come.
    ///
    /// [`HandledInput::timeout_ms`]: crate::HandledInput::timeout_ms
    Timeout,
    /// A request was answered, by the server or an intermediary.
    Answered {
        request: u64,
        status: u16,
        /// The header `content-type`.
        content_type: Option<String>,
        /// The body as text; empty without one.
        body: String,
        /// The header `retry-after` in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// A request has failed, and it is unknown whether it took effect.
    Unanswered { request: u64 },
    /// A socket is open.
    Opened {
        socket: u64,
        /// The negotiated subprotocol; empty without one.
        protocol: String,
    },
    /// A text frame of the server has arrived.
    ReceivedText { socket: u64, text: String },
    /// A binary frame of the server has arrived.
    ReceivedBinary { socket: u64, bytes: Vec<u8> },
    /// A socket was closed, or could not be opened.
    Closed {
        socket: u64,
        /// The close code; 1006 if there was none.
        code: u16,
    },
    /// The player's wish. Its outcome is a notification.
    Command {
        /// A number that the caller chooses and never uses again.
        command: u64,
        wish: PlayerWish,
    },
    /// Another client of the same session has stored this value of [`StoredKey::Session`].
    ///
    /// [`StoredKey::Session`]: crate::StoredKey::Session
    Shared { session: String },
    /// The player's table may have changed through REST, as by a seat taken there: the client
    /// joins.
    Join,
    /// The player signs in with a name and password or an external account.
    SignIn {
        /// The caller's number of this call, with which it is answered.
        call: u64,
        /// `/v1/sign-in/password` or `/v1/sign-in/openid`.
        path: String,
        /// The body as a JSON object; the device id is added to it.
        body: String,
    },
    /// Forgets the player and stops.
    Forget,
    /// An authenticated request of the caller to the REST API.
    Call {
        /// The caller's number of this call, with which it is answered.
        call: u64,
        /// The method in capitals, such as `GET`.
        method: String,
        /// The path with its query, such as `/v1/me/wallet`.
        path: String,
        headers: HashMap<String, String>,
        /// The body as JSON; `None` without one.
        body: Option<String>,
        /// True if the operation needs no authentication: without a token it is sent at once.
        is_open: bool,
    },
}

/// Formats the kind of the input alone: bodies and texts may hold tokens.
impl std::fmt::Debug for ClientInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self {
            Self::Start => "Start",
            Self::Stop => "Stop",
            Self::Wake => "Wake",
            Self::Timeout => "Timeout",
            Self::Answered { .. } => "Answered",
            Self::Unanswered { .. } => "Unanswered",
            Self::Opened { .. } => "Opened",
            Self::ReceivedText { .. } => "ReceivedText",
            Self::ReceivedBinary { .. } => "ReceivedBinary",
            Self::Closed { .. } => "Closed",
            Self::Command { .. } => "Command",
            Self::Shared { .. } => "Shared",
            Self::Join => "Join",
            Self::SignIn { .. } => "SignIn",
            Self::Forget => "Forget",
            Self::Call { .. } => "Call",
        };
        f.write_str(kind)
    }
}

/// A command as the player gives it.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum PlayerWish {
    /// The player is ready for the game in preparation.
    Ready {
        seed: SeedChoice,
    },
    /// Answers the prompt that the player was shown. If another one is open meanwhile, nothing is
    /// sent, and the outcome is [`CommandOutcome::Overtaken`].
    ///
    /// [`CommandOutcome::Overtaken`]: crate::CommandOutcome::Overtaken
    Answer {
        prompt: PromptModel,
        /// The action as JSON, such as [`ActionModel::json`].
        ///
        /// [`ActionModel::json`]: crate::ActionModel::json
        action: String,
    },
    /// Answers whichever prompt is open.
    Act {
        /// The action as JSON, such as [`ActionModel::json`].
        ///
        /// [`ActionModel::json`]: crate::ActionModel::json
        action: String,
    },
    TakeBack,
    Leave,
    /// Requests a bot's advice at a practice table, while a prompt is open.
    Hint,
    /// Says a phrase, now or never.
    Say {
        /// The phrase in snake case, such as `good_luck`.
        phrase: String,
    },
    /// Seeks a table in one to eight rooms of one game.
    Seek {
        rooms: Vec<String>,
    },
    CancelSeek,
    Watch {
        /// The id of the table.
        table: String,
    },
    Unwatch,
}

/// The text of the client's seed, by which it takes part in the deal.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum SeedChoice {
    /// The client draws a random text.
    Drawn,
    /// The player has chosen a text of at most 256 bytes.
    Chosen { text: String },
    /// The client takes no part in the deal.
    None,
}

/// Converts an input for a core, whose table an action belongs to.
///
/// # Errors
/// If the input names an action, a phrase or a table that cannot exist.
pub(crate) fn to_core_input(core: &ClientCore, input: ClientInput) -> Result<Input, ClientError> {
    Ok(match input {
        ClientInput::Start => Input::Start,
        ClientInput::Stop => Input::Stop,
        ClientInput::Wake => Input::Wake,
        ClientInput::Timeout => Input::Timeout,
        ClientInput::Answered { request, status, content_type, body, retry_after_ms } => {
            let answer = HttpAnswer { status, content_type, body, retry_after_ms };
            Input::Answered { request, answer }
        }
        ClientInput::Unanswered { request } => Input::Unanswered { request },
        ClientInput::Opened { socket, protocol } => Input::Opened { socket, protocol },
        ClientInput::ReceivedText { socket, text } => {
            Input::Received { socket, data: SocketData::Text(text) }
        }
        ClientInput::ReceivedBinary { socket, bytes } => {
            Input::Received { socket, data: SocketData::Binary(bytes) }
        }
        ClientInput::Closed { socket, code } => Input::Closed { socket, code },
        ClientInput::Command { command, wish } => {
            Input::Command { command, wish: to_core_wish(core, wish)? }
        }
        ClientInput::Shared { session } => Input::Shared { session },
        ClientInput::Join => Input::Join,
        ClientInput::SignIn { call, path, body } => Input::SignIn { call, path, body },
        ClientInput::Forget => Input::Forget,
        ClientInput::Call { call: number, method, path, headers, body, is_open } => {
            let headers: BTreeMap<String, String> = headers.into_iter().collect();
            Input::Call { number, call: Call { method, path, headers, body, is_open } }
        }
    })
}

/// Returns the number of a command that answers another prompt than the open one.
pub(crate) fn find_overtaken(core: &ClientCore, input: &ClientInput) -> Option<u64> {
    let ClientInput::Command { command, wish: PlayerWish::Answer { prompt, .. } } = input else {
        return None;
    };
    let open = core.state().table.as_ref().and_then(|table| table.prompt.as_ref());
    let is_open = open
        .is_some_and(|open| open.number == prompt.number && open.game.0.to_string() == prompt.game);
    (!is_open).then_some(*command)
}

fn to_core_wish(core: &ClientCore, wish: PlayerWish) -> Result<Wish, ClientError> {
    Ok(match wish {
        PlayerWish::Ready { seed } => Wish::Ready {
            seed_text: match seed {
                SeedChoice::Drawn => SeedText::Drawn,
                SeedChoice::Chosen { text } => SeedText::Chosen(text),
                SeedChoice::None => SeedText::None,
            },
        },
        PlayerWish::Answer { action, .. } | PlayerWish::Act { action } => {
            Wish::Act { action: core.read_action(&action).ok_or(ClientError::NotAnAction)? }
        }
        PlayerWish::TakeBack => Wish::TakeBack,
        PlayerWish::Leave => Wish::Leave,
        PlayerWish::Hint => Wish::Hint,
        PlayerWish::Say { phrase } => Wish::Say { phrase: read_phrase(&phrase)? },
        PlayerWish::Seek { rooms } => Wish::Seek { rooms },
        PlayerWish::CancelSeek => Wish::CancelSeek,
        PlayerWish::Watch { table } => Wish::Watch { table: read_table(&table)? },
        PlayerWish::Unwatch => Wish::Unwatch,
    })
}

fn read_phrase(phrase: &str) -> Result<Phrase, ClientError> {
    serde_json::from_value(phrase.into()).map_err(|_| ClientError::UnknownPhrase)
}

fn read_table(table: &str) -> Result<TableId, ClientError> {
    serde_json::from_value(table.into()).map_err(|_| ClientError::NotAnId)
}
