//! The effects of the core, which its driver performs in order.

use std::collections::BTreeMap;

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, Reason, TableId, TableView, TournamentId};
use bahay_protocol::{Phrase, SeekState};

use crate::rest::Answer;
use crate::state::{
    CommandNumber, CommitmentCheck, Event, Hint, Intent, Link, Outcome, TableState,
};

/// Something that the driver of the core has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Sends an HTTP request. Its end is [`Input::Answered`] or [`Input::Unanswered`]; after 12 s
    /// the core no longer waits for it.
    ///
    /// [`Input::Answered`]: crate::Input::Answered
    /// [`Input::Unanswered`]: crate::Input::Unanswered
    Request {
        request: u64,
        method: String,
        url: String,
        headers: BTreeMap<String, String>,
        /// The body as JSON; `None` without one.
        body: Option<String>,
    },
    /// Opens a socket and offers these subprotocols, of which the server selects one.
    Open { socket: u64, url: String, protocols: Vec<String> },
    /// Sends a text frame.
    Send { socket: u64, text: String },
    /// Closes a socket, open or not. Nothing about it needs to be reported afterwards.
    Close { socket: u64 },
    /// Stores a value over a restart; `None` removes it.
    Store { key: StoreKey, value: Option<String> },
    /// Tells the app about a change.
    Notify(Box<Notification>),
    /// The answer to [`Input::Call`] or [`Input::SignIn`].
    ///
    /// [`Input::Call`]: crate::Input::Call
    /// [`Input::SignIn`]: crate::Input::SignIn
    Called { call: u64, answer: Answer },
}

/// The name of a stored value. All of them are secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreKey {
    /// The device's secret, kept as long as the installation.
    Device,
    /// The text of the client's seed, kept as long as the installation.
    Seed,
    /// The tokens of the session.
    Session,
    /// The last known table.
    Table,
}

/// A change that an app may want to show as it happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Notification {
    Link(Link),
    /// A snapshot or an update of the player's table was applied.
    Table {
        /// The events in order; empty for a snapshot.
        events: Vec<Event>,
        /// The view before; `None` for the first one.
        before: Option<Box<TableView<AnyGame>>>,
        /// The table afterwards, with its version and prompt.
        after: Box<TableState>,
        is_snapshot: bool,
        /// True for the updates of a join after an absence: an app shows their result without
        /// animating each.
        is_catching_up: bool,
    },
    /// A snapshot or an update of the watched table was applied.
    Watched {
        events: Vec<Event>,
        before: Option<Box<TableView<AnyGame>>>,
        after: Box<TableState>,
        is_snapshot: bool,
    },
    /// A command has its outcome.
    Ended {
        command: CommandNumber,
        /// The command; `None` if there was nothing to apply the wish to.
        intent: Option<Intent>,
        outcome: Outcome,
    },
    Seek {
        state: SeekState,
        table: Option<TableId>,
    },
    Said {
        player: PlayerId,
        phrase: Phrase,
    },
    Hint(Hint),
    /// A player of a finished game has opened its rematch; the code leads to a seat there.
    Invited {
        code: String,
        from: PlayerId,
        name: String,
        game: GameId,
    },
    /// A game or a round has changed the player's score in a tournament.
    Standing {
        tournament: TournamentId,
        /// From 1.
        rank: u32,
        score: i64,
        /// Hundredths of a point.
        tie_break: Coins,
        entrants: u32,
    },
    /// The seat was lost.
    Unseated(UnseatedReason),
    /// A game is over: the check of the revealed seed against its commitment.
    Deal {
        game: GameId,
        check: CommitmentCheck,
    },
}

/// The reason why the player has no seat any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnseatedReason {
    /// The table has given this reason.
    Left(Reason),
    /// Only the loss of the seat is known.
    NotSeated,
    /// An operator has ended the table; stakes were refunded.
    Voided,
    /// The table's state is lost; stakes are refunded.
    Lost,
    /// The table is halted; the client joins again every ten seconds.
    Halted,
}
