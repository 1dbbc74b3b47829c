//! The wire format: JSON texts, tagged by `type`.
//!
//! A command carries an `id` that the client chooses; its answer, an `ack` or a `refusal`, carries
//! the same `id`. The table is sent as a `snapshot`, followed by `update`s with consecutive
//! versions; `brief` has shorter forms of these. Coins are integers in hundredths of a coin, times
//! are milliseconds since 1970-01-01 UTC.

mod baseline;
pub mod brief;
mod command_reader;
mod form;
mod game_reader;
mod known;
pub mod limits;
mod phrase;
mod reader;
mod refusals;
mod short_fields;
mod short_reader;

use std::borrow::Cow;
use std::fmt;

use bahay_engine::chance::Commitment;
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::matchmaking::TicketId;
use bahay_engine::table::{
    Event, GameId, PlayerId, TEXT_BYTES_MAX, TableId, TableView, Timestamp, TournamentId,
};
use bahay_engine::{tagged, variants};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use bahay_shell::{OpenPrompt, Tag};
pub use command_reader::{ActionText, read_command};
pub use phrase::Phrase;
pub use reader::{MessageReader, read_action};

/// The WebSocket subprotocol, and the version of this format. `brief` has the names of the others.
pub const SUBPROTOCOL: &str = "bahay.v1";

/// The longest text of a client, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// An access token or a ticket of a client. Its `Debug` output hides the secret.
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

/// The close codes of the server.
pub mod close {
    /// Defines the codes, and the list of each with its name and its meaning for a client.
    macro_rules! close_codes {
        ($($constant:ident = $code:literal, $name:literal, $meaning:literal;)+) => {
            $(
                #[doc = $meaning]
                pub const $constant: u16 = $code;
            )+

            /// Each code with its name and its meaning for a client.
            pub const ALL: [(u16, &str, &str); 9] = [$(($constant, $name, $meaning)),+];
        };
    }

    close_codes! {
        GOING_AWAY = 1001, "going_away",
            "The server shuts down or was suspended. Connect again at once and resume.";
        PROTOCOL = 1002, "protocol",
            "A binary frame, text that is not UTF-8, or an invalid frame. Fix the client.";
        TOO_LONG = 1009, "too_long", "A text of more than 8192 bytes. Fix the client.";
        INTERNAL = 1011, "internal", "Internal error. Connect again and resume.";
        REPLACED = 4001, "replaced",
            "A newer connection of the same player took over. Do not return.";
        SIGNED_OUT = 4003, "signed_out", "The session has ended. Sign in again.";
        TOO_SLOW = 4008, "too_slow",
            "The client did not read what it was sent. Connect and resume.";
        TOO_FAST = 4029, "too_fast",
            "Rate limit exceeded repeatedly. Wait some seconds, then resume.";
        NOT_AUTHENTICATED = 4401, "not_authenticated",
            "No valid token or ticket in time. Get a new one, then connect and resume.";
    }
}

