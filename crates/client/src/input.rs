//! The inputs of the core.

use bahay_engine::table::TableId;
use bahay_protocol::Phrase;

use crate::rest::{Call, HttpAnswer};
use crate::state::{Action, CommandNumber};

/// The present time by the caller's two clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Milliseconds of a monotonic clock, which may stand still in sleep. Its zero is arbitrary.
    pub now_ms: i64,
    /// Milliseconds since 1970-01-01 UTC, by a clock that may be set.
    pub wall_ms: i64,
}

/// Something that happened to the client.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The player wants to play: the client signs in and connects. It also takes over from a newer
    /// connection, and signs in again after the end of a session.
    Start,
    /// The player wants to stop: the client closes its connection and drops open commands.
    Stop,
    /// The app is visible or awake again, or the network has returned or changed.
    Wake,
    /// The time of [`ClientCore::poll_timeout`] has come.
    ///
    /// [`ClientCore::poll_timeout`]: crate::ClientCore::poll_timeout
    Timeout,
    /// A request was answered.
    Answered { request: u64, answer: HttpAnswer },
    /// A request has failed, and it is unknown whether it took effect.
    Unanswered { request: u64 },
    /// A socket is open.
    Opened {
        socket: u64,
        /// The negotiated subprotocol; empty without one.
        protocol: String,
    },
    /// A message of the server has arrived.
    Received { socket: u64, data: SocketData },
    /// A socket was closed, or could not be opened.
    Closed {
        socket: u64,
        /// The close code; 1006 if there was none.
        code: u16,
    },
    /// The player's wish. Its outcome is a notification.
    Command { command: CommandNumber, wish: Wish },
    /// Another client of the same session has stored this value of [`StoreKey::Session`].
    ///
    /// [`StoreKey::Session`]: crate::StoreKey::Session
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
        number: u64,
        call: Call,
    },
}

/// The content of a message on a socket.
#[derive(Clone, PartialEq, Eq)]
pub enum SocketData {
    Text(String),
    Binary(Vec<u8>),
}

impl SocketData {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
        }
    }
}

impl std::fmt::Debug for SocketData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

/// A command as the player gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// The player is ready for the game in preparation.
    Ready {
        seed_text: SeedText,
    },
    /// Answers the open prompt.
    Act {
        action: Action,
    },
    TakeBack,
    Leave,
    /// Requests a bot's advice at a practice table, while a prompt is open.
    Hint,
    /// Says a phrase, now or never.
    Say {
        phrase: Phrase,
    },
    /// Seeks a table in one to eight rooms of one game.
    Seek {
        rooms: Vec<String>,
    },
    CancelSeek,
    Watch {
        table: TableId,
    },
    Unwatch,
}

/// The text of the client's seed, by which it takes part in the deal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SeedText {
    /// The client draws a random text.
    #[default]
    Drawn,
    /// The player has chosen a text of at most 256 bytes.
    Chosen(String),
    /// The client takes no part in the deal.
    None,
}
