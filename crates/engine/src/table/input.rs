//! What a table is told, and what it writes down of it.
//!
//! An [`Input`] comes from a player, the clock, the AI or the ledger. An accepted one becomes a
//! [`Line`] of the table's journal: the input, the time, and the entropy it used. Lines alone
//! rebuild the table; chance is not written a second time, because it follows from the seeds.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::chance::{Commitment, ServerSeed};
use crate::coins::Coins;
use crate::game::{Hits, Refusal};
use crate::seat::SeatSet;
use crate::table::id::{ConnectionId, GameId, PlayerId};
use crate::table::pot_refund::Share;
use crate::table::terms::{Clocks, Price};
use crate::table::time::Timestamp;

/// The longest text that a client's seed is made of, in bytes of UTF-8.
pub const TEXT_BYTES_MAX: usize = 256;

/// Something that a table is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Input<A> {
    /// A player takes the free seat with the lowest number. A bot of the house is told from a
    /// player for good: the AI plays it (rule 8.6).
    Sit { player: PlayerId, name: String, avatar: Option<String>, bot: bool },
    /// A player goes: at once between games, when the game is over in the midst of one.
    Leave { player: PlayerId },
    /// A player's connection is there; it replaces an older one. The same one again is refused, unless
    /// it takes the seat back from the AI.
    Connect { player: PlayerId, connection: ConnectionId },
    /// A connection is gone. Says nothing about a newer one.
    Disconnect { player: PlayerId, connection: ConnectionId },
    /// A player is ready for the game that is prepared, and may commit to a seed for its deal.
    Ready { player: PlayerId, game: GameId, commitment: Option<Commitment> },
    /// A player's client reveals the text of the seed that it committed to (rule 9.1).
    Reveal { player: PlayerId, game: GameId, text: String },
    /// A player answers a prompt.
    Act { player: PlayerId, game: GameId, prompt: u32, action: A },
    /// A player who is there takes the seat back from the AI (rule 8.3).
    TakeBack { player: PlayerId },
    /// The AI answers a prompt for a player whose seat it has taken over.
    #[serde(rename = "advise")]
    AiAction { player: PlayerId, game: GameId, prompt: u32, action: A },
    /// Time has passed.
    Tick,
    /// The ledger has opened the game: what it holds of each seat, and the POT with the antes.
    Opened { game: GameId, stakes: Vec<Coins>, pot: Coins },
    /// The ledger has refused to open the game, because these seats cannot pay.
    OpenFailed { game: GameId, seats: SeatSet },
    /// The ledger has settled the game and stored its record.
    Settled { game: GameId },
    /// The ledger has given coins back out of the POT, which holds so much now. No player: to
    /// everybody who had paid.
    PotRefunded { game: GameId, player: Option<PlayerId>, pot: Coins, shares: Vec<Share> },
    /// The room's terms are these from here on: taken when the next game
    /// begins to be prepared; the POT's rules, when no POT waits.
    UpdateTerms { terms: TermsUpdate },
    /// Whoever may has removed a player, which only goes between games: that player takes its part
    /// of the POT of a private table along.
    Remove { player: PlayerId },
}

impl<A> Input<A> {
    /// A player who sits down without a picture.
    pub fn sit(player: PlayerId, name: impl Into<String>) -> Self {
        Self::Sit { player, name: name.into(), avatar: None, bot: false }
    }
}

/// What a room says to its tables when it has changed. The rule set is absent: a table keeps the
/// one that it was created with, and is closed when its room has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermsUpdate {
    /// Counts up with every change of the room; a table passes over what is not newer.
    pub revision: u32,
    pub standing: TableAvailability,
    pub price: Price,
    pub hits: Option<Hits>,
    pub clocks: Clocks,
}

/// Whether games may begin at a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableAvailability {
    Open,
    /// Until the POT that waits has been won: the room has another rule set now.
    LastPot,
    Closed,
}

/// What a new game takes from outside: an unguessable seed and a new id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameEntropy {
    pub seed: ServerSeed,
    pub game: GameId,
}

/// An accepted input, as the journal keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line<A> {
    pub at: Timestamp,
    pub input: Input<A>,
    /// Only where a new game begins to be prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh: Option<GameEntropy>,
}

/// Why a table refused an input; nothing has changed. In order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection<I> {
    /// The player does not sit here.
    NotSeated,
    /// The player sits here already.
    AlreadySeated,
    /// The table knows that this connection is there. Never shown to a player.
    AlreadyConnected,
    /// No games begin here any more.
    TableClosed,
    /// Every seat is taken.
    TableFull,
    /// A game goes on, so seats stay as they are.
    GameRunning,
    /// Coins can be lost at this table, so nobody is told what to play.
    NotPractice,
    /// No game is being prepared, opened, played or settled, as the input supposes.
    NoSuchPhase,
    /// The input is about another game than the table's present one.
    OtherGame,
    /// The player has said ready already.
    AlreadyReady,
    /// The client has revealed its text already.
    AlreadyRevealed,
    /// The text of a client's seed is longer than [`TEXT_BYTES_MAX`].
    TextTooLong,
    /// The prompt has been answered or has passed.
    StalePrompt,
    /// The prompt is for other seats.
    NotAsked,
    /// The text is not the one that the client committed to.
    OtherText,
    /// The rules of the game forbid the action.
    Illegal(I),
    /// The seat is played by its player, not by the AI.
    NotTakenOver,
    /// The connection has been replaced or was never there.
    OtherConnection,
    /// No deadline has passed.
    NothingDue,
    /// The table knows these terms of its room, or newer ones.
    NothingNew,
    /// The ledger's answer does not fit the table.
    BadAnswer,
    /// A new game begins with this input: it needs a seed and an id. Never shown to a player.
    NeedsEntropy,
}

