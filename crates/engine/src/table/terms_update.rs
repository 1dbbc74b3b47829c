//! The adoption of a room's new terms: a table receives them at any time and applies them between
//! games.
//!
//! The revision of a room increases with every change, and a revision that is not newer is refused,
//! so that a node with outdated knowledge cannot undo a change. Bet, multiplier, fee and clocks are
//! applied when the next game begins to be prepared. The rules of the POT are applied then as well,
//! unless a POT is pending: those who built it up play for it by its original rules. A closed table
//! frees its seats as soon as no game is running, and its POT remains until the room opens again.

use alloc::sync::Arc;

use crate::game::Game;
use crate::table::Table;
use crate::table::event::Event;
use crate::table::input::{Rejection, TableAvailability, TermsUpdate};
use crate::table::phase::Phase;
use crate::table::step::{Events, TableResult};

impl<G: Game> Table<G> {
    /// Sets the revision of the room with whose terms the table is created.
    #[must_use]
    pub fn with_revision(self, revision: u32) -> Self {
        Self { revision, ..self }
    }

    /// Returns the latest revision of the room that the table has received.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// Returns whether no more games begin.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns whether the revision of the room is newer than the table's.
    pub fn accepts_terms(&self, revision: u32) -> bool {
        revision > self.revision
    }

    pub(super) fn update_terms(
        &mut self,
        terms: &TermsUpdate,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        // A tournament is played by the terms that it began with.
        let may_change = self.terms.tournament.is_none() && self.accepts_terms(terms.revision);
        Self::require(may_change, Rejection::NothingNew)?;
        self.revision = terms.revision;
        self.closed = terms.standing == TableAvailability::Closed;
        self.next = Some(*terms);
        match &self.phase {
            // Too few players are seated, so no game is prepared.
            Phase::Waiting => self.regroup(None, events),
            // The players became ready for the present terms; a closed room begins no more games.
            Phase::Preparing(_) if self.closed => self.regroup(None, events),
            variants!(Phase: Preparing, Opening, Revealing, Playing, Settling) => Ok(()),
        }
    }

    /// Applies the received terms as far as possible now.
    pub(super) fn apply_pending_terms(&mut self, events: &mut Events<G>) {
        let Some(next) = self.next else { return };
        let before = (self.terms.price, self.terms.hits, self.terms.clocks);
        let terms = Arc::make_mut(&mut self.terms);
        terms.price = next.price;
        terms.clocks = next.clocks;
        if self.pot.is_zero() {
            terms.hits = next.hits;
        }
        self.closed |= next.standing == TableAvailability::LastPot && self.pot.is_zero();
        if self.terms.hits == next.hits
            && (self.closed || next.standing != TableAvailability::LastPot)
        {
            self.next = None;
        }
        let Self { terms, .. } = self;
        if (terms.price, terms.hits, terms.clocks) != before {
            let price = terms.price;
            let hits = terms.hits;
            let clocks = terms.clocks;
            events.push(Event::TermsUpdated { price, hits, clocks });
        }
    }
}
