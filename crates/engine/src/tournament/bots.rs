//! House bots that complete the entrants (rule 1.7).

use crate::table::Timestamp;
use crate::tournament::Tournament;
use crate::tournament::entrant::Entrant;
use crate::tournament::phase::Phase;
use crate::tournament::terms::Format;

impl Tournament {
    /// Returns the number of house bots that the host registers now: all entries that are missing of
    /// a sit-and-go once its first player has waited for the time of the terms, and those missing of
    /// the minimum at the start of any other tournament. Zero if the terms have no bots, without a
    /// player who has entered, and after the start.
    pub fn missing_bots(&self, now: Timestamp) -> u32 {
        if !self.terms.bots || self.phase != Phase::Announced {
            return 0;
        }
        let is_person = |entrant: &&Entrant| entrant.takes_part() && !entrant.is_bot;
        let persons = self.entrants().filter(is_person);
        let Some(first) = persons.map(|entrant| entrant.waits_since).min() else { return 0 };
        let limits = self.terms.entrants;
        let free = limits.most.saturating_sub(self.entrant_count());
        let (due_at, missing) = match self.terms.format {
            Format::SitAndGo { .. } => (first.after_ms(self.terms.bots_after_ms), free),
            variants!(Format: KnockOut, Arena, Duplicate) => {
                let entered = self.entrants.entered();
                let missing = limits.least.saturating_sub(entered);
                (self.terms.starts_at.unwrap_or(now), missing.min(free))
            }
        };
        if due_at <= now { missing } else { 0 }
    }
}
