//! The effects of the client, which its driver performs in order.

use std::collections::HashMap;

use bahay_client::{Answer, CallProblem, Effect, Notification, Outcome, UnseatedReason};

use crate::json::{to_json, to_word};
use crate::options::StoredKey;
use crate::screen::ActionModel;
use crate::state::LinkState;

/// Something that the driver has to do.
#[derive(Clone, PartialEq, Eq, uniffi::Enum)]
pub enum ClientEffect {
    /// Sends an HTTP request. Its end is [`ClientInput::Answered`] or [`ClientInput::Unanswered`];
    /// after 12 s the client no longer waits for it.
    ///
    /// [`ClientInput::Answered`]: crate::ClientInput::Answered
    /// [`ClientInput::Unanswered`]: crate::ClientInput::Unanswered
    Request {
        request: u64,
        method: String,
        url: String,
        headers: HashMap<String, String>,
        /// The body as JSON; `None` without one.
        body: Option<String>,
    },
    /// Opens a socket and offers these subprotocols, of which the server selects one.
    Open { socket: u64, url: String, protocols: Vec<String> },
    /// Sends a text frame.
    Send { socket: u64, text: String },
    /// Closes a socket, open or not. Nothing about it needs to be reported afterwards.
    Close { socket: u64 },
    /// Stores a value over a restart, in the platform's secure storage; `None` removes it.
    Store { key: StoredKey, value: Option<String> },
    /// Tells the app about a change.
    Notify { notification: ClientNotification },
    /// The answer to [`ClientInput::Call`] or [`ClientInput::SignIn`].
    ///
    /// [`ClientInput::Call`]: crate::ClientInput::Call
    /// [`ClientInput::SignIn`]: crate::ClientInput::SignIn
    Called { call: u64, answer: CallAnswer },
}

/// Formats the kind of the effect alone: requests, values and texts may hold tokens.
impl std::fmt::Debug for ClientEffect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self {
            Self::Request { .. } => "Request",
            Self::Open { .. } => "Open",
            Self::Send { .. } => "Send",
            Self::Close { .. } => "Close",
            Self::Store { .. } => "Store",
            Self::Notify { .. } => "Notify",
            Self::Called { .. } => "Called",
        };
        f.write_str(kind)
    }
}

/// A change that an app may want to show as it happens.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum ClientNotification {
    Link {
        link: LinkState,
    },
    /// A snapshot or an update of the player's table was applied.
    Table {
        /// The events in order, each as JSON; empty for a snapshot.
        events: Vec<String>,
        version: u64,
        is_snapshot: bool,
        /// True for the updates of a join after an absence: an app shows their result without
        /// animating each.
        is_catching_up: bool,
    },
    /// A snapshot or an update of the watched table was applied.
    Watched {
        events: Vec<String>,
        version: u64,
        is_snapshot: bool,
    },
    /// A command has its outcome.
    Ended {
        command: u64,
        outcome: CommandOutcome,
    },
    Seek {
        /// `waiting`, `seated`, `cancelled` or `expired`.
        state: String,
        /// The id of the table that was found.
        table: Option<String>,
    },
    Said {
        player: String,
        /// The phrase in snake case.
        phrase: String,
    },
    /// A bot's advice, at a practice table.
    Hint {
        action: ActionModel,
    },
    /// A player of a finished game has opened its rematch; the code leads to a seat there.
    Invited {
        code: String,
        from: String,
        name: String,
        game: String,
    },
    /// A game or a round has changed the player's score in a tournament.
    Standing {
        tournament: String,
        /// The rank, from 1.
        rank: u32,
        score: i64,
        /// The points by which equal scores are ranked, in hundredths.
        tie_break: i64,
        /// The number of players.
        entrants: u32,
    },
    /// The seat was lost.
    Unseated {
        cause: UnseatedCause,
    },
    /// A game is over: the check of the revealed seed against its commitment.
    Deal {
        game: String,
        /// The revealed seed, in hexadecimal.
        server_seed: String,
        /// The commitment that follows from it, in hexadecimal.
        computed: String,
        /// The commitment that was shown before the game; `None` if this client came later.
        shown: Option<String>,
        /// True if both commitments agree; `None` without one. An app shows `false` to its player.
        holds: Option<bool>,
    },
}

/// The end of a command.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum CommandOutcome {
    Done {
        /// The table's version with the effects of the command, if it has any.
        version: Option<u64>,
    },
    /// The answer was lost, and the table no longer expects the command.
    Overtaken,
    Refused {
        /// The stable code, in snake case.
        code: String,
        /// The number of the rule that decides.
        rule: Option<String>,
        detail: String,
    },
    /// Nothing was sent: there was no prompt or no table for the command, the same one was in
    /// flight, or the client was stopped.
    Dropped,
}

