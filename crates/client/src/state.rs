//! The state of the client, as an app shows it.

use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{Commitment, ServerSeed};
use bahay_engine::game::Game;
use bahay_engine::matchmaking::TicketId;
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, TableId, TableView};
use bahay_protocol::{OpenPrompt, Phrase, SeekState, Tag, WaitReason};

use crate::rest::{Player, PlayerWallet};

/// An action of any game of the catalogue.
pub type Action = <AnyGame as Game>::Action;
/// An event of a table of any game.
pub type Event = bahay_engine::table::Event<<AnyGame as Game>::Event>;

/// The number of a command, independent of connections. The caller chooses it and never reuses it.
pub type CommandNumber = u64;

/// Everything that the client knows and an app shows.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub link: Link,
    /// The player who is signed in.
    pub player: Option<Player>,
    /// The last known state of the table, also while the network is unavailable.
    pub table: Option<TableState>,
    /// The running search for a table.
    pub seek: Option<Seeking>,
    /// A bot's advice; `None` once its prompt is closed.
    pub hint: Option<Hint>,
    /// A table that is watched without a seat.
    pub watched: Option<TableState>,
    /// The commands without an outcome, oldest first.
    pub open: Vec<OpenCommand>,
    /// The number of unread notices, if known.
    pub notices: Option<u32>,
    /// The player's coins, if they were read; see [`Options::follows_wallet`].
    ///
    /// [`Options::follows_wallet`]: crate::Options::follows_wallet
    pub wallet: Option<PlayerWallet>,
}

/// The state of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// The client was not started, or was stopped.
    Off,
    SigningIn,
    Connecting {
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// The socket is open; the table is not known to be current.
    Joining,
    /// The state is current.
    Live,
    /// An answer has been missing for 2 s: the state may be old, and stays visible.
    Weak,
    /// The back-off before the next attempt.
    Pausing {
        /// The end of the back-off, in milliseconds of the caller's monotonic clock.
        until_ms: i64,
        /// The number of consecutive failed attempts.
        attempt: u32,
        reason: String,
    },
    /// A newer connection of the player is used. [`Input::Start`] takes over again.
    ///
    /// [`Input::Start`]: crate::Input::Start
    Replaced,
    /// The session has ended. [`Input::Start`] signs in again.
    ///
    /// [`Input::Start`]: crate::Input::Start
    SignedOut {
        code: String,
        detail: String,
    },
    /// This client and the server do not understand each other.
    Broken {
        reason: String,
    },
}

impl Link {
    /// Returns whether the client keeps a connection, or tries to.
    pub fn is_wanted(&self) -> bool {
        match self {
            Self::Off | Self::Replaced | Self::SignedOut { .. } | Self::Broken { .. } => false,
            Self::SigningIn
            | Self::Connecting { .. }
            | Self::Joining
            | Self::Live
            | Self::Weak
            | Self::Pausing { .. } => true,
        }
    }

    /// Returns whether the connection has shown the table.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live | Self::Weak)
    }

    pub(crate) fn is_authenticated(&self) -> bool {
        matches!(self, Self::Joining) || self.is_live()
    }
}

/// A table as this client knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableState {
    pub view: TableView<AnyGame>,
    pub version: u64,
    /// The tag of the version, for the next `join`.
    pub tag: Tag,
    /// The open prompt with the player's legal actions.
    pub prompt: Option<OpenPrompt<Action>>,
    /// False from the loss of the connection until the table has been joined again.
    pub is_current: bool,
    /// The client's observations of the running deal.
    pub deal: Option<DealObservation>,
}

impl TableState {
    /// Returns whether the player has an open prompt.
    pub fn is_prompted(&self) -> bool {
        self.prompt.as_ref().is_some_and(|prompt| !prompt.legal.is_empty())
    }
}

/// The client's own observations of a deal, and its part in it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DealObservation {
    pub game: GameId,
    /// The server's commitment, shown with `preparing`; `None` if this client came later.
    pub commitment: Option<Commitment>,
    /// The commitments of all clients, shown before the first text was requested.
    pub commitments: Option<Vec<Commitment>>,
    /// The text of which this client's seed is made.
    pub text: Option<String>,
    /// True once the server has acknowledged the text.
    pub is_revealed: bool,
    pub seat: Option<Seat>,
    /// The client's own hand as it was dealt.
    pub hand: Option<Vec<String>>,
}

/// The search for a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeking {
    /// The request's ticket; `None` until the server has answered.
    pub ticket: Option<TicketId>,
    pub rooms: Vec<String>,
    /// The state of the ticket; `None` until the server has answered.
    pub state: Option<SeekState>,
    /// The reason why the ticket waits although others wait too.
    pub reason: Option<WaitReason>,
    /// The expiry in milliseconds of the server's time.
    pub expires_at_ms: Option<i64>,
}

impl Seeking {
    /// Returns whether a table has yet to be found.
    pub fn is_waiting(&self) -> bool {
        matches!(self.state, None | Some(SeekState::Waiting))
    }
}

/// The action that a house bot would choose in the player's seat, at a practice table.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    pub game: GameId,
    /// The number of the prompt that the action answers.
    pub prompt: u32,
    pub action: Action,
    /// The bot's skill, such as `quick`.
    pub by: String,
}

/// A command without an outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCommand {
    pub command: CommandNumber,
    pub intent: Intent,
}

/// A wish bound to the prompt that it answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Intent {
    Ready { game: GameId, commitment: Option<Commitment> },
    Reveal { game: GameId, text: String },
    Act { game: GameId, prompt: u32, action: Action },
    Hint,
    TakeBack,
    Leave,
    Say { phrase: Phrase },
    Seek { rooms: Vec<String> },
    CancelSeek,
    Watch { table: TableId },
    Unwatch,
}

/// The end of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
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

/// The result of comparing the seed revealed after a game with the commitment made before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitmentCheck {
    pub server_seed: ServerSeed,
    pub computed: Commitment,
    /// The commitment that was shown; `None` if this client came later.
    pub shown: Option<Commitment>,
}

impl CommitmentCheck {
    /// Returns whether both agree; `None` if no commitment was shown.
    pub fn holds(&self) -> Option<bool> {
        self.shown.map(|shown| shown == self.computed)
    }
}
