//! The phases of a table: it waits for players, prepares a game, has the ledger open it, asks the
//! clients to reveal their texts, plays it, has the ledger settle it, and prepares the next.

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
    /// As it was when the player sat down.
    pub name: Arc<str>,
    /// The picture that the player is shown by, as it was then.
    pub avatar: Option<Arc<str>>,
    /// A bot of the house, which the AI plays (rule 8.6).
    pub bot: bool,
    /// `None` while the player is away.
    pub connection: Option<ConnectionId>,
    /// When the player went away, from which the grace runs (rule 8.3); meaningless while connected.
    pub away_since: Timestamp,
    /// Left in the midst of a game: the seat is freed when it is over, unless the player returns.
    pub left: bool,
    /// Countdowns in a row that passed without a word.
    pub missed_turns: u8,
}

/// What a table is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", bound(serialize = "", deserialize = "G: GameKind"))]
pub enum Phase<G: Game> {
    /// Too few players are here.
    Waiting,
    Preparing(Preparing),
    Opening(Opening),
    Revealing(Revealing),
    Playing(Box<Playing<G>>),
    Settling(Box<Settling<G>>),
}

/// The seats are asked to be ready (rule 8.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preparing {
    pub game: GameId,
    /// Secret until the game is over.
    pub server_seed: ServerSeed,
    pub ready: SeatSet,
    /// Of the clients by seat, also of seats that are free.
    pub commitments: Vec<Commitment>,
    pub deadline: Timestamp,
}

/// The ledger is asked to take antes and stakes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    pub game: GameId,
    /// Secret until the game is over.
    pub server_seed: ServerSeed,
    /// Of the clients by seat of the game.
    pub commitments: Vec<Commitment>,
    pub since: Timestamp,
}

/// The clients that committed to a seed are asked for its text (rule 9.1). Coins are held already,
/// so that nothing undoes the game any more when the first text is known (rule 9.1a).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revealing {
    pub game: GameId,
    /// Secret until the game is over.
    pub server_seed: ServerSeed,
    /// ActionOrigin seat, and with the texts that came so far.
    pub clients: Vec<Contribution>,
    pub opened_at: Timestamp,
    /// What the ledger holds of each seat.
    pub stakes: Vec<Coins>,
    pub deadline: Timestamp,
}

impl Revealing {
    /// The seats that are asked and have not answered.
    pub fn unrevealed_seats(&self) -> SeatSet {
        let is_asked =
            |client: &Contribution| client.text.is_none() && !client.commitment.is_none();
        self.seats_where(is_asked)
    }

    /// The seats whose text has come.
    pub fn revealed_seats(&self) -> SeatSet {
        self.seats_where(|client| client.text.is_some())
    }

    fn seats_where(&self, is_meant: impl Fn(&Contribution) -> bool) -> SeatSet {
        let seats = (0..).map_while(Seat::new).zip(&self.clients);
        seats.filter(|(_, client)| is_meant(client)).map(|(seat, _)| seat).collect()
    }
}

/// A game goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "G: GameKind"))]
pub struct Playing<G: Game> {
    pub game: GameId,
    pub server_seed: ServerSeed,
    /// ActionOrigin seat.
    pub clients: Arc<[Contribution]>,
    pub opened_at: Timestamp,
    /// What the ledger holds of each seat.
    pub stakes: Arc<[Coins]>,
    /// The seat that the table's rules let begin; `None` if chance decided.
    pub starter: Option<Seat>,
    pub state: G,
    pub stream: Stream,
    /// What chance has decided so far.
    pub chance: Arc<Vec<ChanceAnswer>>,
    /// What was played so far, for the record.
    pub actions: SharedList<RecordedAction<G::Action>>,
    /// The last question asked, when, and when the clock answers it.
    pub asked: Prompt,
    pub asked_at: Timestamp,
    pub deadline: Timestamp,
    /// The seats for which the clock has answered in the countdown that runs, or the AI within the
    /// grace (rules 8.2 and 8.3). Each counts as a missed countdown when the countdown is over.
    pub missed: SeatSet,
}

/// The game is over and the ledger is asked to settle it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "G: GameKind"))]
pub struct Settling<G: Game> {
    pub record: Record<G>,
    pub since: Timestamp,
}

impl<G: Game> Phase<G> {
    /// The game that is prepared, opened, dealt, played or settled.
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

    /// How many seats play in the game that is opened, played or settled; 0 between games.
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

    /// Coins are held or about to be: players can go, but their seats stay (rule 8.4).
    pub fn is_running(&self) -> bool {
        match self {
            Self::Waiting | Self::Preparing(_) => false,
            Self::Opening(_) | Self::Revealing(_) | Self::Playing(_) | Self::Settling(_) => true,
        }
    }
}

impl<G: Game> Playing<G> {
    /// Plays an action and writes it down.
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