impl<I: Refusal> Rejection<I> {
    /// Every reason of the table's own, in order of precedence.
    pub const OWN: [Self; 21] = [
        Self::NotSeated,
        Self::AlreadySeated,
        Self::AlreadyConnected,
        Self::TableClosed,
        Self::TableFull,
        Self::GameRunning,
        Self::NotPractice,
        Self::NoSuchPhase,
        Self::OtherGame,
        Self::AlreadyReady,
        Self::AlreadyRevealed,
        Self::TextTooLong,
        Self::StalePrompt,
        Self::NotAsked,
        Self::OtherText,
        Self::NotTakenOver,
        Self::OtherConnection,
        Self::NothingDue,
        Self::NothingNew,
        Self::BadAnswer,
        Self::NeedsEntropy,
    ];

    /// Stable, in snake case.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotSeated => "not_seated",
            Self::AlreadySeated => "already_seated",
            Self::AlreadyConnected => "already_connected",
            Self::TableClosed => "table_closed",
            Self::TableFull => "table_full",
            Self::GameRunning => "game_running",
            Self::NotPractice => "not_practice",
            Self::NoSuchPhase => "wrong_phase",
            Self::OtherGame => "other_game",
            Self::AlreadyReady => "already_ready",
            Self::AlreadyRevealed => "already_revealed",
            Self::TextTooLong => "seed_text_too_long",
            Self::StalePrompt => "stale_prompt",
            Self::NotAsked => "not_asked",
            Self::OtherText => "other_seed_text",
            Self::Illegal(illegal) => illegal.code(),
            Self::NotTakenOver => "not_taken_over",
            Self::OtherConnection => "other_connection",
            Self::NothingDue => "nothing_due",
            Self::NothingNew => "nothing_new",
            Self::BadAnswer => "bad_answer",
            Self::NeedsEntropy => "needs_fresh",
        }
    }

    /// The number of the rule that decides, where one does.
    pub fn rule(self) -> Option<&'static str> {
        match self {
            Self::AlreadyReady | Self::NoSuchPhase => Some("8.1"),
            Self::AlreadyRevealed | Self::TextTooLong | Self::OtherText => Some("9.1"),
            Self::NothingDue | Self::StalePrompt => Some("8.2"),
            Self::NotTakenOver => Some("8.3"),
            Self::NotPractice => Some("8.7"),
            Self::Illegal(illegal) => Some(illegal.rule()),
            Self::NotSeated
            | Self::AlreadySeated
            | Self::AlreadyConnected
            | Self::TableClosed
            | Self::TableFull
            | Self::GameRunning
            | Self::NothingNew
            | Self::OtherGame
            | Self::NotAsked
            | Self::OtherConnection
            | Self::BadAnswer
            | Self::NeedsEntropy => None,
        }
    }
}

impl<I: Refusal> fmt::Display for Rejection<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSeated => "you do not sit at this table",
            Self::AlreadySeated => "you sit at this table already",
            Self::AlreadyConnected => "the table knows that you are there",
            Self::TableClosed => "no games begin at this table any more",
            Self::TableFull => "every seat is taken",
            Self::GameRunning => "a game goes on: wait until it is over",
            Self::NotPractice => "hints are for practice tables, where no coins can be lost",
            Self::NoSuchPhase => "the table is not in the phase for this",
            Self::OtherGame => "this is about another game than the present one",
            Self::AlreadyReady => "you are ready already",
            Self::AlreadyRevealed => "you have revealed your text already",
            Self::TextTooLong => "the text of a seed is at most 256 bytes long",
            Self::StalePrompt => "this prompt has been answered or has passed",
            Self::NotAsked => "it is not for you to answer now",
            Self::OtherText => "this is not the text that you committed to",
            Self::Illegal(illegal) => return fmt::Display::fmt(illegal, f),
            Self::NotTakenOver => "this seat is played by its player",
            Self::OtherConnection => "the table takes you for away: join again",
            Self::NothingDue => "no deadline has passed",
            Self::NothingNew => "the table knows these terms or newer ones",
            Self::BadAnswer => "the ledger's answer does not fit the table",
            Self::NeedsEntropy => "a new game needs a seed and an id",
        })
    }
}

impl<I: Refusal> core::error::Error for Rejection<I> {}
