//! A table: seats around one game after another, with a POT and crowns, as a state machine without
//! I/O, clock or randomness.
//!
//! A table receives an [`Input`] with its time and returns a [`Transition`]: the line for its
//! journal, the table after it, and the events for its viewers. Otherwise it returns a
//! [`Rejection`] and has not changed. [`Table::apply_line`] is the only function that changes a
//! table, both for an input decided here and for a line that another process wrote. Therefore
//! replaying a journal reproduces the table bit for bit.
//!
//! The host asks for the next [`Table::deadline`] and for the [`Table::effects`] that are due:
//! tasks for the ledger, the AI or the clock. Effects are derived from the state and never queued,
//! so any process can run them again until the answer is in the journal.
//!
//! Matchmaking, wallets, connections, the AI and the rules of the game are deliberately absent.

mod absence;
mod effect;
mod event;
#[macro_use]
mod id;
mod input;
mod memory;
mod opening;
mod outcome;
mod phase;
mod pot_refund;
mod practice;
mod readable;
mod record;
mod refund_pot;
mod settlement;
mod shared_list;
mod step;
mod terms;
mod terms_update;
mod time;
mod tournament;
mod verify;
mod version;
mod view;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::chance::ServerSeed;
use crate::coins::Coins;
use crate::game::{Game, GameKind, GameRules, Viewer, is_default};
use crate::seat::{Seat, SeatSet};

pub use crate::game::Hits;
pub use effect::Effect;
pub use event::{Crown, Event, Reason};
pub use id::{ConnectionId, GameId, PlayerId, TableId, TournamentId};
pub use input::{
    GameEntropy, Input, Line, Rejection, TEXT_BYTES_MAX, TableAvailability, TermsUpdate,
};
pub use opening::REVEAL_MS;
pub use outcome::TableOutcome;
pub use phase::{Occupant, Opening, Phase, Playing, Preparing, Revealing, Settling};
pub use pot_refund::{PotRefund, Share};
pub use practice::PracticeBot;
pub(crate) use readable::read_kind;
pub use readable::{DocumentError, Lift, Readable};
pub use record::{ActionOrigin, FORMAT, Record, RecordedAction};
pub use settlement::{Fee, Payment, PotPayout, Settlement};
pub use shared_list::SharedList;
pub use step::Transition;
pub use terms::{
    Clocks, Price, PriceError, PrivateTerms, Spectators, StakeTerms, Terms, TournamentSeating,
};
pub use time::Timestamp;
pub use tournament::TournamentPlayer;
pub use verify::{InvalidRecordError, Step, VerifySummary};
pub use version::{ENGINE, ENGINES};
pub use view::{PhaseView, SeatView, TableView, ViewParts};

/// A table as a value. Each step produces a new table from a copy; parts that rarely change are
/// shared between the copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "G: GameKind"))]
pub struct Table<G: Game> {
    id: TableId,
    /// The name of the game, which a catalogue reads before anything else.
    kind: Arc<str>,
    /// The version of the engine at the creation of the table; see [`ENGINE`].
    engine: u32,
    terms: Arc<Terms<G::Rules>>,
    /// The latest revision of the room that the table has received.
    revision: u32,
    /// The terms that the table has received and could not apply yet.
    next: Option<TermsUpdate>,
    /// True if no more games begin.
    closed: bool,
    /// The occupants by seat.
    seats: Vec<Option<Occupant>>,
    /// The balance of the POT, as the ledger last reported it.
    pot: Coins,
    /// The crown, if the winner of the last game still sits here.
    crown: Option<Crown>,
    /// The player who begins the next game if still seated (rule 2.2).
    last_winner: Option<PlayerId>,
    /// The refunds of the POT of a private table.
    pot_refunds: pot_refund::PotRefunds,
    /// The number of games of a tournament that are over; 0 at any other table.
    #[serde(default, skip_serializing_if = "is_default")]
    tournament_games: u32,
    /// The secret seeds by game of the deals that other tables play too; empty at any other table.
    #[serde(default, skip_serializing_if = "is_default")]
    shared_seeds: Arc<[ServerSeed]>,
    phase: Phase<G>,
    /// The time of the last line; the table's clock never runs backwards.
    at: Timestamp,
}