/// A command of a client. The client chooses the `id`; the answer carries the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "Command")]
pub enum Command<A> {
    /// Authenticates the client, as the first message of a socket that was opened without a token
    /// in its header. Carries either a token or a ticket. Answered by `hello` and an `ack`, or by a
    /// refusal that closes the connection.
    Authenticate {
        /// The client's number for this command.
        id: u32,
        /// The access token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<Credential>,
        /// The ticket from `POST /v1/play/tickets`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ticket: Option<Credential>,
    },
    /// Joins the table where the player sits. Answered by a `snapshot`, or, with the client's last
    /// version, by the `update`s since; the last update has the ack, or an `ack` follows.
    Join {
        /// The client's number for this command.
        id: u32,
        /// The client's last version of this table.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u64>,
        /// The tag of that version. Without it, the answer is a `snapshot`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tag: Option<Tag>,
        /// The table of `from`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<TableId>,
    },
    /// Reports the player ready for the prepared game. With a `commitment`, the client contributes
    /// to the deal, and is asked for its text when all players are ready (rule 9.1).
    Ready {
        /// The client's number for this command.
        id: u32,
        /// The prepared game.
        game: GameId,
        /// The SHA-256 of the client's seed, which is the SHA-256 of a text of its own. The client
        /// keeps the text until it is asked for it. Absent, or zeros, if the client does not
        /// contribute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commitment: Option<Commitment>,
    },
    /// Reveals the text of the seed that the client committed to, when the table asks for it: the
    /// phase is `revealing`, and the seat has committed and not revealed (rule 9.1).
    Reveal {
        /// The client's number for this command.
        id: u32,
        /// The game that is about to be dealt.
        game: GameId,
        /// At most 256 bytes of UTF-8. The text is public in the record of the game.
        #[schemars(length(max = TEXT_BYTES_MAX))]
        text: String,
    },
    /// Answers a prompt.
    Act {
        /// The client's number for this command.
        id: u32,
        /// The running game.
        game: GameId,
        /// The number of the answered prompt.
        prompt: u32,
        action: A,
    },
    /// Asks for the action that a bot would choose. Only at practice tables, and only while the
    /// player has a prompt. Answered by an `advice` and an `ack` (rule 8.7).
    Hint {
        /// The client's number for this command.
        id: u32,
    },
    /// Takes the seat back from the AI, after missed countdowns or after leaving (rule 8.3).
    TakeBack {
        /// The client's number for this command.
        id: u32,
    },
    /// Leaves the table (rules 7.3, 8.4).
    Leave {
        /// The client's number for this command.
        id: u32,
    },
    /// Says a phrase of the catalogue to the players and spectators of the table, except to those
    /// who have muted the player. Answered by an `ack` once it is sent.
    Say {
        /// The client's number for this command.
        id: u32,
        phrase: Phrase,
    },
    /// Watches the public part of a table without a seat, one whole turn late; only if the table's
    /// terms permit spectators. Answered by an `ack`, followed by a `snapshot`, during a game after
    /// a turn or two, and `update`s. A `join` ends it.
    Watch {
        /// The client's number for this command.
        id: u32,
        table: TableId,
    },
    /// Stops watching. Answered by an `ack`.
    Unwatch {
        /// The client's number for this command.
        id: u32,
    },
    /// Requests a seat in any of these rooms. Answered by a `ticket` and an `ack`; another `ticket`
    /// follows when a table is found: then join.
    Seek {
        /// The client's number for this command.
        id: u32,
        /// One to eight rooms of one game.
        #[schemars(length(min = 1, max = 8), inner(length(max = 32)))]
        rooms: Vec<String>,
    },
    /// Cancels the request for a seat. Answered by a cancelled `ticket` and an `ack`; refused once
    /// a table is found.
    CancelSeek {
        /// The client's number for this command.
        id: u32,
    },
    /// Tests the connection. Answered by an `ack`.
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

