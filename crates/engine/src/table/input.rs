//! The inputs of a table and the lines of its journal.
//!
//! An [`Input`] comes from a player, the clock, the AI or the ledger. An accepted input becomes a
//! [`Line`] of the table's journal: the input, the time, and the entropy that it consumed. The
//! lines alone rebuild the table. The answers of chance are not stored in the journal because they
//! follow from the seeds.

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

/// The maximum length of the text of a client's seed, in bytes of UTF-8.
pub const TEXT_BYTES_MAX: usize = 256;

/// An input of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Input<A> {
    /// A player takes the free seat with the lowest number. A house bot is distinguished from a
    /// player for as long as it sits there: the AI plays it (rule 8.6).
    Sit { player: PlayerId, name: String, avatar: Option<String>, bot: bool },
    /// A player leaves: at once between games, and at the end of the game during one.
    Leave { player: PlayerId },
    /// A player has connected; the connection replaces an older one. The same connection again is
    /// refused, unless it takes the seat back from the AI.
    Connect { player: PlayerId, connection: ConnectionId },
    /// A connection has ended. A newer one is not affected.
    Disconnect { player: PlayerId, connection: ConnectionId },
    /// A player is ready for the game in preparation, and may commit to a seed for its deal.
    Ready { player: PlayerId, game: GameId, commitment: Option<Commitment> },
    /// A player's client reveals the text of the seed that it committed to (rule 9.1).
    Reveal { player: PlayerId, game: GameId, text: String },
    /// A player answers a prompt.
    Act { player: PlayerId, game: GameId, prompt: u32, action: A },
    /// A connected player takes the seat back from the AI (rule 8.3).
    TakeBack { player: PlayerId },
    /// The AI answers a prompt for a player whose seat it has taken over.
    #[serde(rename = "advise")]
    AiAction { player: PlayerId, game: GameId, prompt: u32, action: A },
    /// Time has passed.
    Tick,
    /// The ledger has opened the game, with the coins that it holds for each seat and the POT
    /// including the antes.
    Opened { game: GameId, stakes: Vec<Coins>, pot: Coins },
    /// The ledger has refused to open the game because these seats cannot pay.
    OpenFailed { game: GameId, seats: SeatSet },
    /// The ledger has settled the game and stored its record.
    Settled { game: GameId },
    /// The ledger has refunded coins of the POT, which now has this balance. Without a player the
    /// refund goes to everybody who had paid.
    PotRefunded { game: GameId, player: Option<PlayerId>, pot: Coins, shares: Vec<Share> },
    /// The room's terms change. The table applies them when it begins to prepare the next game, and
    /// the rules of the POT once no POT is pending.
    UpdateTerms { terms: TermsUpdate },
    /// An authorised caller has removed a player, which is only possible between games. The player
    /// receives its part of the POT of a private table.
    Remove { player: PlayerId },
}

impl<A> Input<A> {
    /// Returns the input by which a player without an avatar takes a seat.
    pub fn sit(player: PlayerId, name: impl Into<String>) -> Self {
        Self::Sit { player, name: name.into(), avatar: None, bot: false }
    }
}

/// The change of a room as announced to its tables. It has no rule set: a table keeps its
/// initial rule set, and is closed if its room receives another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermsUpdate {
    /// The revision of the room, which increases with every change. A table ignores a revision that
    /// is not newer than its own.
    pub revision: u32,
    pub standing: TableAvailability,
    pub price: Price,
    pub hits: Option<Hits>,
    pub clocks: Clocks,
}

/// The restriction on the start of games at a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableAvailability {
    Open,
    /// Games may begin until the pending POT has been won, because the room now has another rule
    /// set.
    LastPot,
    Closed,
}

/// The entropy of a new game: an unpredictable seed and a new id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameEntropy {
    pub seed: ServerSeed,
    pub game: GameId,
}

/// An accepted input, as the journal stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line<A> {
    pub at: Timestamp,
    pub input: Input<A>,
    /// The entropy; present only if the input begins the preparation of a new game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh: Option<GameEntropy>,
}

