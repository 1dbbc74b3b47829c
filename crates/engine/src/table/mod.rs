//! A table: seats around one game after another, with a POT and crowns, as a machine without
//! I/O, clock or randomness.
//!
//! It is told what happens ([`Input`]) and when, and answers with a [`Transition`]: the line to
//! write in its journal, itself as it then is, and the events for its viewers; or it refuses
//! ([`Rejection`]) and nothing has changed. [`Table::follow`] is the only way a table changes,
//! for an input decided here and for a line that another process wrote: so a journal replayed is
//! the table, bit for bit.
//!
//! Its shell asks for the next [`Table::deadline`] and for the [`Table::effects`] that are due:
//! what the ledger, the AI or the clock owe it. Effects are derived from the state, never queued,
//! so any process can carry them out again until the answer is in the journal.
//!
//! Deliberately absent: matchmaking, wallets, connections, and any knowledge of the game played.

mod absence;
mod effect;
mod event;
mod id;
mod input;
mod memory;
mod opening;
mod phase;
mod pot_refund;
mod practice;
mod readable;
mod record;
mod settlement;
mod shared_list;
pub mod simulation;
mod step;
mod terms;
mod terms_update;
mod time;
mod verify;
mod version;
mod view;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::game::{Game, GameKind, Viewer};
use crate::seat::{Seat, SeatSet};

pub use crate::game::Hits;
pub use effect::{AiQuestion, Effect};
pub use event::{Crown, Event, Reason};
pub use id::{ConnectionId, GameId, PlayerId, TableId};
pub use input::{GameEntropy, Input, Line, Rejection, TableAvailability, TEXT_BYTES_MAX, TermsUpdate};
pub use opening::REVEAL_MS;
pub use phase::{Occupant, Opening, Phase, Playing, Preparing, Revealing, Settling};
pub use pot_refund::{PotRefund, Share};
pub use practice::{Hint, PracticeBot};
pub(crate) use readable::read_kind;
pub use readable::{Lift, Readable, DocumentError};
pub(crate) use record::TableOutcome;
pub use record::{ActionOrigin, FORMAT, Record, RecordedAction};
pub use settlement::{Fee, Payment, PotPayout, Settlement};
pub use shared_list::SharedList;
pub use step::Transition;
pub use terms::{Clocks, Price, PrivateTerms, Spectators, StakeTerms, Terms, PriceError};
pub use time::Timestamp;
pub use verify::{InvalidRecordError, Step, VerifySummary};
pub use version::{ENGINE, ENGINES};
pub use view::{PhaseView, SeatView, TableView};

/// A table as a value. A step leaves the table before it as it is, so tables are copied for every
/// step; what hardly ever changes is shared between the copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "G: GameKind"))]
pub struct Table<G: Game> {
    id: TableId,
    /// The name of the game: a catalogue reads it before anything else.
    kind: Arc<str>,
    /// The version of the engine that it was created with: see [`ENGINE`].
    engine: u32,
    terms: Arc<Terms<G::Rules>>,
    /// The newest word of the room that the table has heard.
    revision: u32,
    /// What it has heard and could not take yet.
    next: Option<TermsUpdate>,
    /// No games begin any more.
    closed: bool,
    /// ActionOrigin seat.
    seats: Vec<Option<Occupant>>,
    /// As the ledger last said.
    pot: Coins,
    /// Whose run of wins it is, if the last game had a winner who still sits here.
    crown: Option<Crown>,
    /// Who begins the next game, if still here (rule 2.2).
    last_winner: Option<PlayerId>,
    /// What is to go out of the POT of a private table.
    pot_refunds: pot_refund::PotRefunds,
    phase: Phase<G>,
    /// The time of the last line; the table's clock never goes back.
    at: Timestamp,
}

impl<G: Game> Table<G> {
    /// An empty table.
    pub fn new(id: TableId, terms: Terms<G::Rules>) -> Self {
        let seats = vec![None; usize::from(G::seats(&terms.rules).most)];
        Self {
            id,
            kind: G::kind(&terms.rules).into(),
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
            phase: Phase::Waiting,
            at: Timestamp::default(),
        }
    }

    pub fn id(&self) -> TableId {
        self.id
    }

    /// The time of the last line, which is never later than the next one's.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Returns the winner of the last game, as long as that player sits here.
    pub fn last_winner(&self) -> Option<PlayerId> {
        self.last_winner
    }

    /// The version of the engine that plays it.
    pub fn engine(&self) -> u32 {
        self.engine
    }

    /// The name of the game that is played here, as in `tongits`.
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

    /// How many seats the table has.
    pub fn seat_count(&self) -> u8 {
        G::seats(&self.terms.rules).most
    }

    /// How many seats play in the game that is opened, played or settled: the first ones of the
    /// table. Who sits in another one waits for the next game.
    pub fn seats_in_game(&self) -> u8 {
        self.phase.seats_in_game()
    }

    /// With whose eyes a player sees the game: with its seat's, if that plays.
    pub fn viewer(&self, player: PlayerId) -> Viewer {
        let plays = |seat: &Seat| !self.phase.is_running() || seat.number() < self.seats_in_game();
        self.seat_of(player).filter(plays).map_or(Viewer::Public, Viewer::Seat)
    }

    pub fn occupant(&self, seat: Seat) -> Option<&Occupant> {
        self.seats.get(seat.index())?.as_ref()
    }

    /// The seats that are taken, with who sits there.
    pub fn occupants(&self) -> impl Iterator<Item = (Seat, &Occupant)> {
        Seat::all(self.seat_count()).filter_map(|seat| Some((seat, self.occupant(seat)?)))
    }

    pub fn seat_of(&self, player: PlayerId) -> Option<Seat> {
        self.occupants().find(|(_, occupant)| occupant.player == player).map(|(seat, _)| seat)
    }

    /// Who plays in the game that is opened, played or settled, by seat; nobody between games.
    pub fn players(&self) -> Vec<PlayerId> {
        let seats = Seat::all(self.seats_in_game());
        seats.filter_map(|seat| Some(self.occupant(seat)?.player)).collect()
    }

    pub fn seats_free(&self) -> usize {
        self.seats.iter().filter(|seat| seat.is_none()).count()
    }

    /// The seats of the house's bots (rule 8.6).
    pub fn bots(&self) -> SeatSet {
        self.occupants().filter(|(_, occupant)| occupant.bot).map(|(seat, _)| seat).collect()
    }

    fn occupant_mut(&mut self, seat: Seat) -> Option<&mut Occupant> {
        self.seats.get_mut(seat.index())?.as_mut()
    }
}