    /// Returns the value of `type`.
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

/// The types of a message that depend on the game of its table.
pub trait MessageParts {
    type View;
    type Event;
    type Action;
}

impl<G: Game> MessageParts for G {
    type View = TableView<G>;
    type Event = <G as Game>::Event;
    type Action = <G as Game>::Action;
}

/// A message of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    remote = "Self",
    rename_all = "snake_case",
    bound(
        serialize = "G::View: Serialize, G::Event: Serialize, G::Action: Serialize",
        deserialize = "G::View: DeserializeOwned, G::Event: DeserializeOwned, G::Action: DeserializeOwned"
    )
)]
#[schemars(
    rename = "Message",
    tag = "type",
    bound = "G::View: JsonSchema, G::Event: JsonSchema, G::Action: JsonSchema"
)]
pub enum Message<G: MessageParts> {
    /// The first message of every connection, once the client is authenticated.
    Hello {
        player: PlayerId,
        protocol: Cow<'static, str>,
        server_time_ms: Timestamp,
        /// The number of the player's unread notices, which `GET /v1/me/notices` lists. Absent if
        /// it could not be read in time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notices: Option<u32>,
    },
    /// The whole table as the player may see it.
    Snapshot {
        /// The table's version; the next update has the next one.
        version: u64,
        /// The tag of the history that led to this version; for the next `join`.
        tag: Tag,
        server_time_ms: Timestamp,
        view: Box<G::View>,
        /// The open prompt, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<OpenPrompt<G::Action>>,
    },
    /// The events between the previous version and this one, as far as the player may see them.
    Update {
        /// One more than the version of the previous message.
        version: u64,
        /// The tag of the history that led to this version; for the next `join`.
        tag: Tag,
        server_time_ms: Timestamp,
        /// The events in order. Hidden events are sent in no update.
        events: Vec<Event<G::Event>>,
        /// The prompt that is open afterwards, if any; also absent if another update follows at
        /// once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<OpenPrompt<G::Action>>,
        /// The id of the command whose effects end with this update, which is then its answer: no
        /// separate `ack` follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ack: Option<u32>,
    },
    /// A phrase of a player at the table. It does not change the table's version and is not
    /// repeated later.
    Said { player: PlayerId, phrase: Phrase, server_time_ms: Timestamp },
    /// The action that a bot of the house would choose in the player's seat, knowing only what the
    /// seat is shown.
    Advice {
        game: GameId,
        /// The prompt that the action answers.
        prompt: u32,
        action: G::Action,
        /// The bot's skill, such as `quick`.
        by: Cow<'static, str>,
    },
    /// The joined or watched table no longer exists. Ask a room for another seat.
    Closed { table: TableId, reason: Closing },
    /// The state of the player's request for a seat: after `seek`, when the reason to wait changes,
    /// and at its end.
    Ticket {
        ticket: TicketId,
        state: SeekState,
        /// The rooms of the request; any of them will do.
        rooms: Vec<String>,
        /// The table of the player's seat, once seated: join.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<TableId>,
        /// The reason for waiting although others wait too; absent if there is none to report.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<WaitReason>,
        /// The time at which the request expires.
        expires_at_ms: Timestamp,
    },
    /// An invitation of a player of the last game to play again at a private table: `POST
    /// /v1/private-tables/{code}/seat`, or a rematch of the same game, leads there. Sent once, to
    /// the open connections; a notice informs players who connect later.
    Invited {
        /// The code of the table.
        #[schemars(length(max = 8))]
        code: String,
        /// The inviting player.
        from: PlayerId,
        /// The name of that player.
        name: String,
        /// The game to be played again.
        game: GameId,
    },
    /// The player's standing in a tournament, after a game or a round has changed the player's
    /// score. A rank that others change is not sent. Sent to the open connections; `GET
    /// /v1/tournaments/{id}` has the same values.
    Standing {
        tournament: TournamentId,
        /// The rank among the players, from 1; tied players share it.
        rank: u32,
        /// Points, in hundredths by rounds, whole in an arena, in ten-thousandths in a duplicate.
        score: i64,
        /// The points of all games in an arena or a duplicate, in hundredths; otherwise 0.
        tie_break: Coins,
        /// The number of players.
        entrants: u32,
    },
    /// The command was carried out; its effects are part of this version or an earlier one. If its
    /// last effect is sent as an update in answer to it, that update's `ack` takes the place of
    /// this message.
    Ack {
        /// The id of the command.
        id: u32,
        /// The table's version with the effects of the command, or, for a join, the last version
        /// that the client was shown. Absent if the command changes nothing at a table.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
    },
    /// The command was refused and changed nothing.
    Refusal {
        /// The id of the command; `None` if the text had no readable id.
        id: Option<u32>,
        /// The stable code, in snake case.
        code: Cow<'static, str>,
        /// The numbered rule that decides, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<Cow<'static, str>>,
        /// A text for people; it may change.
        detail: String,
        /// The same command may succeed later, unchanged.
        retryable: bool,
        /// The delay until the command may succeed, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
}

impl<G: Game> Message<G> {
    /// Returns the id of the command that the message acknowledges.
    pub fn acked_command(&self) -> Option<u32> {
        match self {
            Self::Update { ack, .. } => *ack,
            Self::Ack { id, .. } => Some(*id),
            variants!(Self: Hello, Snapshot, Said, Advice, Closed, Ticket, Invited, Standing,
                Refusal) => None,
        }
    }
}

tagged!(
    Message<G>,
    G: MessageParts<View: Serialize, Event: Serialize, Action: Serialize>,
    MessageParts<View: DeserializeOwned, Event: DeserializeOwned, Action: DeserializeOwned>
);

/// The reason why a table no longer exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Closing {
    /// An operator ended the table. An open game was voided: every ante and stake was refunded, and
    /// a notice says so.
    Voided,
    /// The table's state is lost. An open game is voided within half a minute: every ante and stake
    /// is refunded, and a notice says so.
    Lost,
}

/// The state of a request for a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeekState {
    Waiting,
    Seated,
    Cancelled,
    Expired,
}

/// The reason why a player waits although others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// All others who would fit come from the same network, such as one carrier's, and the rooms
    /// keep those apart. Rooms of a lower bet, a private table and another connection do not.
    OnlySameNetwork,
}
