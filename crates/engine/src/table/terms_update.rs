//! How a table follows its room: new terms are heard at any time and taken between games.
//!
//! A word of the room counts up; what is not newer is refused, so that a node that heard of a
//! change late cannot undo it. Bet, multiplier, fee and clocks are taken when the next game begins
//! to be prepared. The POT's rules are taken then too, unless a POT waits: who built it up plays
//! for it by the rules of its beginning. A closed table frees its seats as soon as no game runs,
//! and its POT waits there until the room opens again.

use alloc::sync::Arc;

use crate::game::Game;
use crate::table::Table;
use crate::table::event::Event;
use crate::table::input::{Rejection, TableAvailability, TermsUpdate};
use crate::table::phase::Phase;
use crate::table::step::{Events, TableRejection};

impl<G: Game> Table<G> {
    /// The same, created with the terms of this revision of its room.
    #[must_use]
    pub fn with_revision(self, revision: u32) -> Self {
        Self { revision, ..self }
    }

    /// The newest word of its room that the table has heard.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// No games begin here any more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether the table would take a word of its room: it can, and the word is new.
    pub fn accepts_terms(&self, revision: u32) -> bool {
        revision > self.revision
    }

    pub(super) fn update_terms(
        &mut self,
        terms: &TermsUpdate,
        events: &mut Events<G>,
    ) -> Result<(), TableRejection<G>> {
        if !self.accepts_terms(terms.revision) {
            return Err(Rejection::NothingNew);
        }
        self.revision = terms.revision;
        self.closed = terms.standing == TableAvailability::Closed;
        self.next = Some(*terms);
        match &self.phase {
            // Too few are here, so no game begins to be prepared.
            Phase::Waiting => self.regroup(None, events),
            // Who said ready did so for the terms of now; a closed room asks nobody any more.
            Phase::Preparing(_) if self.closed => self.regroup(None, events),
            Phase::Preparing(_)
            | Phase::Opening(_)
            | Phase::Revealing(_)
            | Phase::Playing(_)
            | Phase::Settling(_) => Ok(()),
        }
    }

    /// Takes what was heard, as far as that goes now.
    pub(super) fn apply_pending_terms(&mut self, events: &mut Events<G>) {
        let Some(next) = self.next else {
            return;
        };
        let before = (self.terms.price, self.terms.hits, self.terms.clocks);
        let terms = Arc::make_mut(&mut self.terms);
        terms.price = next.price;
        terms.clocks = next.clocks;
        if self.pot.is_zero() {
            terms.hits = next.hits;
        }
        self.closed |= next.standing == TableAvailability::LastPot && self.pot.is_zero();
        if self.terms.hits == next.hits && (self.closed || next.standing != TableAvailability::LastPot) {
            self.next = None;
        }
        let Self { terms, .. } = self;
        if (terms.price, terms.hits, terms.clocks) != before {
            let (price, hits, clocks) = (terms.price, terms.hits, terms.clocks);
            events.push(Event::TermsUpdated { price, hits, clocks });
        }
    }
}
