//! What goes over the wire: JSON texts, tagged by `type`.
//!
//! A command carries an `id` that the client chooses; its answer, an `ack` or a `refusal`, carries
//! the same. What happens at the table comes as a `snapshot` and then `update`s numbered without
//! a gap; `brief` has shorter forms of these. Coins are whole hundredths of a coin, times are milliseconds since 1970-01-01 UTC.

pub mod brief;
mod phrase;
mod reader;
mod command_reader;

use std::borrow::Cow;
use std::fmt;

use bahay_engine::chance::Commitment;
use bahay_engine::game::{Game, GameKind, Prompt, Viewer};
use bahay_engine::matchmaking::TicketId;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{
    Event, GameId, Phase, PhaseView, PlayerId, TEXT_BYTES_MAX, Table, TableId, TableView, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bahay_shell::Tag;
pub use phrase::Phrase;
pub use reader::MessageReader;
pub use command_reader::{ActionText, read_command};

/// The WebSocket subprotocol, and the version of everything here. `brief` has the names of others.
pub const SUBPROTOCOL: &str = "bahay.v1";

/// The longest text that a client may send, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// An access token or a ticket, as a client gives it. Prints without its secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("maxLength" = 8000))]
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
    /// The client broke the protocol: binary frames, text that is not UTF-8.
    pub const PROTOCOL: u16 = 1002;
    /// The client sent a text that is longer than allowed.
    pub const TOO_LONG: u16 = 1009;
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
    pub const ALL: [(u16, &str, &str); 9] = [
        (
            GOING_AWAY,
            "going_away",
            "The server stops, or was away from the table. Connect again at once and resume.",
        ),
        (PROTOCOL, "protocol", "Binary, not UTF-8, or no WebSocket frame. Mend the client."),
        (TOO_LONG, "too_long", "A text of more than 8192 bytes. Mend the client."),
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
        /// The tag that came with that version; without it a `snapshot` comes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tag: Option<Tag>,
        /// The table that `from` is of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<TableId>,
    },
    /// Ready for the game that is prepared. With a `commitment` the client takes part in the deal:
    /// it is asked for its text when all are ready (rule 9.1).
    Ready {
        /// The client's number for this command.
        id: u32,
        /// The game that is prepared.
        game: GameId,
        /// The SHA-256 of the client's seed, which is the SHA-256 of a text of its own. The text is
        /// kept until it is asked for. Absent, or zeros, of a client that takes no part.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commitment: Option<Commitment>,
    },
    /// The text of the seed that the client committed to, when the table asks for it: the phase is
    /// `revealing`, and the seat has a commitment and has not revealed (rule 9.1).
    Reveal {
        /// The client's number for this command.
        id: u32,
        /// The game that is about to be dealt.
        game: GameId,
        /// At most 256 bytes of UTF-8. Everybody can read it in the record of the game.
        #[schemars(length(max = TEXT_BYTES_MAX))]
        text: String,
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
    /// What would a bot play here? Only at practice tables, and only while the player is asked.
    /// Answered by an `advice` and an `ack` (rule 8.7).
    Hint {
        /// The client's number for this command.
        id: u32,
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
    /// Say something out of the catalogue to the table and to those who watch it. Who has muted
    /// the player does not hear it. Answered by an `ack` once it is on its way.
    Say {
        /// The client's number for this command.
        id: u32,
        phrase: Phrase,
    },
    /// Watch what lies open at a table without sitting there, one whole turn late; only where the
    /// table's terms let anybody watch. Answered by an `ack`. Then come a `snapshot`, in the midst
    /// of a game after a turn or two, and `update`s. It ends with a `join`.
    Watch {
        /// The client's number for this command.
        id: u32,
        table: TableId,
    },
    /// Stop watching. Answered by an `ack`.
    Unwatch {
        /// The client's number for this command.
        id: u32,
    },
    /// Look for a table in any of these rooms. Answered by a `ticket` and an `ack`; another
    /// `ticket` follows when a table is found: then join.
    Seek {
        /// The client's number for this command.
        id: u32,
        /// One to eight rooms of one game.
        #[schemars(length(min = 1, max = 8), inner(length(max = 32)))]
        rooms: Vec<String>,
    },
    /// Look no longer. Answered by a `ticket` that is cancelled and an `ack`; refused once a table
    /// has been found.
    CancelSeek {
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
            | Self::Reveal { id, .. }
            | Self::Act { id, .. }
            | Self::Hint { id }
            | Self::TakeBack { id }
            | Self::Leave { id }
            | Self::Say { id, .. }
            | Self::Watch { id, .. }
            | Self::Unwatch { id }
            | Self::Seek { id, .. }
            | Self::CancelSeek { id }
            | Self::Ping { id } => *id,
        }
    }

    /// As it is named in the text.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Authenticate { .. } => "authenticate",
            Self::Join { .. } => "join",
            Self::Ready { .. } => "ready",
            Self::Reveal { .. } => "reveal",
            Self::Act { .. } => "act",
            Self::Hint { .. } => "hint",
            Self::TakeBack { .. } => "take_back",
            Self::Leave { .. } => "leave",
            Self::Say { .. } => "say",
            Self::Watch { .. } => "watch",
            Self::Unwatch { .. } => "unwatch",
            Self::Seek { .. } => "seek",
            Self::CancelSeek { .. } => "cancel_seek",
            Self::Ping { .. } => "ping",
        }
    }
}

