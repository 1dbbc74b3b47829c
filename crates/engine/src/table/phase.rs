//! The phases of a table: it waits for players, prepares a game, has the ledger open it, plays
//! it, has the ledger settle it, and prepares the next.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::chance::{Answer, ClientSeed, ServerSeed, Stream};
use crate::coins::Coins;
use crate::game::{Game, GameKind, Prompt};
use crate::seat::{Seat, SeatSet};
use crate::table::id::{ConnectionId, GameId, PlayerId};
use crate::table::record::{By, Record, Taken};
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
    /// When the player was last seen to be away; meaningless while connected.
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
    /// By seat, also of seats that are free.
    pub client_seeds: Vec<ClientSeed>,
    pub deadline: Timestamp,
}

/// The ledger is asked to take antes and stakes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    pub game: GameId,
    /// Secret until the game is over.
    pub server_seed: ServerSeed,
    /// By seat of the game.
    pub client_seeds: Vec<ClientSeed>,
    pub since: Timestamp,
}

/// A game goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "G: GameKind"))]
pub struct Playing<G: Game> {
    pub game: GameId,
    pub server_seed: ServerSeed,
    pub client_seeds: Arc<[ClientSeed]>,
    pub opened_at: Timestamp,
    /// What the ledger holds of each seat.
    pub stakes: Arc<[Coins]>,
    /// The seat that the table's rules let begin; `None` if chance decided.
    pub starter: Option<Seat>,
    pub state: G,
    pub stream: Stream,
    /// What chance has decided so far.
    pub chance: Arc<Vec<Answer>>,
    /// What was played so far, for the record.
    pub actions: SharedList<Taken<G::Action>>,
    /// The last question asked, when, and when the clock answers it.
    pub asked: Prompt,
    pub asked_at: Timestamp,
    pub deadline: Timestamp,
}

/// The game is over and the ledger is asked to settle it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "G: GameKind"))]
pub struct Settling<G: Game> {
    pub record: Record<G>,
    pub since: Timestamp,
}

impl<G: Game> Phase<G> {
    /// The game that is prepared, opened, played or settled.
    pub fn game(&self) -> Option<GameId> {
        match self {
            Self::Waiting => None,
            Self::Preparing(preparing) => Some(preparing.game),
            Self::Opening(opening) => Some(opening.game),
            Self::Playing(playing) => Some(playing.game),
            Self::Settling(settling) => Some(settling.record.game),
        }
    }

    /// How many seats play in the game that is opened, played or settled; 0 between games.
    pub fn seats_in_game(&self) -> u8 {
        let seats = match self {
            Self::Waiting | Self::Preparing(_) => 0,
            Self::Opening(opening) => opening.client_seeds.len(),
            Self::Playing(playing) => playing.client_seeds.len(),
            Self::Settling(settling) => settling.record.players.len(),
        };
        u8::try_from(seats).expect("a table has at most eight seats")
    }

    /// Coins are held or about to be: players can go, but their seats stay (rule 8.4).
    pub fn is_running(&self) -> bool {
        match self {
            Self::Waiting | Self::Preparing(_) => false,
            Self::Opening(_) | Self::Playing(_) | Self::Settling(_) => true,
        }
    }
}

impl<G: Game> Playing<G> {
    /// Plays an action and writes it down.
    pub fn act(
        &mut self,
        at: Timestamp,
        seat: Seat,
        by: By,
        action: &G::Action,
        events: &mut Vec<G::Event>,
    ) -> Result<(), G::Illegal> {
        self.state = self.state.act(seat, action, events)?;
        self.actions.push(Taken { at, seat, by, action: action.clone() });
        Ok(())
    }
}