/// The reason why the player has no seat any more.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum UnseatedCause {
    /// The table has given this reason, in snake case.
    Left { reason: String },
    /// Only the loss of the seat is known.
    NotSeated,
    /// An operator has ended the table; stakes were refunded.
    Voided,
    /// The table's state is lost; stakes are refunded.
    Lost,
    /// The table is halted; the client joins again every ten seconds.
    Halted,
}

/// The answer to a request of the caller.
#[derive(Clone, PartialEq, Eq, uniffi::Enum)]
pub enum CallAnswer {
    Ok {
        status: u16,
        /// The body as JSON; `null` without one.
        body: String,
    },
    /// A refusal. Without an answer its code is `unreachable`, and it is unknown whether the
    /// request took effect.
    Refused {
        /// The HTTP status; 0 without an answer.
        status: u16,
        /// The stable code, in snake case.
        code: String,
        /// A text for people; it may be empty.
        detail: String,
        /// The delay until a repetition may succeed, in milliseconds.
        retry_after_ms: Option<u64>,
    },
}

/// Formats an answer without its body, which may be personal.
impl std::fmt::Debug for CallAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ok { status, .. } => write!(f, "Ok {status}"),
            Self::Refused { status, code, .. } => write!(f, "Refused {status} {code}"),
        }
    }
}

impl From<Effect> for ClientEffect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Request { request, method, url, headers, body } => {
                let headers = headers.into_iter().collect();
                Self::Request { request, method, url, headers, body }
            }
            Effect::Open { socket, url, protocols } => Self::Open { socket, url, protocols },
            Effect::Send { socket, text } => Self::Send { socket, text },
            Effect::Close { socket } => Self::Close { socket },
            Effect::Store { key, value } => Self::Store { key: key.into(), value },
            Effect::Notify(notification) => {
                Self::Notify { notification: to_notification(*notification) }
            }
            Effect::Called { call, answer } => Self::Called { call, answer: answer.into() },
        }
    }
}

impl From<Answer> for CallAnswer {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Ok { status, body } => Self::Ok { status, body },
            Answer::Refused { status, problem } => {
                let CallProblem { code, detail, retry_after_ms } = problem;
                Self::Refused { status, code, detail, retry_after_ms }
            }
        }
    }
}

impl From<Outcome> for CommandOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done { version } => Self::Done { version },
            Outcome::Overtaken => Self::Overtaken,
            Outcome::Refused { code, rule, detail } => Self::Refused { code, rule, detail },
            Outcome::Dropped => Self::Dropped,
        }
    }
}

impl From<UnseatedReason> for UnseatedCause {
    fn from(reason: UnseatedReason) -> Self {
        match reason {
            UnseatedReason::Left(reason) => Self::Left { reason: to_word(&reason) },
            UnseatedReason::NotSeated => Self::NotSeated,
            UnseatedReason::Voided => Self::Voided,
            UnseatedReason::Lost => Self::Lost,
            UnseatedReason::Halted => Self::Halted,
        }
    }
}

fn to_notification(notification: Notification) -> ClientNotification {
    match notification {
        Notification::Link(link) => ClientNotification::Link { link: link.into() },
        Notification::Table { events, after, is_snapshot, is_catching_up, .. } => {
            ClientNotification::Table {
                events: events.iter().map(to_json).collect(),
                version: after.version,
                is_snapshot,
                is_catching_up,
            }
        }
        Notification::Watched { events, after, is_snapshot, .. } => ClientNotification::Watched {
            events: events.iter().map(to_json).collect(),
            version: after.version,
            is_snapshot,
        },
        Notification::Ended { command, outcome, .. } => {
            ClientNotification::Ended { command, outcome: outcome.into() }
        }
        Notification::Seek { state, table } => ClientNotification::Seek {
            state: to_word(&state),
            table: table.map(|table| table.0.to_string()),
        },
        Notification::Said { player, phrase } => {
            ClientNotification::Said { player: player.0.to_string(), phrase: to_word(&phrase) }
        }
        Notification::Hint(hint) => {
            ClientNotification::Hint { action: ActionModel::from_action(&hint.action) }
        }
        Notification::Invited { code, from, name, game } => ClientNotification::Invited {
            code,
            from: from.0.to_string(),
            name,
            game: game.0.to_string(),
        },
        Notification::Standing { tournament, rank, score, tie_break, entrants } => {
            ClientNotification::Standing {
                tournament: tournament.0.to_string(),
                rank,
                score,
                tie_break: tie_break.hundredths(),
                entrants,
            }
        }
        Notification::Unseated(reason) => ClientNotification::Unseated { cause: reason.into() },
        Notification::Deal { game, check } => ClientNotification::Deal {
            game: game.0.to_string(),
            server_seed: to_word(&check.server_seed),
            computed: to_word(&check.computed),
            shown: check.shown.as_ref().map(to_word),
            holds: check.holds(),
        },
    }
}
