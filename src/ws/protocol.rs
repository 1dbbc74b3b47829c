//! What goes over the wire: JSON texts, tagged by `type`.
//!
//! A command carries an `id` that the client chooses; its answer, an `ack` or a `refusal`, carries
//! the same. What happens at the table comes as a `snapshot` and then `update`s numbered without
//! a gap. Coins are whole hundredths of a coin, times are milliseconds since 1970-01-01 UTC.

use std::borrow::Cow;
use std::fmt;

use bahay_engine::game::{Game, Prompt, Viewer};
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{
    Event, GameId, PhaseView, PlayerId, SEED_BYTES_MAX, TableId, TableView, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The WebSocket subprotocol, and the version of everything here.
pub const SUBPROTOCOL: &str = "bahay.v1";

/// The longest text that a client may send, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// An access token or a ticket, as a client gives it. Prints without its secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Credential(String);

impl Credential {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(…)")
    }
}

/// Why the server closes a connection.
pub mod close {
    /// The server stops; connect again, to any node.
    pub const GOING_AWAY: u16 = 1001;
    /// The client broke the protocol: binary frames, text longer than allowed or not UTF-8.
    pub const PROTOCOL: u16 = 1002;
    /// The server made a mistake with this connection; the table goes on.
    pub const INTERNAL: u16 = 1011;
    /// A newer connection of the same player has taken over.
    pub const REPLACED: u16 = 4001;
    /// The session of the connection's token has ended.
    pub const SIGNED_OUT: u16 = 4003;
    /// The client does not read what it is sent.
    pub const TOO_SLOW: u16 = 4008;
    /// Too many messages or connections, too fast.
    pub const TOO_FAST: u16 = 4029;
    /// The client did not say who it is, or not in time, or it was not true.
    pub const NOT_AUTHENTICATED: u16 = 4401;

    /// Each with its name and what it means to a client.
    pub const ALL: [(u16, &str, &str); 8] = [
        (GOING_AWAY, "going_away", "The server stops. Connect again at once and resume."),
        (PROTOCOL, "protocol", "Binary, not UTF-8, or a text that is too long. Mend the client."),
        (INTERNAL, "internal", "The server made a mistake. Connect again and resume."),
        (REPLACED, "replaced", "A newer connection of the same player took over. Do not return."),
        (SIGNED_OUT, "signed_out", "The session has ended. Sign in again."),
        (TOO_SLOW, "too_slow", "The client did not read what it was sent. Connect and resume."),
        (TOO_FAST, "too_fast", "Refused for haste and went on. Wait some seconds, then resume."),
        (
            NOT_AUTHENTICATED,
            "not_authenticated",
            "No good token or ticket in time. Get a new one, then connect and resume.",
        ),
    ];
}

/// What a client sends. `id` is chosen by the client; the answer carries the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "Command")]
pub enum Command<A> {
    /// Say who this is, as the first message of a socket that was opened without a token in its
    /// header. Give either a token or a ticket. Answered by `hello` and an `ack`, or by a refusal
    /// that ends the connection.
    Authenticate {
        /// The client's number for this command.
        id: u32,
        /// The access token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<Credential>,
        /// What `POST /v1/play/tickets` has given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ticket: Option<Credential>,
    },
    /// Watch and play at the table where the player sits. Answered by a `snapshot`, or, with the
    /// version that the client saw last, by the `update`s since; then by an `ack`.
    Join {
        /// The client's number for this command.
        id: u32,
        /// The last version that the client has; only of this table.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u64>,
        /// The table that `from` is of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<TableId>,
    },
    /// Ready for the game that is prepared; `seed` goes into its deal (rule 9.1).
    Ready {
        /// The client's number for this command.
        id: u32,
        /// The game that is prepared.
        game: GameId,
        /// Any text of at most 256 bytes of UTF-8; its SHA-256 goes into the deal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = SEED_BYTES_MAX))]
        seed: Option<String>,
    },
    /// Answer a prompt.
    Act {
        /// The client's number for this command.
        id: u32,
        /// The game that goes on.
        game: GameId,
        /// The number of the prompt that is answered.
        prompt: u32,
        action: A,
    },
    /// Take the seat back from the AI, after letting countdowns pass or after leaving (rule 8.3).
    TakeBack {
        /// The client's number for this command.
        id: u32,
    },
    /// Leave the table (rules 7.3, 8.4).
    Leave {
        /// The client's number for this command.
        id: u32,
    },
    /// Anything there? Answered by an `ack`.
    Ping {
        /// The client's number for this command.
        id: u32,
    },
}

impl<A> Command<A> {
    pub fn id(&self) -> u32 {
        match self {
            Self::Authenticate { id, .. }
            | Self::Join { id, .. }
            | Self::Ready { id, .. }
            | Self::Act { id, .. }
            | Self::TakeBack { id }
            | Self::Leave { id }
            | Self::Ping { id } => *id,
        }
    }
}

/// What the server sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    bound(serialize = "G: Game", deserialize = "G: Game")
)]
#[schemars(
    rename = "Message",
    bound = "TableView<G>: JsonSchema, Event<G::Event>: JsonSchema, G::Action: JsonSchema"
)]
pub enum Message<G: Game> {
    /// The first message of every connection, once it is known whose it is.
    Hello { player: PlayerId, protocol: Cow<'static, str>, server_time_ms: Timestamp },
    /// The whole table as the player may see it.
    Snapshot {
        /// The table's version; the next update has the next one.
        version: u64,
        server_time_ms: Timestamp,
        view: Box<TableView<G>>,
        /// The question that is open, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<OpenPrompt<G::Action>>,
    },
    /// What happened between the version before and this one.
    Update {
        /// One more than that of the message before.
        version: u64,
        server_time_ms: Timestamp,
        /// In order; empty when the player may see nothing of what happened.
        events: Vec<Event<G::Event>>,
        /// The question that is open after it, if any; absent too where another update follows
        /// at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<OpenPrompt<G::Action>>,
    },
    /// The command was carried out; its effects are part of this version or an earlier one.
    Ack {
        /// That of the command.
        id: u32,
        /// The table's version with the command's effects in it; absent for a `ping`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
    },
    /// The command was refused and changed nothing.
    Refusal {
        /// That of the command; `None` when the text had no readable id.
        id: Option<u32>,
        /// Stable, in snake case.
        code: Cow<'static, str>,
        /// The numbered rule that decides, where one does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<Cow<'static, str>>,
        /// For people; the words may change.
        detail: String,
        /// The same command may succeed later, unchanged.
        retryable: bool,
    },
}

/// The question that is open, as far as the player may know it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OpenPrompt")]
pub struct OpenPrompt<A> {
    pub game: GameId,
    /// An answer names it.
    pub number: u32,
    /// Who is to answer.
    pub seats: SeatSet,
    /// When the clock answers.
    pub deadline_ms: Option<Timestamp>,
    /// Every action open to the player now; empty when others are to answer.
    pub legal: Vec<A>,
}

impl<A> OpenPrompt<A> {
    /// The open prompt in a player's view of a table.
    pub fn of<G: Game<Action = A>>(view: &TableView<G>) -> Option<Self> {
        let PhaseView::Playing { game, deadline_ms, view: game_view, .. } = &view.phase else {
            return None;
        };
        let Prompt { number, seats, .. } = G::prompt_in_view(game_view)?;
        let mut legal = Vec::new();
        if let Viewer::Seat(seat) = view.viewer()
            && seats.contains(seat)
        {
            G::legal_in_view(game_view, &mut legal);
        }
        Some(Self { game: *game, number, seats, deadline_ms: *deadline_ms, legal })
    }
}
