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

mod effect;
mod event;
mod id;
mod input;
mod phase;
mod record;
mod reterm;
mod settlement;
pub mod simulation;
mod step;
mod terms;
mod time;
mod verify;
mod version;
mod view;

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::game::Game;
use crate::seat::{Seat, SeatSet};

pub use effect::Effect;
pub use event::{Crown, Event, Reason};
pub use id::{ConnectionId, GameId, PlayerId, TableId};
pub use input::{Fresh, Input, Line, Rejection, Reterm, SEED_BYTES_MAX, Standing};
pub use phase::{Occupant, Opening, Phase, Playing, Preparing, Settling};
pub use record::{By, FORMAT, Record, Taken};
pub use settlement::{Fee, Payment, PotPayout, Settlement};
pub use step::Transition;
pub use terms::{Clocks, Hits, Price, Spectators, Terms};
pub use time::Timestamp;
pub use verify::{Fault, Step, Verified};
pub use version::{ENGINE, ENGINES};
pub use view::{PhaseView, SeatView, TableView};

/// A table as a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Table<G: Game> {
    id: TableId,
    /// The version of the engine that it was founded with: see [`ENGINE`].
    #[serde(default = "version::first")]
    engine: u32,
    terms: Terms<G::Rules>,
    /// The newest word of the room that the table has heard.
    #[serde(default, skip_serializing_if = "reterm::is_first")]
    revision: u32,
    /// What it has heard and could not take yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<Reterm>,
    /// No games begin any more.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    closed: bool,
    /// By seat.
    seats: Vec<Option<Occupant>>,
    /// As the ledger last said.
    pot: Coins,
    /// Whose run of wins it is, if the last game had a winner who still sits here.
    crown: Option<Crown>,
    /// Who begins the next game, if still here (rule 2.2).
    last_winner: Option<PlayerId>,
    phase: Phase<G>,
    /// The time of the last line; the table's clock never goes back.
    at: Timestamp,
}

impl<G: Game> Table<G> {
    /// An empty table.
    pub fn new(id: TableId, terms: Terms<G::Rules>) -> Self {
        let seats = vec![None; usize::from(G::seats(&terms.rules))];
        Self {
            id,
            engine: ENGINE,
            terms,
            revision: 0,
            next: None,
            closed: false,
            seats,
            pot: Coins::ZERO,
            crown: None,
            last_winner: None,
            phase: Phase::Waiting,
            at: Timestamp::default(),
        }
    }

    pub fn id(&self) -> TableId {
        self.id
    }

    /// The version of the engine that plays it.
    pub fn engine(&self) -> u32 {
        self.engine
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
        G::seats(&self.terms.rules)
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

    /// The players by seat, when every seat is taken.
    pub fn players(&self) -> Option<Vec<PlayerId>> {
        self.seats.iter().map(|seat| Some(seat.as_ref()?.player)).collect()
    }

    pub fn seats_free(&self) -> usize {
        self.seats.iter().filter(|seat| seat.is_none()).count()
    }

    /// The seats of the house's bots (rule 8.6).
    pub fn bots(&self) -> SeatSet {
        self.occupants().filter(|(_, occupant)| occupant.bot).map(|(seat, _)| seat).collect()
    }

    /// The seats that the AI plays (rules 8.3 and 8.6). Empty between games.
    pub fn taken_over(&self) -> SeatSet {
        match &self.phase {
            Phase::Waiting | Phase::Preparing(_) => SeatSet::EMPTY,
            Phase::Opening(_) | Phase::Playing(_) | Phase::Settling(_) => self
                .occupants()
                .filter(|(_, occupant)| {
                    occupant.bot
                        || occupant.connection.is_none()
                        || occupant.left
                        || occupant.lapses >= self.terms.clocks.lapses_to_takeover
                })
                .map(|(seat, _)| seat)
                .collect(),
        }
    }

    fn occupant_mut(&mut self, seat: Seat) -> Option<&mut Occupant> {
        self.seats.get_mut(seat.index())?.as_mut()
    }
}