/// Defines the reasons why a table refuses an input: each with its code, the number of the rule that
/// decides, if there is one, and a sentence.
macro_rules! rejections {
    ($($(#[$doc:meta])* $reason:ident => $code:literal, $rule:tt, $sentence:literal;)+) => {
        /// The reason why a table refused an input and has not changed, in order of precedence.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rejection<I> {
            $($(#[$doc])* $reason,)+
            /// The rules of the game forbid the action.
            Illegal(I),
        }

        impl<I: Refusal> Rejection<I> {
            /// Every reason except [`Rejection::Illegal`], in order of precedence.
            pub const OWN: [Self; 21] = [$(Self::$reason),+];

            /// Returns the stable code of the reason, in snake case.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$reason => $code,)+
                    Self::Illegal(illegal) => illegal.code(),
                }
            }

            /// Returns the number of the rule that decides, if there is one.
            pub fn rule(self) -> Option<&'static str> {
                match self {
                    $(Self::$reason => rejections!(@rule $rule),)+
                    Self::Illegal(illegal) => Some(illegal.rule()),
                }
            }
        }

        impl<I: Refusal> fmt::Display for Rejection<I> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$reason => $sentence,)+
                    Self::Illegal(illegal) => return fmt::Display::fmt(illegal, f),
                })
            }
        }
    };

    (@rule none) => { None };

    (@rule $rule:literal) => { Some($rule) };
}

rejections! {
    /// The player does not sit at the table.
    NotSeated => "not_seated", none, "you do not sit at this table";
    /// The player already sits at the table.
    AlreadySeated => "already_seated", none, "you sit at this table already";
    /// The connection is already registered. Never shown to a player.
    AlreadyConnected => "already_connected", none, "the table knows that you are there";
    /// No more games begin at the table.
    TableClosed => "table_closed", none, "no games begin at this table any more";
    /// Every seat is taken.
    TableFull => "table_full", none, "every seat is taken";
    /// A game is running, so the seats may not change.
    GameRunning => "game_running", none, "a game goes on: wait until it is over";
    /// Coins can be lost at the table, so no hints are given.
    NotPractice => "not_practice", "8.7",
        "hints are for practice tables, where no coins can be lost";
    /// The table is not in the phase that the input requires.
    NoSuchPhase => "wrong_phase", "8.1", "the table is not in the phase for this";
    /// The input refers to a game other than the present one.
    OtherGame => "other_game", none, "this is about another game than the present one";
    /// The player is already ready.
    AlreadyReady => "already_ready", "8.1", "you are ready already";
    /// The client has already revealed its text.
    AlreadyRevealed => "already_revealed", "9.1", "you have revealed your text already";
    /// The text of a client's seed is longer than [`TEXT_BYTES_MAX`].
    TextTooLong => "seed_text_too_long", "9.1", "the text of a seed is at most 256 bytes long";
    /// The prompt has been answered or has expired.
    StalePrompt => "stale_prompt", "8.2", "this prompt has been answered or has passed";
    /// The prompt is for other seats.
    NotAsked => "not_asked", none, "it is not for you to answer now";
    /// The text does not match the client's commitment.
    OtherText => "other_seed_text", "9.1", "this is not the text that you committed to";
    /// The seat is played by its player, not by the AI.
    NotTakenOver => "not_taken_over", "8.3", "this seat is played by its player";
    /// The connection has been replaced or was never registered.
    OtherConnection => "other_connection", none, "the table takes you for away: join again";
    /// No deadline has passed.
    NothingDue => "nothing_due", "8.2", "no deadline has passed";
    /// The table already has these terms of its room, or newer ones.
    NothingNew => "nothing_new", none, "the table knows these terms or newer ones";
    /// The ledger's answer does not fit the table.
    BadAnswer => "bad_answer", none, "the ledger's answer does not fit the table";
    /// The input begins a new game and requires a seed and an id. Never shown to a player.
    NeedsEntropy => "needs_fresh", none, "a new game needs a seed and an id";
}

impl<I: Refusal> core::error::Error for Rejection<I> {}
