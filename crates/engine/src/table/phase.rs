//! The phases of a table: it waits for players, prepares a game, has the ledger open it, lets the
//! clients reveal their texts, plays it, has the ledger settle it, and prepares the next game.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::chance::{ChanceAnswer, Commitment, Contribution, ServerSeed, Stream};
use crate::coins::Coins;
use crate::game::{Game, GameKind, Prompt};
use crate::seat::{Seat, SeatSet};
use crate::table::id::{ConnectionId, GameId, PlayerId};
use crate::table::record::{ActionOrigin, Record, RecordedAction};
use crate::table::shared_list::SharedList;
use crate::table::time::Timestamp;

/// A player in a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupant {
    pub player: PlayerId,
    /// The name at the time when the player sat down.
    pub name: Arc<str>,
    /// The player's avatar at the time when the player sat down.
    pub avatar: Option<Arc<str>>,
    /// True if this is a house bot, which the AI plays (rule 8.6).
    pub bot: bool,
    /// The current connection; `None` while the player is away.
    pub connection: Option<ConnectionId>,
    /// The time when the player went away, from which the grace runs (rule 8.3); meaningless while
    /// connected.
    pub away_since: Timestamp,
    /// True if the player has left during a game. The seat is freed at its end unless the player
    /// returns.
    pub left: bool,
    /// The number of countdowns in a row that the player has missed.
    pub missed_turns: u8,
}

/// The phase of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", bound(serialize = "", deserialize = "G: GameKind"))]
pub enum Phase<G: Game> {
    /// Too few players are seated.
    Waiting,
    Preparing(Preparing),
    Opening(Opening),
    Revealing(Revealing),
    Playing(Box<Playing<G>>),
    Settling(Box<Settling<G>>),
}

/// The phase in which the seats are asked to be ready (rule 8.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preparing {
    pub game: GameId,
    /// The seed, secret until the game is over.
    pub server_seed: ServerSeed,
    pub ready: SeatSet,
    /// The commitments of the clients by seat, including free seats.
    pub commitments: Vec<Commitment>,
    pub deadline: Timestamp,
}

/// The phase in which the ledger is asked to take antes and stakes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    pub game: GameId,
    /// The seed, secret until the game is over.
    pub server_seed: ServerSeed,
    /// The commitments of the clients by seat of the game.
    pub commitments: Vec<Commitment>,
    pub since: Timestamp,
}

/// The phase in which clients that have committed to a seed reveal its text (rule 9.1). Coins are
/// already held, so nothing can undo the game once the first text is known (rule 9.1a).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revealing {
    pub game: GameId,
    /// The seed, secret until the game is over.
    pub server_seed: ServerSeed,
    /// The contributions by seat, with the texts revealed so far.
    pub clients: Vec<Contribution>,
    pub opened_at: Timestamp,
    /// The coins that the ledger holds for each seat.
    pub stakes: Vec<Coins>,
    pub deadline: Timestamp,
}

impl Revealing {
    /// Returns the seats that have committed to a seed and have not revealed its text.
    pub fn unrevealed_seats(&self) -> SeatSet {
        let is_asked =
            |client: &Contribution| client.text.is_none() && !client.commitment.is_none();
        self.seats_where(is_asked)
    }

    /// Returns the seats whose text has been revealed.
    pub fn revealed_seats(&self) -> SeatSet {
        self.seats_where(|client| client.text.is_some())
    }

    fn seats_where(&self, is_meant: impl Fn(&Contribution) -> bool) -> SeatSet {
        let seats = (0..).map_while(Seat::new).zip(&self.clients);
        seats.filter(|(_, client)| is_meant(client)).map(|(seat, _)| seat).collect()
    }
}

/// The phase in which a game is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "G: GameKind"))]
pub struct Playing<G: Game> {
    pub game: GameId,
    pub server_seed: ServerSeed,
    /// The contributions to the deal by seat.
    pub clients: Arc<[Contribution]>,
    pub opened_at: Timestamp,
    /// The coins that the ledger holds for each seat.
    pub stakes: Arc<[Coins]>,
    /// The seat that begins by the rules of the table; `None` if chance decided.
    pub starter: Option<Seat>,
    pub state: G,
    pub stream: Stream,
    /// The answers of chance so far.
    pub chance: Arc<Vec<ChanceAnswer>>,
    /// The actions so far, for the record.
    pub actions: SharedList<RecordedAction<G::Action>>,
    /// The latest prompt, with the times when it was issued and when the clock answers it.
    #[serde(rename = "asked")]
    pub prompt: Prompt,
    pub asked_at: Timestamp,
    pub deadline: Timestamp,
    /// The seats for which the clock has answered in the running countdown, or the AI within the
    /// grace (rules 8.2 and 8.3). Each counts as a missed countdown at its end.
    pub missed: SeatSet,
}

/// The phase in which the ledger is asked to settle the finished game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "G: GameKind"))]
pub struct Settling<G: Game> {
    pub record: Record<G>,
    pub since: Timestamp,
}

impl<G: Game> Phase<G> {
    /// Returns the game that is prepared, opened, dealt, played or settled.
    pub fn game(&self) -> Option<GameId> {
        match self {
            Self::Waiting => None,
            Self::Preparing(preparing) => Some(preparing.game),
            Self::Opening(opening) => Some(opening.game),
            Self::Revealing(revealing) => Some(revealing.game),
            Self::Playing(playing) => Some(playing.game),
            Self::Settling(settling) => Some(settling.record.game),
        }
    }

    /// Returns the number of seats in the game that is opened, played or settled; 0 between games.
    pub fn seats_in_game(&self) -> u8 {
        let seats = match self {
            Self::Waiting | Self::Preparing(_) => 0,
            Self::Opening(opening) => opening.commitments.len(),
            Self::Revealing(revealing) => revealing.clients.len(),
            Self::Playing(playing) => playing.clients.len(),
            Self::Settling(settling) => settling.record.players.len(),
        };
        u8::try_from(seats).expect("a table has at most eight seats")
    }

    /// Returns whether coins are held or about to be. Players may then leave, but their seats
    /// remain (rule 8.4).
    pub fn is_running(&self) -> bool {
        match self {
            Self::Waiting | Self::Preparing(_) => false,
            Self::Opening(_) | Self::Revealing(_) | Self::Playing(_) | Self::Settling(_) => true,
        }
    }
}

impl<G: Game> Playing<G> {
    /// Plays an action and records it.
    pub fn act(
        &mut self,
        at: Timestamp,
        seat: Seat,
        by: ActionOrigin,
        action: &G::Action,
        events: &mut Vec<G::Event>,
    ) -> Result<(), G::Refusal> {
        self.state = self.state.act(seat, action, events)?;
        self.actions.push(RecordedAction { at, seat, by, action: action.clone() });
        Ok(())
    }
}