impl<G: Game> Table<G> {
    /// Creates an empty table.
    pub fn new(id: TableId, terms: Terms<G::Rules>) -> Self {
        let seats = vec![None; usize::from(terms.rules.seats().most)];
        Self {
            id,
            kind: terms.rules.kind().into(),
            engine: ENGINE,
            terms: Arc::new(terms),
            revision: 0,
            next: None,
            closed: false,
            seats,
            pot: Coins::ZERO,
            crown: None,
            last_winner: None,
            pot_refunds: pot_refund::PotRefunds::default(),
            tournament_games: 0,
            shared_seeds: Arc::default(),
            phase: Phase::Waiting,
            at: Timestamp::default(),
        }
    }

    pub fn id(&self) -> TableId {
        self.id
    }

    /// Returns the time of the last line, which is never later than that of the next line.
    pub fn last_line_at(&self) -> Timestamp {
        self.at
    }

    /// Returns the winner of the last game while that player sits here.
    pub fn last_winner(&self) -> Option<PlayerId> {
        self.last_winner
    }

    /// Returns the version of the engine that plays the table.
    pub fn engine(&self) -> u32 {
        self.engine
    }

    /// Returns the name of the game, such as `tongits`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    pub fn terms(&self) -> &Terms<G::Rules> {
        &self.terms
    }

    pub fn phase(&self) -> &Phase<G> {
        &self.phase
    }

    pub fn pot(&self) -> Coins {
        self.pot
    }

    pub fn crown(&self) -> Option<Crown> {
        self.crown
    }

    /// Returns the number of seats of the table.
    pub fn seat_count(&self) -> u8 {
        self.terms.rules.seats().most
    }

    /// Returns the number of seats in the game that is opened, played or settled; they are the
    /// first seats of the table. The player of any other seat waits for the next game.
    pub fn seats_in_game(&self) -> u8 {
        self.phase.seats_in_game()
    }

    /// Returns the viewer as which a player sees the game: the player's seat if it takes part, the
    /// public otherwise.
    pub fn viewer(&self, player: PlayerId) -> Viewer {
        let plays = |seat: &Seat| !self.phase.is_running() || seat.number() < self.seats_in_game();
        self.seat_of(player).filter(plays).map_or(Viewer::Public, Viewer::Seat)
    }

    pub fn occupant(&self, seat: Seat) -> Option<&Occupant> {
        self.seats.get(seat.index())?.as_ref()
    }

    /// Iterates over the taken seats with their occupants.
    pub fn occupants(&self) -> impl Iterator<Item = (Seat, &Occupant)> {
        Seat::all(self.seat_count()).filter_map(|seat| Some((seat, self.occupant(seat)?)))
    }

    pub fn seat_of(&self, player: PlayerId) -> Option<Seat> {
        self.occupants().find(|(_, occupant)| occupant.player == player).map(|(seat, _)| seat)
    }

    /// Returns the players of the game that is opened, played or settled, by seat; empty between
    /// games.
    pub fn players(&self) -> Vec<PlayerId> {
        let seats = Seat::all(self.seats_in_game());
        seats.filter_map(|seat| Some(self.occupant(seat)?.player)).collect()
    }

    pub fn seats_free(&self) -> usize {
        self.seats.iter().filter(|seat| seat.is_none()).count()
    }

    /// Returns the seats of the house bots (rule 8.6).
    pub fn bots(&self) -> SeatSet {
        self.seats_where(|occupant| occupant.bot)
    }

    /// Returns the taken seats whose occupants meet the condition.
    fn seats_where(&self, is_meant: impl Fn(&Occupant) -> bool) -> SeatSet {
        let seats = self.occupants().filter(|(_, occupant)| is_meant(occupant));
        seats.map(|(seat, _)| seat).collect()
    }

    fn taken_seats(&self) -> SeatSet {
        self.seats_where(|_| true)
    }
}
