//! The effects that a tournament requires from its host. They are derived from its state, so any
//! process can run them, repeatedly, until the answer is in the journal.

use alloc::vec::Vec;

use crate::chance::ServerSeed;
use crate::hex::Hex;
use crate::table::{PlayerId, Timestamp};
use crate::tournament::Tournament;
use crate::tournament::id::TableNumber;
use crate::tournament::phase::Phase;
use crate::tournament::tables::OpenTable;
use crate::tournament::transfer::Transfer;

/// The time after which an effect without an answer is run again, in milliseconds.
pub const RETRY_MS: u32 = 5_000;

/// A task that the host has to run for a tournament.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A table is opened with its players; the answer is `Input::TableOpened`.
    OpenTable(TableSeating),
    /// A table of a cancelled tournament ends, and its game is void; the answer is
    /// `Input::TableEnded`.
    EndTable(TableNumber),
    /// The ledger books a transfer; the answer is `Input::Transferred`, or `Input::EntryRefused`.
    Transfer(Transfer),
    /// The deadline has passed; the answer is `Input::Tick`.
    Tick,
}

/// The players and games of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSeating {
    pub number: TableNumber,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    /// The number of games to play.
    pub games: u32,
    /// The deals by game if all tables of the round play the same (rule 5.1); otherwise empty.
    pub deals: Vec<SharedDeal>,
}

/// The deal of a game that all tables of a round play. No client contributes to it, and chance
/// decides which seat begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedDeal {
    pub seed: ServerSeed,
    /// The 16 bytes in place of the game's id in the key of the deal: those of the tournament's id.
    pub id: Hex<16>,
}

impl Tournament {
    /// Returns the time of the next check of [`Tournament::effects`] if no input arrives before it.
    /// For effects that are due this is the time of their retry. It does not move while one of them
    /// is without an answer, so that no traffic delays a retry.
    pub fn deadline(&self) -> Option<Timestamp> {
        let retry = self.asked_since.map(|since| since.after_ms(RETRY_MS));
        [self.clock_deadline(), retry].into_iter().flatten().min()
    }

    /// Returns whether an effect other than a tick is due.
    pub(super) fn has_unanswered(&self) -> bool {
        self.account.due().next().is_some() || self.unanswered_tables().next().is_some()
    }

    /// Returns the effects that are due now.
    pub fn effects(&self, now: Timestamp) -> Vec<Effect> {
        let is_due = self.clock_deadline().is_some_and(|deadline| deadline <= now);
        let tick = is_due.then_some(Effect::Tick);
        let transfers = self.account.due().map(|transfer| Effect::Transfer(*transfer));
        let tables = self.unanswered_tables().map(|table| self.table_effect(table));
        tick.into_iter().chain(transfers).chain(tables).collect()
    }

    const fn is_cancelled(&self) -> bool {
        matches!(self.phase, Phase::Cancelled { .. })
    }

    /// Iterates over the tables to be opened, or after a cancellation to be ended.
    fn unanswered_tables(&self) -> impl Iterator<Item = &OpenTable> {
        let to_end = self.is_cancelled().then(|| self.tables.iter());
        let to_open = (!self.is_cancelled()).then(|| self.tables.unopened());
        to_end.into_iter().flatten().chain(to_open.into_iter().flatten())
    }

    fn table_effect(&self, table: &OpenTable) -> Effect {
        if self.is_cancelled() {
            Effect::EndTable(table.number)
        } else {
            Effect::OpenTable(self.seating(table))
        }
    }

    /// Returns whether a table has still to be opened.
    pub fn awaits_opening(&self, number: TableNumber) -> bool {
        let is_unopened = |table: &OpenTable| !table.is_open && !table.has_ended;
        !self.is_cancelled() && self.tables.get(number).is_some_and(is_unopened)
    }

    /// Returns the players and games of a table that is played.
    pub fn find_table(&self, number: TableNumber) -> Option<TableSeating> {
        self.tables.get(number).map(|table| self.seating(table))
    }

    /// Returns the tables that have been opened and have not ended.
    pub fn open_tables(&self) -> Vec<TableSeating> {
        let is_played = |table: &&OpenTable| table.is_open && !table.has_ended;
        let tables = self.tables.iter().filter(is_played);
        tables.map(|table| self.seating(table)).collect()
    }

    fn seating(&self, table: &OpenTable) -> TableSeating {
        let players = table.entrants.iter().map(|place| self.at_place(*place).player).collect();
        let games = table.games();
        let id = Hex(*self.id.0.as_bytes());
        let seeds = self.deal_seeds(table.number.round, games);
        let deals = seeds.into_iter().map(|seed| SharedDeal { seed, id }).collect();
        TableSeating { number: table.number, players, games, deals }
    }
}