/// What the server sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    bound(serialize = "G: Game", deserialize = "G: GameKind")
)]
#[schemars(
    rename = "Message",
    bound = "TableView<G>: JsonSchema, Event<G::Event>: JsonSchema, G::Action: JsonSchema"
)]
pub enum Message<G: Game> {
    /// The first message of every connection, once it is known whose it is.
    Hello {
        player: PlayerId,
        protocol: Cow<'static, str>,
        server_time_ms: Timestamp,
        /// How many notices the player has not read: `GET /v1/me/notices` lists them. Absent when
        /// that could not be found out in time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notices: Option<u32>,
    },
    /// The whole table as the player may see it.
    Snapshot {
        /// The table's version; the next update has the next one.
        version: u64,
        /// Which history led to this version; for the next `join`.
        tag: Tag,
        server_time_ms: Timestamp,
        view: Box<TableView<G>>,
        /// The question that is open, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<OpenPrompt<G::Action>>,
    },
    /// What happened between the version before and this one, as far as the player is shown it.
    Update {
        /// One more than that of the message before.
        version: u64,
        /// Which history led to this version; for the next `join`.
        tag: Tag,
        server_time_ms: Timestamp,
        /// In order; what shows the player nothing comes in no update.
        events: Vec<Event<G::Event>>,
        /// The question that is open after it, if any; absent too where another update follows
        /// at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<OpenPrompt<G::Action>>,
    },
    /// A player at the table said something. It is no part of the table's versions, and nobody
    /// is told it later.
    Said { player: PlayerId, phrase: Phrase, server_time_ms: Timestamp },
    /// What a bot of the house would play in the player's seat, knowing what the seat is shown.
    Advice {
        game: GameId,
        /// The prompt that the action answers.
        prompt: u32,
        action: G::Action,
        /// Which bot, as in `quick`.
        by: Cow<'static, str>,
    },
    /// The table that was joined or watched is gone. Ask a room for another seat.
    Closed { table: TableId, reason: Closing },
    /// The state of the player's search for a table: at once after `seek`, when the reason to wait has
    /// changed, and when it is over.
    Ticket {
        ticket: TicketId,
        state: SeekState,
        /// Any of these will do.
        rooms: Vec<String>,
        /// Where the player sits, once seated: join.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<TableId>,
        /// Why it waits although others wait too; absent where nothing is to be said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<WaitReason>,
        /// When the search is given up.
        expires_at_ms: Timestamp,
    },
    /// Somebody who played a game with the player wants to play it again, at a private table:
    /// `POST /v1/private-tables/{code}/seat`, or a rematch of the same game, leads there. Told once,
    /// to the connections that are open; a notice says the same to those who come later.
    Invited {
        /// The code of the table.
        #[schemars(length(max = 8))]
        code: String,
        /// The player who invites.
        from: PlayerId,
        /// The name of that player.
        name: String,
        /// The game that is to be played again.
        game: GameId,
    },
    /// The command was carried out; its effects are part of this version or an earlier one.
    Ack {
        /// That of the command.
        id: u32,
        /// The table's version with the command's effects in it, or, for a join, the version that the
        /// client has been shown by then. Absent for what changes nothing at a table.
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
        /// After so long, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
}

/// Why a table is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Closing {
    /// An operator ended it. If a game was open it was voided: every ante and stake of it went
    /// back, and a notice says so.
    Voided,
    /// Its state is lost. If a game was open it is voided within half a minute: every ante and
    /// stake of it comes back, and a notice says so.
    Lost,
}

/// How a search for a table stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeekState {
    Waiting,
    Seated,
    Cancelled,
    Expired,
}

/// Why a player waits although others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// All others who would fit come from the same network, such as one carrier's, and the rooms keep
    /// those apart. Rooms of a lower bet, a private table and another connection do not.
    OnlySameNetwork,
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
    pub fn from_view<G: Game<Action = A>>(view: &TableView<G>) -> Option<Self> {
        let PhaseView::Playing { game, deadline_ms, view: game_view, .. } = &view.phase else {
            return None;
        };
        let prompt = G::prompt_in_view(game_view)?;
        let legal = |_: Seat| {
            let mut legal = Vec::new();
            G::legal_in_view(game_view, &mut legal);
            legal
        };
        Some(Self::build(*game, *deadline_ms, prompt, view.viewer(), legal))
    }

    /// The same without a view, for who follows the table by its events.
    pub fn from_table<G: Game<Action = A>>(table: &Table<G>, player: PlayerId) -> Option<Self> {
        let Phase::Playing(playing) = table.phase() else {
            return None;
        };
        let viewer = table.viewer(player);
        let prompt = playing.state.prompt_for(viewer)?;
        let legal = |seat| {
            let mut legal = Vec::new();
            playing.state.legal_actions(seat, &mut legal);
            legal
        };
        Some(Self::build(playing.game, Some(playing.deadline), prompt, viewer, legal))
    }

    fn build(
        game: GameId,
        deadline_ms: Option<Timestamp>,
        prompt: Prompt,
        viewer: Viewer,
        legal: impl FnOnce(Seat) -> Vec<A>,
    ) -> Self {
        let Prompt { number, seats, .. } = prompt;
        let legal = match viewer {
            Viewer::Seat(seat) if seats.contains(seat) => legal(seat),
            Viewer::Seat(_) | Viewer::Public | Viewer::Everything => Vec::new(),
        };
        Self { game, number, seats, deadline_ms, legal }
    }
}
